"""Reads the event files of one directory, in the order of time, as one run.

A program that was started again goes on in a new file. It says so with a session's start at the step it goes on from:
what was written from that step on is superseded, as in TensorBoard, but stays readable as an earlier attempt. Files
older than version 2 have no such record; there a step that goes back means the same, for the tags that come again.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from strobe.importers.model import Item, Report, Row, Start
from strobe.importers.protobuf import Message, WireError
from strobe.importers.tensorboard import fields
from strobe.importers.tensorboard.event import Event, EventReader
from strobe.importers.tensorboard.frames import read_records
from strobe.importers.tensorboard.hparams import read_session
from strobe.importers.tensorboard.summary import HPARAMS, SummaryReader
from strobe.journal import event as ev

_PROGRESS_RECORDS = 4096
#: values of one step that come within this time make one row, which has the time of the first
_TOGETHER_NS = 50_000_000
#: a time after this (the year 2242) is none
_LATEST_S = 1 << 33
_VERSION_PREFIX = "brain.Event:"


class EventLog:
    """One run, from its event files."""

    def __init__(self, paths: list[Path], *, identity: str, attributes: dict[str, Any], report: Report) -> None:
        self._paths = paths
        self._identity = identity
        self._attributes = attributes
        self._report = report
        self._events = EventReader()
        self._summaries = SummaryReader(report)
        self._num_starts = 0
        self._version = 0.0
        self._last_step = -(1 << 63)
        #: the latest time of a value
        self._now_ns = 0
        self._state = "finished"
        # The row that is being put together.
        self._row: dict[str, Any] = {}
        self._row_step = self._row_ns = 0
        #: tag → step of its last value
        self._steps: dict[str, int] = {}
        self._num_repeated = 0

    def items(self) -> Iterator[Item]:
        before = 0
        for path in self._paths:
            with path.open("rb") as stream:
                for number, payload in enumerate(read_records(stream, partial(self._report.lose, path))):
                    try:
                        yield from self._take(payload)
                    except WireError as error:
                        self._report.note(f"{path}: a record cannot be understood and was left out: {error}")
                    if number % _PROGRESS_RECORDS == 0:
                        self._report.progress(before + stream.tell())
                before += stream.tell()
        yield from self._end()

    def _take(self, payload: bytes) -> Iterator[Item]:
        scalar = self._events.scalar(payload)
        if scalar is not None:
            wall_s, step, tag, value = scalar
            yield from self._check_order(step)
            return (yield from self._put(tag, value, step, self._time_ns(wall_s)))
        event = self._events.read(payload)
        at_ns = self._time_ns(event.wall_s)
        if event.file_version.startswith(_VERSION_PREFIX):
            self._version = _number(event.file_version.removeprefix(_VERSION_PREFIX))
        for kind in event.left_out or ():
            self._report.left_out[kind] += 1
        if event.is_start and self._num_starts:
            yield from self._restart(at_ns, event.step)
        if event.values:
            yield from self._check_order(event.step)
            yield from self._values(event, at_ns)
        return None

    def _values(self, event: Event, at_ns: int) -> Iterator[Item]:
        for message in event.values or ():
            tag = message.text(fields.Value.TAG)
            if self._summaries.plugin(tag, message) == HPARAMS:
                yield from self._session(message, at_ns)
            elif (found := self._summaries.read(message)) is not None:
                yield from self._put(*found, event.step, at_ns)

    def _session(self, message: Message, at_ns: int) -> Iterator[Item]:
        session = read_session(message)
        if not self._num_starts:
            yield from self._start(at_ns)
        if session.config:
            yield ev.Config(time_ns=at_ns, changes=session.config)
        if session.group:
            yield ev.Attributes(time_ns=at_ns, changes={"group": session.group})
        if session.state:
            self._state = session.state
            self._now_ns = max(self._now_ns, self._time_ns(session.ended_s))

    # -- rows --------------------------------------------------------------------------------------------------------

    def _put(self, tag: str, value: Any, step: int, at_ns: int) -> Iterator[Item]:
        row = self._row
        if row and (step != self._row_step or tag in row or not 0 <= at_ns - self._row_ns < _TOGETHER_NS):
            yield Row(self._row_step, self._row_ns, row)
            row = self._row = {}
        if not row:
            if not self._num_starts:
                yield from self._start(at_ns)
            self._row_step, self._row_ns = step, at_ns
        row[tag] = value
        if at_ns > self._now_ns:
            self._now_ns = at_ns
        if self._steps.get(tag) == step:
            self._num_repeated += 1
        self._steps[tag] = step

    def _flush(self) -> Iterator[Item]:
        if self._row:
            yield Row(self._row_step, self._row_ns, self._row)
            self._row = {}

    # -- starts and ends ---------------------------------------------------------------------------------------------

    def _start(self, at_ns: int, from_step: int | None = None) -> Iterator[Item]:
        identity = f"{self._identity} {self._num_starts}" if self._num_starts else self._identity
        self._num_starts += 1
        self._now_ns = max(self._now_ns, at_ns)
        yield Start(identity, ev.Started(time_ns=at_ns, from_step=from_step, attributes=self._attributes))

    def _restart(self, at_ns: int, from_step: int | None) -> Iterator[Item]:
        yield from self._flush()
        yield ev.Ended(time_ns=self._now_ns, state="crashed", error="the program was started again")
        self._steps.clear()
        yield from self._start(at_ns, from_step)

    def _check_order(self, step: int) -> Iterator[Item]:
        if step < self._last_step and self._version < 2 and self._num_starts:
            yield from self._restart(self._now_ns, None)
        self._last_step = step

    def _end(self) -> Iterator[Item]:
        yield from self._flush()
        if self._num_repeated:
            self._report.note(
                f"{self._num_repeated:,} values were written at the step that their tag had just before; "
                "a step has one value here, the later one"
            )
        if self._num_starts:
            yield ev.Ended(time_ns=self._now_ns, state=self._state)

    def _time_ns(self, wall_s: float) -> int:
        """Return a time in nanoseconds; one that cannot be (NaN, before 1970) is that of the record before."""
        return int(wall_s * 1e9) if 0 < wall_s < _LATEST_S else self._now_ns


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0
