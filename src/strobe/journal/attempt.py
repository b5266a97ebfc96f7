"""Attempts: each start of a run, who wrote in it, and how it ended.

A run that is started again gets a new attempt. Its rows supersede the old tail: per key, from the first step that the
new attempt logs of that key; for all keys from `from_step` when the user rewound on purpose. So an evaluation that
resumes a run only to add `eval/acc` leaves the training curves alone.
"""

from __future__ import annotations

import msgspec

from strobe.identity import is_alive
from strobe.journal.event import Ended, Started
from strobe.journal.segment import Header


class WriterState(msgspec.Struct):
    """One process that wrote in an attempt."""

    header: Header
    started: Started | None = None
    ended: Ended | None = None

    @property
    def decides(self) -> bool:
        """Whether its end is an end of the run."""
        return self.started is not None and self.started.primary and self.started.ends_run

    @property
    def state(self) -> str:
        """running, finished, failed, killed, preempted or crashed."""
        if self.ended is not None:
            return self.ended.state
        begun = self.started
        if begun is None or not begun.pid:
            return "running"
        alive = is_alive(begun.pid, begun.pid_started, begun.host, begun.boot_id, begun.pid_namespace)
        return "crashed" if alive is False else "running"


class Attempt(msgspec.Struct):
    """One start of a run."""

    number: int
    writers: dict[str, WriterState] = {}

    @property
    def primary(self) -> WriterState | None:
        """The writer that speaks for the run."""
        candidates = [writer for writer in self.writers.values() if writer.started is not None]
        for writer in candidates:
            if writer.started is not None and writer.started.primary:
                return writer
        if candidates:
            return candidates[0]
        # The record of the start may be damaged; the writer's header still says who it was.
        mains = [writer for writer in self.writers.values() if writer.header.kind == "main"]
        return mains[0] if mains else None

    @property
    def from_step(self) -> int | None:
        primary = self.primary
        return primary.started.from_step if primary and primary.started else None

    @property
    def state(self) -> str:
        """As its primary writers stand: running while one of them does; else finished, if no one ended otherwise."""
        states = [writer.state for writer in self._deciding()]
        if not states or "running" in states:
            return "running"
        return next((state for state in states if state != "finished"), "finished")

    @property
    def end(self) -> Ended | None:
        """How the attempt ended: the end that `state` speaks of; None while it runs, and where a crash left no word."""
        state = self.state
        ends = [writer.ended for writer in self._deciding() if writer.ended is not None]
        if state == "running" or not ends:
            return None
        return next((ended for ended in ends if ended.state == state != "finished"), max(ends, key=_time_of))

    def _deciding(self) -> list[WriterState]:
        """Return the writers whose ends are ends of the run; where nobody's is, the one that speaks for it."""
        found = [writer for writer in self.writers.values() if writer.decides]
        begun_ns = max((writer.started.time_ns for writer in found if writer.started), default=0)
        # Who had ended before the latest began has a successor: a primary that was started again.
        lasting = [writer for writer in found if writer.ended is None or writer.ended.time_ns > begun_ns]
        primary = self.primary
        return lasting or found or ([primary] if primary else [])

    @property
    def started_ns(self) -> int | None:
        times = [writer.started.time_ns for writer in self.writers.values() if writer.started]
        return min(times, default=None)

    @property
    def ended_ns(self) -> int | None:
        if self.state == "running":
            return None
        return max((writer.ended.time_ns for writer in self._deciding() if writer.ended), default=None)

    @property
    def rejected(self) -> int:
        return sum(writer.ended.rejected for writer in self.writers.values() if writer.ended)


def _time_of(ended: Ended) -> int:
    return ended.time_ns


class Attempts:
    """All attempts of a run, folded from Started and Ended events."""

    def __init__(self) -> None:
        self.by_number: dict[int, Attempt] = {}
        # What an agent concluded, by (attempt, writer): its journal may be read before the writer's own.
        self._judged: dict[tuple[int, str], Ended] = {}

    def writer(self, header: Header) -> WriterState:
        attempt = self.by_number.setdefault(header.attempt, Attempt(header.attempt))
        if header.writer not in attempt.writers:
            judged = self._judged.get((header.attempt, header.writer))
            attempt.writers[header.writer] = WriterState(header, ended=judged)
        return attempt.writers[header.writer]

    def note_started(self, header: Header, event: Started) -> None:
        self.writer(header).started = event

    def note_ended(self, header: Header, event: Ended) -> None:
        """Note an end; what the writer itself said wins over what the agent concluded."""
        if event.writer is None or event.writer == header.writer:
            self.writer(header).ended = event
            return
        self._judged[header.attempt, event.writer] = event
        judged = self.by_number.setdefault(header.attempt, Attempt(header.attempt)).writers.get(event.writer)
        if judged is not None and judged.ended is None:
            judged.ended = event

    def sorted(self) -> list[Attempt]:
        return [self.by_number[number] for number in sorted(self.by_number)]

    @property
    def latest(self) -> Attempt | None:
        return self.by_number[max(self.by_number)] if self.by_number else None
