"""How each benchmark went over time on one machine: levels, the steps between them, and what has been lost altogether.

One series per row, version, seal and machine, one point per session. A step is a change of level that lasts; many
small ones, none worth an alarm, add up to a loss against the best level there was. What one suspects here is confirmed
by measuring the commits on both sides of the step again (`suspicion`, then strobe.bench.compare.confirmation). Pure.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

from strobe.bench import stats
from strobe.bench.compare.pairing import Pair, RowKey, machine, row_key, row_name
from strobe.bench.records import Record
from strobe.bench.steps import MIN_POINTS, Level, fit, lasting, merge, noise_scale

#: relative change that is too small to matter
THRESHOLD = 0.03
#: mean absolute deviations within which 95 % of Laplace noise lies: log(20)
_REACH = 3.0


@dataclass(frozen=True, slots=True)
class Step:
    """A lasting change: `change` is relative speed, 0.05 is 5 % faster than before."""

    #: number of the first point after it
    index: int
    change: float
    before: Record
    after: Record

    @property
    def commits(self) -> tuple[str, str]:
        """The last commit that was on the old level, the first on the new one."""
        return self.before.environment.git_commit, self.after.environment.git_commit


@dataclass(frozen=True, slots=True)
class Series:
    """A row's sessions on one machine, oldest first."""

    name: str
    machine: str
    version: int
    records: tuple[Record, ...]
    #: levels of the median score, in its own unit
    levels: tuple[Level, ...]
    steps: tuple[Step, ...]
    #: relative speed of the last level to the best one: 0 is the best ever, -0.1 is 10 % slower than it
    against_best: float
    #: the last session on the best level, of committed code if there is any: only that can be measured again
    best: Record
    #: relative distance from its level that all but 5 % of the sessions stay within, as far as neighbours tell
    band: float
    #: whether the row is slower than at its best by what matters, by one step or by many small ones
    is_worse: bool


def trace(records: Iterable[Record], *, threshold: float = THRESHOLD) -> list[Series]:
    """Return the history of every row; failed and incorrect results, trials and confirmations are no points of it."""
    points = [record for record in records if _is_point(record)]
    # Old results have no seal: they are taken for what is measured today, as `compare` takes them.
    newest = {_series_key(one): one.seal for one in sorted(points, key=lambda one: one.id) if one.seal}
    groups: dict[tuple[RowKey, str], list[Record]] = defaultdict(list)
    for record in points:
        key = _series_key(record)
        groups[key, record.seal or newest.get(key, "")].append(record)
    # Shorter ones cannot have a step.
    num_searched = max(1, sum(len(group) >= 2 * MIN_POINTS for group in groups.values()))
    return [_series(sorted(group, key=lambda one: one.id), threshold, num_searched) for group in groups.values()]


def _is_point(record: Record) -> bool:
    is_correct = record.correctness is None or record.correctness.is_correct
    is_valid = is_correct and not record.is_aside and not record.is_changed
    return is_valid and bool(record.samples) and min(record.samples) > 0


def _series_key(record: Record) -> RowKey:
    """Return what records of a series share, but for the seal: what `compare` would not compare is no change."""
    return (*row_key(record), str(record.version), record.unit, record.better, machine(record.environment))


def _series(records: list[Record], threshold: float, num_series: int) -> Series:
    sign = 1.0 if records[0].better == "more" else -1.0
    # Logarithms, because a change is a factor; signed, so that up is better.
    speeds = [sign * math.log(stats.median(record.samples)) for record in records]
    # The finest levels show what small steps add up to; only what is worth a look is called a step.
    finest = lasting(fit(speeds, num_series=num_series), speeds)
    levels = merge(finest, speeds, least=math.log1p(threshold))
    steps = tuple(
        Step(
            index=after.start,
            change=math.expm1(after.value - before.value),
            before=records[after.start - 1],
            after=records[after.start],
        )
        for before, after in pairwise(levels)
    )
    best = max(finest, key=lambda level: level.value)
    against_best = math.expm1(finest[-1].value - best.value)
    return Series(
        name=row_name(records[0]),
        machine=machine(records[0].environment),
        version=records[0].version,
        records=tuple(records),
        levels=tuple(Level(level.start, level.stop, math.exp(sign * level.value)) for level in levels),
        steps=steps,
        against_best=against_best,
        best=max(records[best.start : best.stop], key=lambda one: (not one.environment.is_dirty, one.id)),
        band=math.expm1(_REACH * noise_scale(speeds)) if len(records) >= MIN_POINTS else 0.0,
        is_worse=against_best < -threshold,
    )


def suspicion(series: Series) -> Pair | None:
    """Return what to measure again to confirm that the row got slower: the code at its best, and the newest."""
    return Pair(series.best, series.records[-1]) if series.is_worse else None
