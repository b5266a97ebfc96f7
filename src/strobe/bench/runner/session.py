"""A session: many cells, each measured by several fresh processes in turns, and a record for each.

Turns go round by round over all cells (A B C, A B C, …), so that a slow minute of the machine falls on all alike and
neighbours can be compared as pairs. Where time is limited, all cells come once and further turns as far as it goes.
Ctrl-C ends the session, not what it has: cells keep the repeats that are done. What outlives us is `keep`'s business,
which is told how a row stands after each of its repeats.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import msgspec

from strobe.bench import machine
from strobe.bench.records import Environment, Record
from strobe.bench.registry import sealed_keys
from strobe.bench.runner.device import names_of
from strobe.bench.runner.message import Meeting, Outcome
from strobe.bench.runner.nodes import Follower, Leader
from strobe.bench.runner.options import Cell, Options
from strobe.bench.runner.process import Failure, run_repeat
from strobe.bench.runner.rows import blank_record, fill_record
from strobe.bench.seal import make_seal
from strobe.errors import Error

_SAME = "the same command with the same files and version of Strobe has to run on all nodes"


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a session is, told before and after each repeat."""

    cell: Cell
    #: of this cell, from 1
    repeat: int
    num_done: int
    num_repeats: int
    #: None until there is something to go by
    left_s: float | None
    #: what the repeat gave; None while it runs
    outcome: Outcome | Failure | None = None


@dataclass(frozen=True, slots=True)
class Results:
    """Records in the order of the cells; of an interrupted session, those that have at least one repeat."""

    records: list[Record]
    is_interrupted: bool = False


@dataclass(slots=True)
class _Row:
    cell: Cell
    record: Record
    #: over all of its code, which nodes have in common; the record's may be of less
    seal: str = ""
    outcomes: list[Outcome] = field(default_factory=list)
    failure: Failure | None = None
    #: how long its repeats took so far
    durations_s: list[float] = field(default_factory=list)


#: takes a repeat of a row, numbered from 0
_Measure = Callable[[_Row, int], Outcome | Failure]


def measure(
    cells: Sequence[Cell],
    options: Options,
    *,
    report: Callable[[Progress], None] = lambda progress: None,
    keep: Callable[[Record], None] = lambda record: None,
) -> Results:
    """Measure all cells; a cell that fails is a record that says so, and is not repeated."""
    session = _Session(cells, options, report, keep)
    is_interrupted = False
    try:
        session.run()
    except KeyboardInterrupt:
        is_interrupted = True
    return Results(session.records(), is_interrupted)


class _Session:
    def __init__(
        self,
        cells: Sequence[Cell],
        options: Options,
        report: Callable[[Progress], None],
        keep: Callable[[Record], None],
    ) -> None:
        self._options = options
        self._report = report
        self._keep = keep
        self._began = time.monotonic()
        # One moment for all: it is what a session is known by, and rows of several repositories belong to one.
        moment = machine.moment()
        environments = {
            source: msgspec.structs.replace(machine.describe(source=source), started_at=moment)
            for source in {_source_of(cell) for cell in cells}
        }
        sealed = sealed_keys((cell.benchmark for cell in cells), options.files)
        self._rows = [
            _begin(cell, options, environments[_source_of(cell)], is_sealed=cell.benchmark.key in sealed)
            for cell in cells
        ]

    def run(self) -> None:
        options = self._options
        if options.master is None:
            self._go_round(lambda row, turn: run_repeat(row.cell, options, is_checked=turn == 0))
        elif options.node == 0:
            with Leader(options) as leader:
                self._go_round(partial(self._lead, leader))
        else:
            with Follower(options) as follower:
                self._follow(follower)

    def _go_round(self, measure_one: _Measure) -> None:
        for turn in range(self._options.repeats):
            for row in self._rows:
                if row.failure is None and (turn == 0 or self._has_time_for(row)):
                    self._repeat(row, turn, measure_one)

    def _lead(self, leader: Leader, row: _Row, turn: int) -> Outcome | Failure:
        if row.cell.benchmark.nodes == 1:
            return run_repeat(row.cell, self._options, is_checked=turn == 0)
        return leader.run(
            row.cell,
            seal=row.seal,
            repeat=turn,
            part=lambda meeting, blame: self._part(meeting, blame, row, turn),
        )

    def _follow(self, follower: Follower) -> None:
        rows = {(row.cell.benchmark.key, row.cell.batch_size): row for row in self._rows}
        for turn in follower.turns():
            row = rows.get((turn.key, turn.batch_size))
            if row is None:
                follower.done(Failure(f"was not asked for {turn.key} B={turn.batch_size}; {_SAME}"))
            elif row.seal != turn.seal:
                follower.done(row.failure or Failure(f"has other code than node 0; {_SAME}"))
            else:
                self._repeat(row, turn.repeat, partial(self._part, turn.meeting, follower.blame))
                follower.done(row.failure or row.outcomes[-1])

    def _part(self, meeting: Meeting, blame: Callable[[], str | None], row: _Row, turn: int) -> Outcome | Failure:
        outcome = run_repeat(row.cell, self._options, is_checked=turn == 0, meeting=meeting, blame=blame)
        if isinstance(outcome, Failure):
            return outcome
        return msgspec.structs.replace(outcome, machines=(row.record.environment.fingerprint,))

    def _has_time_for(self, row: _Row) -> bool:
        budget_s = self._options.budget_s
        expected_s = sum(row.durations_s) / len(row.durations_s)
        return budget_s is None or time.monotonic() - self._began + expected_s <= budget_s

    def _repeat(self, row: _Row, turn: int, measure_one: _Measure) -> None:
        self._tell(row, turn)
        began = time.monotonic()
        outcome = measure_one(row, turn)
        row.durations_s.append(time.monotonic() - began)
        if isinstance(outcome, Failure):
            row.failure = outcome
        else:
            row.outcomes.append(outcome)
        if not self._options.node:  # node 0 has measured
            self._keep(_fill(row))
        self._tell(row, turn, outcome)

    def records(self) -> list[Record]:
        if self._options.node:
            return []  # node 0 has measured
        return [_fill(row) for row in self._rows if row.outcomes or row.failure]

    def _tell(self, row: _Row, turn: int, outcome: Outcome | Failure | None = None) -> None:
        progress = Progress(
            cell=row.cell,
            repeat=turn + 1,
            num_done=sum(self._num_done(one) for one in self._rows),
            num_repeats=len(self._rows) * self._options.repeats,
            left_s=self._left_s(),
            outcome=outcome,
        )
        self._report(progress)

    def _num_done(self, row: _Row) -> int:
        return self._options.repeats if row.failure else len(row.durations_s)

    def _left_s(self) -> float | None:
        """What each row still needs, by its own repeats; a row that has none yet is taken as an average one.

        A time limit ends repeats, but not the first of a row.
        """
        known = [sum(row.durations_s) / len(row.durations_s) for row in self._rows if row.durations_s]
        if not known:
            return None
        average = sum(known) / len(known)
        left_s = sum(
            (self._options.repeats - self._num_done(row))
            * (sum(row.durations_s) / len(row.durations_s) if row.durations_s else average)
            for row in self._rows
        )
        if self._options.budget_s is None:
            return left_s
        due_s = average * sum(not row.durations_s and row.failure is None for row in self._rows)
        return min(left_s, max(due_s, self._options.budget_s - (time.monotonic() - self._began)))


def _fill(row: _Row) -> Record:
    error = row.failure.text if row.failure else None
    try:
        return fill_record(row.record, row.cell, row.outcomes, error)
    except Exception as exc:  # noqa: BLE001 - told in the row; hours of the others must not be lost to what one found
        error = f"no figures from what was measured: {type(exc).__name__}: {exc}"
        return fill_record(row.record, row.cell, row.outcomes, error)


def _source_of(cell: Cell) -> Path:
    """Return the file whose repository the result belongs to."""
    return cell.benchmark.file or Path(machine.__file__)


def _begin(cell: Cell, options: Options, environment: Environment, *, is_sealed: bool) -> _Row:
    """Return the row before anything is measured; it has failed already if nobody could tell what it measures.

    Its cards are known before, too, so that a row that fails belongs to the same system as those that do not.
    """
    environment = machine.on_cards(environment, names_of(options.device, cell.benchmark.devices, options.python))
    try:
        found = make_seal(cell.benchmark)
        carried = found.text if is_sealed else found.text_of_specification
    except (Error, ImportError, OSError, SyntaxError, TypeError, ValueError) as exc:
        failure = Failure(f"cannot be sealed: {type(exc).__name__}: {exc}")
        return _Row(cell, blank_record(cell, options, environment, ""), failure=failure)
    return _Row(cell, blank_record(cell, options, environment, carried), found.text)
