"""Measuring again until it is decided: undecided rows, both sides in turns, in fresh processes.

Neighbours in time share the state of the machine, so A and B alternate (A B, B A, …), round after round over all rows.
Only the new repeats count: those of the first comparison are why the row is here, and would bias it. There are at most
three looks, at 10, 20 and 40 repeats a side (more when many rows need a smaller p); each may err with a third of alpha,
so that looking three times is no way to find something. Where the first comparison decided rows, too, it has to leave
half of alpha for this one: `Rule(num_occasions=2)`. How a repeat is measured is the caller's business.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import msgspec

from strobe.bench import machine
from strobe.bench.compare.comparison import Comparison, compare, with_rows
from strobe.bench.compare.pairing import Pair, Pairs, pair, pair_implementations
from strobe.bench.compare.verdict import Row, Rule, gate
from strobe.bench.latency import decide, judge_repeats
from strobe.bench.records import THROUGHPUT, Latency, Record, make_id
from strobe.bench.spec import Latency as Limit
from strobe.bench.table import count_text
from strobe.errors import UsageError

Side = Literal["A", "B"]
#: measures one side of a row in `n` fresh processes; the record is the row's on that side, as it was measured before
Measure = Callable[[Side, Record, int], Record]
Report = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Turn:
    """How far a look is, told before each repeat: the row that comes, and of how many repeats of both sides."""

    name: str
    num_done: int
    num_repeats: int


MIN_REPEATS = 10
NUM_LOOKS = 3


@dataclass
class _Retake:
    """A row that is measured again, and what has come in so far."""

    #: where it stands in the comparison, and what it said there: both sides are measured as they were then
    place: int
    first: Row
    #: what is known of it now
    row: Row
    of_a: list[Record] = field(default_factory=list)
    of_b: list[Record] = field(default_factory=list)

    @property
    def pair(self) -> Pair:
        return Pair(join(self.of_a), join(self.of_b), is_interleaved=True)

    @property
    def is_broken(self) -> bool:
        return gate(self.of_a[-1], self.of_b[-1]) is not None or self.obstacle is not None

    @property
    def obstacle(self) -> str | None:
        """Why both sides cannot be compared as they were measured now: code that moved on may be of another version."""
        a, b = self.of_a[-1], self.of_b[-1]
        try:
            found = pair([a], [b]) if a.benchmark == b.benchmark else pair_implementations([a, b])
        except UsageError as exc:
            return str(exc)
        return None if found.pairs else f"measured again: {found.left_out[0].reason}"


def looks(num_rows: int, rule: Rule) -> tuple[int, ...]:
    """Return after how many repeats a side the rows are judged."""
    # Of n pairs that all point one way the rank test makes p = 2 / 2**n; Holm wants alpha / looks / rows.
    needed = math.ceil(1 + math.log2(max(1, num_rows) * NUM_LOOKS / rule.level))
    first = max(MIN_REPEATS, needed)
    return tuple(first * 2**look for look in range(NUM_LOOKS))


def confirm(
    comparison: Comparison,
    measure: Measure,
    *,
    rows: Sequence[Row] | None = None,
    report: Report = lambda text: None,
    progress: Callable[[Turn], None] = lambda turn: None,
) -> Comparison:
    """Return the comparison with `rows` measured again until decided, or the last look has passed (`looks`).

    Without `rows`, those that are undecided.
    """
    rule = replace(comparison.rule, num_occasions=comparison.rule.num_occasions * NUM_LOOKS)
    wanted = comparison.undecided if rows is None else rows
    retakes = [
        _Retake(place, row, row) for place, row in enumerate(comparison.rows) if any(row is one for one in wanted)
    ]
    plan = looks(len(retakes), comparison.rule)
    open_ = retakes
    is_interrupted = False
    for number, target in enumerate(plan, start=1):
        if not open_:
            break
        counted = count_text(len(open_), "row")
        report(f"look {number} of {NUM_LOOKS}: {counted}, up to {target} repeats a side, interleaved")
        try:
            _take_turns(open_, target, measure, progress)
        except KeyboardInterrupt:
            # What earlier looks decided stays; a look that nobody planned would promise more than it can keep.
            report("interrupted: rows that were not decided yet stay as they were")
            is_interrupted = True
            break
        # The error is shared by all rows that are measured again, also by those that an earlier look has decided.
        judged = compare(Pairs(tuple(retake.pair for retake in open_)), rule=rule, family=len(retakes)).rows
        for retake, row in zip(open_, judged, strict=True):
            retake.row = replace(row, name=retake.row.name)
            if row.estimate is not None and (reason := retake.obstacle):
                retake.row = replace(retake.row, verdict="inconclusive", estimate=None, p=None, reason=reason)
        open_ = [one for one in open_ if one.row.verdict == "inconclusive" and not one.is_broken]
    return replace(with_rows(comparison, {one.place: one.row for one in retakes}), is_interrupted=is_interrupted)


def _take_turns(retakes: Sequence[_Retake], target: int, measure: Measure, progress: Callable[[Turn], None]) -> None:
    num_before = sum(len(retake.of_a) + len(retake.of_b) for retake in retakes)
    num_repeats = 2 * target * len(retakes) - num_before
    for turn in range(target):
        for retake in retakes:
            if len(retake.of_a) > turn or (retake.of_a and retake.is_broken):
                continue
            sides: tuple[Side, ...] = ("A", "B") if turn % 2 == 0 else ("B", "A")
            for side in sides:
                num_done = sum(len(one.of_a) + len(one.of_b) for one in retakes) - num_before
                progress(Turn(retake.first.name, num_done, num_repeats))
                if side == "A":
                    retake.of_a.append(measure(side, retake.first.a, 1))
                else:
                    retake.of_b.append(measure(side, retake.first.b, 1))


class Takes:
    """What was measured again, as results of one session: for each result that is repeated, all repeats so far."""

    def __init__(self) -> None:
        self._moment = machine.moment()
        self._rows: dict[tuple[Side, str], Record] = {}

    def add(self, side: Side, first: Record, found: Record) -> Record:
        """Take in what was measured of a result; return how its row stands."""
        known = self._rows.get((side, first.id))
        row = found if known is None else join([known, found])
        self._rows[side, first.id] = row = msgspec.structs.replace(
            row,
            id=make_id() if known is None else known.id,
            # Of what it repeats: that of a single repeat may name a checkout that is gone.
            command=first.command,
            environment=msgspec.structs.replace(row.environment, started_at=self._moment),
            is_confirmation=True,
        )
        return row

    @property
    def records(self) -> list[Record]:
        """The rows as they stand."""
        return list(self._rows.values())


def join(records: Sequence[Record]) -> Record:
    """Return records of one row as one: all repeats, and of failures and wrong results the first."""
    first = next((record for record in records if gate(record, record) is not None), records[0])
    repeats = tuple(repeat for record in records for repeat in record.repeats)
    if first.error is not None:  # which takes the samples away, not the repeats
        return msgspec.structs.replace(first, repeats=repeats)
    return msgspec.structs.replace(
        first,
        samples=tuple(sample for record in records for sample in record.samples),
        repeats=repeats,
        latency=_join_latencies(records),
    )


def _join_latencies(records: Sequence[Record]) -> Latency | None:
    """Return what all steps together say of the limit, as the runner would have judged them.

    Of queries, which no record has one by one, the counts are added and the greatest percentiles taken.
    """
    found = [record.latency for record in records if record.latency is not None]
    if not found:
        return None
    repeats = [repeat for record in records for repeat in record.repeats]
    if repeats and records[0].metric == THROUGHPUT:
        return judge_repeats(repeats, Limit(limit_ms=found[0].limit_ms, percentile=found[0].percentile))
    n, num_over = sum(one.n for one in found), sum(one.num_over for one in found)
    return msgspec.structs.replace(
        found[0],
        n=n,
        num_over=num_over,
        status=decide(n, num_over, found[0].percentile / 100),
        **{name: max(getattr(one, name) for one in found) for name in ("p50_ms", "p90_ms", "p95_ms", "p99_ms")},
    )
