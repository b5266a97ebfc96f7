"""A whole comparison: every pair judged, Holm over the rows, and the geometric mean of the speed-ups.

`compare` is a pure function of records. What belongs together is decided in `pairing`, what may be said of a row in
`verdict`; here only what concerns several rows at once.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from strobe.bench import stats, student
from strobe.bench.compare.estimate import Estimate, estimate
from strobe.bench.compare.noise import FEW, INTERLEAVED, History
from strobe.bench.compare.pairing import (
    Added,
    Difference,
    LeftOut,
    NotHere,
    Pair,
    Pairs,
    record_diff,
    row_name,
)
from strobe.bench.compare.significance import holm
from strobe.bench.compare.verdict import DEFAULT, Row, Rule, Verdict, disturbance, gate, judge, why_open
from strobe.bench.records import Record

_NUMBER = re.compile(r"\d+(?:\.\d+)?")
#: kinds of noise that are named; the others are counted
_NAMED = 2


@dataclass(frozen=True, slots=True)
class Geomean:
    """The mean speed-up of all correct rows; the bounds are those of the measurement, for these very benchmarks."""

    value: float
    #: None if a row has no bounds of its own
    low: float | None
    high: float | None
    num_rows: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """Everything that `strobe bench compare` shows."""

    rows: tuple[Row, ...]
    left_out: tuple[LeftOut, ...]
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
    def missing(self) -> tuple[LeftOut, ...]:
        """Rows of A that B has not, or not so that they could be compared: of these nobody knows whether they pass."""
        return tuple(one for one in self.left_out if not isinstance(one, (Added, NotHere)))

    @property
    def added(self) -> tuple[LeftOut, ...]:
        """Rows of B that A lacks."""
        return tuple(one for one in self.left_out if isinstance(one, Added))

    @property
    def not_here(self) -> tuple[LeftOut, ...]:
        """Rows that neither side could measure: the machine lacks something, as their reason says."""
        return tuple(one for one in self.left_out if isinstance(one, NotHere))

    @property
    def open_rows(self) -> tuple[Row, ...]:
        """Rows that were compared and nobody knows of if they pass: undecided, or without a speed on either side."""
        return tuple(row for row in self.rows if row.estimate is None or row.verdict == "inconclusive")

    @property
    def is_open(self) -> bool:
        """Whether nobody knows of a row if it passes: it is open, or was not compared."""
        return bool(self.missing or self.open_rows)

    @property
    def is_worse(self) -> bool:
        """Whether B must not pass: a row is slower, fails or is incorrect where A was not, or misses its latency."""
        return self.is_broken or any(row.verdict == "slower" for row in self.rows)

    @property
    def is_broken(self) -> bool:
        """Whether B must not pass even where it may be slower, as another machine may."""
        return any(broke(row) for row in self.rows)


def broke(row: Row) -> bool:
    """Whether a row must not pass however fast it is: it fails or is incorrect where A was not, or became late."""
    is_bad = gate(row.b, row.b) is not None and not row.b.is_left_out
    return (gate(row.a, row.a) is None and is_bad) or is_late(row)


def is_late(row: Row) -> bool:
    """Whether B misses a latency limit that A met; on a machine that others used that says nothing."""
    return _became_late(row.a, row.b) and not row.disturbance


def _became_late(a: Record, b: Record) -> bool:
    return (
        a.latency is not None and b.latency is not None and a.latency.status == "met" and b.latency.status == "missed"
    )


def compare(
    pairs: Pairs, *, history: History | None = None, rule: Rule = DEFAULT, family: int | None = None
) -> Comparison:
    """Judge all pairs; two sessions are judged by the noise that the history knows, pairs in turns by their own.

    `family` is the number of rows that share the rule's error, if it is more than these.
    """
    known = history or History([])
    num_rows = family or max(1, sum(gate(pair.a, pair.b) is None for pair in pairs.pairs))
    rows = [_measure(pair, known, rule, rule.level / num_rows) for pair in pairs.pairs]
    adjusted = iter(holm([row.p for row in rows if row.p is not None], num_rows))
    judged = tuple(row if row.estimate is None else _judged(row, row.estimate, next(adjusted), rule) for row in rows)
    differing = (difference for row in judged for difference in record_diff(row.a, row.b))
    return Comparison(judged, pairs.left_out, _geomean(judged, rule), tuple(dict.fromkeys(differing)), rule)


def with_rows(base: Comparison, newer: Mapping[int, Row]) -> Comparison:
    """Return the comparison with some rows replaced by their place, such as those that were measured again."""
    rows = tuple(newer.get(place, row) for place, row in enumerate(base.rows))
    return replace(base, rows=rows, geomean=_geomean(rows, base.rule))


def _measure(pair: Pair, history: History, rule: Rule, level: float) -> Row:
    """Return the row with its own p, and without its verdict, which depends on the other rows."""
    name = row_name(pair.b)
    notes = _notes(pair)
    if found := gate(pair.a, pair.b):
        return Row(name, pair.a, pair.b, found[0], None, None, INTERLEAVED, (found[1], *notes))
    try:
        measured = estimate(
            pair.a.samples,
            pair.b.samples,
            pair.b.better,
            is_interleaved=pair.is_interleaved,
            confidence=rule.confidence,
            level=level,
        )
    except ValueError as exc:
        return Row(name, pair.a, pair.b, "inconclusive", None, None, INTERLEAVED, (f"cannot tell: {exc}", *notes))
    if pair.is_interleaved:
        floor = INTERLEAVED if measured.is_ranked else FEW
        return Row(name, pair.a, pair.b, "inconclusive", measured, measured.p, floor, notes)
    widened = history.widen(pair.a, pair.b, measured, rule.confidence)
    floor = history.floor(pair.a, pair.b)
    doubt = disturbance(pair.a, pair.b)
    return Row(name, pair.a, pair.b, "inconclusive", widened, widened.p, floor, notes, disturbance=doubt)


def _judged(row: Row, measured: Estimate, p: float, rule: Rule) -> Row:
    if row.disturbance:
        return replace(row, p=p, reason=row.disturbance)
    verdict = judge(measured, p, row.floor, rule)
    reason = why_open(measured, p, row.floor, rule) if verdict == "inconclusive" else ""
    return replace(row, verdict=verdict, p=p, reason=reason)


def _geomean(rows: Sequence[Row], rule: Rule) -> Geomean | None:
    measured = [row.estimate for row in rows if row.estimate is not None]
    if not measured:
        return None
    mean = sum(math.log(one.value) for one in measured) / len(measured)
    errors = [(one.error**2, one.freedom) for one in measured if one.error is not None]
    if len(errors) < len(measured):
        return Geomean(math.exp(mean), None, None, len(measured))
    total, freedom = student.combined(errors)
    # Each row's own noise averages out over the rows; what the day was like may be the same for all.
    shared = sum(one.between for one in measured) / len(measured)
    error = math.hypot(total / len(measured), shared)
    if shared:
        freedom = min(freedom, *(one.freedom for one in measured))
    low, high = map(stats.factor, student.Mean(mean, error, freedom).bounds(1 - rule.alpha))
    return Geomean(math.exp(mean), low, high, len(measured))


def _kinds(reasons: Iterable[str]) -> list[str]:
    """Return the kinds of noise, each once: what differs only in its numbers is told with the range of these."""
    kinds: dict[tuple[str, ...], list[list[str]]] = {}
    for reason in reasons:
        kinds.setdefault(tuple(_NUMBER.split(reason)), []).append(_NUMBER.findall(reason))
    found = []
    for words, numbers in kinds.items():
        ranges = [_range(column) for column in zip(*numbers, strict=True)]
        found.append("".join(part for both in zip(words, [*ranges, ""], strict=True) for part in both))
    return found


def _range(numbers: Sequence[str]) -> str:
    low, high = min(numbers, key=float), max(numbers, key=float)
    return low if float(low) == float(high) else f"{low} to {high}"


def _notes(pair: Pair) -> tuple[str, ...]:
    notes = []
    if (limit := pair.b.latency) is not None and _became_late(pair.a, pair.b):
        notes.append(f"p{limit.percentile:g} now misses {limit.limit_ms:g} ms")
    return (*notes, *noise_notes(pair.a, pair.b))


def noise_notes(a: Record, b: Record) -> tuple[str, ...]:
    """Return how the sides were disturbed, if they were; implementations are called by their names."""
    names = ("A", "B") if a.subject == b.subject else (a.subject, b.subject)
    notes = []
    for side, record in zip(names, (a, b), strict=True):
        reasons = _kinds(reason for repeat in record.repeats for reason in repeat.noisy)
        if reasons:
            more = f" and {len(reasons) - _NAMED} more" if len(reasons) > _NAMED else ""
            notes.append(f"{side} was noisy: {', '.join(reasons[:_NAMED])}{more}")
    return tuple(notes)
