"""A whole comparison: every pair judged, Holm over the rows, and the geometric mean of the speed-ups.

`compare` is a pure function of records. What belongs together is decided in `pairing`, what may be said of a row in
`verdict`; here only what concerns several rows at once.
"""

from __future__ import annotations

import math
import zlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from strobe.bench.compare.estimate import Estimate, bounds, estimate
from strobe.bench.compare.noise import INTERLEAVED, History
from strobe.bench.compare.pairing import Difference, Pair, Pairs, environment_diff, row_name
from strobe.bench.compare.significance import holm
from strobe.bench.compare.verdict import DEFAULT, Row, Rule, Verdict, gate, is_beyond_doubt, judge
from strobe.bench.records import Record

#: reasons of noise that are named; the others are counted
_NAMED = 2


@dataclass(frozen=True, slots=True)
class Geomean:
    """The mean speed-up of all correct rows; the bounds are those of the measurement, for these very benchmarks."""

    value: float
    low: float
    high: float
    num_rows: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """Everything that `strobe bench compare` shows."""

    rows: tuple[Row, ...]
    left_out: dict[str, str]
    geomean: Geomean | None
    environment: tuple[Difference, ...]
    rule: Rule
    #: whether measuring again was ended before it was done
    is_interrupted: bool = False

    @property
    def counts(self) -> dict[Verdict, int]:
        return dict(Counter(row.verdict for row in self.rows))

    @property
    def undecided(self) -> tuple[Row, ...]:
        return tuple(row for row in self.rows if row.verdict == "inconclusive")

    @property
    def is_worse(self) -> bool:
        """Whether B must not pass: a row is slower, fails or is incorrect where A was not, or misses its latency."""
        return any(row.verdict == "slower" or _broke(row) for row in self.rows)


def _broke(row: Row) -> bool:
    return (gate(row.a, row.a) is None and gate(row.b, row.b) is not None) or _became_late(row.a, row.b)


def _became_late(a: Record, b: Record) -> bool:
    return (
        a.latency is not None and b.latency is not None and a.latency.status == "met" and b.latency.status == "missed"
    )


def compare(pairs: Pairs, *, history: History | None = None, rule: Rule = DEFAULT) -> Comparison:
    """Judge all pairs; two sessions are judged by the noise that the history knows, pairs in turns by their own."""
    known = history or History([])
    rows = [_measure(pair, known, rule) for pair in pairs.pairs]
    adjusted = iter(holm([row.p for row in rows if row.p is not None]))
    judged = tuple(row if row.estimate is None else _judged(row, row.estimate, next(adjusted), rule) for row in rows)
    differing = (difference for row in judged for difference in environment_diff(row.a.environment, row.b.environment))
    return Comparison(judged, pairs.left_out, _geomean(judged, rule), tuple(dict.fromkeys(differing)), rule)


def with_rows(base: Comparison, newer: Iterable[Row]) -> Comparison:
    """Return the comparison with some rows replaced by name, such as those that were measured again."""
    by_name = {row.name: row for row in newer}
    rows = tuple(by_name.get(row.name, row) for row in base.rows)
    return replace(base, rows=rows, geomean=_geomean(rows, base.rule))


def _measure(pair: Pair, history: History, rule: Rule) -> Row:
    """Return the row with its own p, and without its verdict, which depends on the other rows."""
    name = row_name(pair.b)
    notes = _notes(pair)
    if found := gate(pair.a, pair.b):
        return Row(name, pair.a, pair.b, found[0], None, None, INTERLEAVED, (found[1], *notes))
    floor = INTERLEAVED if pair.is_interleaved else history.floor(pair.a, pair.b)
    try:
        measured = estimate(
            pair.a.samples,
            pair.b.samples,
            pair.b.better,
            is_interleaved=pair.is_interleaved,
            confidence=rule.confidence,
            seed=zlib.crc32(name.encode()),
        )
    except ValueError as exc:
        return Row(name, pair.a, pair.b, "inconclusive", None, None, floor, (f"cannot tell: {exc}", *notes))
    chance = 0.0 if pair.is_interleaved else history.p(pair.a, pair.b, math.log(measured.value))
    p = max(measured.p, chance)
    return Row(name, pair.a, pair.b, "inconclusive", measured, p, floor, notes)


def _judged(row: Row, measured: Estimate, p: float, rule: Rule) -> Row:
    needs_no_test = is_beyond_doubt(row.a.samples, row.b.samples, max(row.floor.value, rule.threshold))
    return replace(row, verdict=judge(measured, 0.0 if needs_no_test else p, row.floor.value, rule), p=p)


def _geomean(rows: Sequence[Row], rule: Rule) -> Geomean | None:
    measured = [row.estimate for row in rows if row.estimate is not None]
    if not measured:
        return None
    mean = sum(math.log(one.value) for one in measured) / len(measured)
    low, high = bounds(np.mean([one.draws for one in measured], axis=0), rule.confidence)
    return Geomean(math.exp(mean), math.exp(min(mean, low)), math.exp(max(mean, high)), len(measured))


def _notes(pair: Pair) -> tuple[str, ...]:
    notes = []
    if (limit := pair.b.latency) is not None and _became_late(pair.a, pair.b):
        notes.append(f"p{limit.percentile:g} now misses {limit.limit_ms:g} ms")
    for side, record in (("A", pair.a), ("B", pair.b)):
        reasons = list(dict.fromkeys(reason for repeat in record.repeats for reason in repeat.noisy))
        if reasons:
            more = f" and {len(reasons) - _NAMED} more" if len(reasons) > _NAMED else ""
            notes.append(f"{side} was noisy: {', '.join(reasons[:_NAMED])}{more}")
    return tuple(notes)
