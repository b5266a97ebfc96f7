"""How each benchmark went over time on one machine: levels, the steps between them, and what has been lost altogether.

One series per row, version, seal and machine, one point per session. A step is a change of level that lasts; many
small ones, none worth an alarm, add up to a loss against the best level there was. What one suspects here is confirmed
by measuring the commits on both sides of the step again (`suspicion`, then strobe.bench.compare.confirmation). The
series of a version that was replaced has ended: nobody can mend it. Pure.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from strobe.bench import stats
from strobe.bench.compare.pairing import Pair, RowKey, machine, row_key, row_name
from strobe.bench.records import Record, distinct
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
    #: whether the row is slower than at its best by what matters, by one step or by many small ones, and goes on
    is_worse: bool
    #: whether the row was measured in another version, seal or unit since
    is_ended: bool

    @property
    def seal(self) -> str:
        """What its last record is sealed by: older ones may lack it."""
        return self.records[-1].seal


def trace(records: Iterable[Record], *, threshold: float = THRESHOLD) -> list[Series]:
    """Return the history of every row; failed and incorrect results, trials and confirmations are no points of it.

    A result that is named twice is one point.
    """
    sessions = [record for record in distinct(records) if not record.is_aside and not record.is_changed]
    in_order = sorted(sessions, key=lambda one: one.id)
    # Old results have no seal: they are taken for what is measured today, as `compare` takes them.
    newest = {_series_key(one): one.seal for one in in_order if one.seal}

    def series_of(record: Record) -> tuple[RowKey, str]:
        key = _series_key(record)
        return key, record.seal or newest.get(key, "")

    # A version that fails is measured, too.
    rows = {(machine(one.environment), row_key(one)): series_of(one) for one in in_order if not one.is_left_out}
    groups: dict[tuple[RowKey, str], list[Record]] = defaultdict(list)
    for record in filter(_is_point, sessions):
        groups[series_of(record)].append(record)
    # Shorter ones cannot have a step.
    num_searched = max(1, sum(len(group) >= 2 * MIN_POINTS for group in groups.values()))
    current = set(rows.values())
    return [
        _series(sorted(group, key=lambda one: one.id), threshold, num_searched, is_ended=series not in current)
        for series, group in groups.items()
    ]


def _is_point(record: Record) -> bool:
    is_correct = record.correctness is None or record.correctness.is_correct
    return is_correct and bool(record.samples) and min(record.samples) > 0


def _series_key(record: Record) -> RowKey:
    """Return what records of a series share, but for the seal: what `compare` would not compare is no change."""
    return (*row_key(record), str(record.version), record.unit, record.better, machine(record.environment))


def _series(records: list[Record], threshold: float, num_series: int, *, is_ended: bool) -> Series:
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
        is_worse=against_best < -threshold and not is_ended,
        is_ended=is_ended,
    )


def suspicion(series: Series) -> Pair | None:
    """Return what to measure again to confirm that the row got slower: the code at its best, and the newest."""
    return Pair(series.best, series.records[-1]) if series.is_worse else None


def distinctions(found: Sequence[Series]) -> list[str]:
    """Return for each series what tells it from others of its name: version, seal, sizes, unit, machine; else ""."""
    by_name: dict[str, list[Series]] = defaultdict(list)
    for series in found:
        by_name[series.name].append(series)
    return [_distinction(series, by_name[series.name]) for series in found]


def _distinction(series: Series, namesakes: Sequence[Series]) -> str:
    rivals = [one for one in namesakes if one.machine == series.machine]
    told = []
    for index, own in enumerate(_marks(series)):
        alike = [one for one in rivals if _marks(one)[index] == own]
        told += [own] if len(alike) < len(rivals) else []
        rivals = alike
    if len(hosts := {one.machine: one.records[-1].environment.host for one in namesakes}) > 1:
        host = hosts[series.machine]
        told.append(f"on {host if host and list(hosts.values()).count(host) == 1 else series.machine}")
    return " ".join(filter(None, told))


def _marks(series: Series) -> tuple[str, ...]:
    last = series.records[-1]
    sizes = ",".join(f"{name}={value:g}" for name, value in sorted(last.options.items()))
    return f"v{series.version}", f"seal {series.seal[:8]}" if series.seal else "", sizes, last.unit
