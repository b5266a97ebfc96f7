"""A run as it happens: rows and console text in the order in which they arrive, from any process's journal.

Reads files that others append to and never waits for anything but the clock; ends when the run has ended.
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from strobe.api.rows import flatten
from strobe.home import RunDir
from strobe.journal.attempt import Attempts
from strobe.journal.entry import Entry, Row
from strobe.journal.event import Alert, Console, Ended, Started
from strobe.journal.history import HISTORY_KINDS
from strobe.journal.reader import JournalReader
from strobe.journal.segment import Header


@dataclass(frozen=True, slots=True)
class Happening:
    """One thing that a run did: `kind` is row, console, alert, started or ended."""

    time_ns: int
    kind: str
    writer: str
    step: int | None = None
    values: dict[str, Any] = field(default_factory=dict)
    text: str = ""


def follow(
    run_dir: RunDir,
    *,
    last: int = 10,
    once: bool = False,
    poll_s: float = 0.3,
    sleep: Callable[[float], None] = time.sleep,
) -> Iterator[Happening]:
    """Yield the `last` happenings so far (all, if negative), then new ones until the run is over, unless `once`."""
    reader = JournalReader(run_dir.journal)
    attempts = Attempts()
    backlog = _happenings(reader.poll(), attempts)
    if last < 0:
        yield from sorted(backlog, key=lambda happening: happening.time_ns)
    else:
        # At least one is asked for, because a heap of none would not read the backlog, and with it the state, at all.
        newest = heapq.nlargest(max(last, 1), backlog, key=lambda item: item.time_ns)[:last]
        yield from sorted(newest, key=lambda item: item.time_ns)
    while not once:
        # The state is looked at before the files: what was written before the end is then never missed.
        is_over = attempts.latest is not None and attempts.latest.state != "running"
        fresh = sorted(_happenings(reader.poll(), attempts), key=lambda happening: happening.time_ns)
        yield from fresh
        if not fresh:
            if is_over:
                return
            sleep(poll_s)


def _happenings(entries: Iterable[tuple[Header, Entry]], attempts: Attempts) -> Iterator[Happening]:
    for header, entry in entries:
        if isinstance(entry, Row):
            if header.kind in HISTORY_KINDS:
                values = flatten(dict(entry.items()))
                yield Happening(entry.time_ns, "row", header.writer, entry.step, values)
            continue
        event = entry.event
        if isinstance(event, Console):
            yield Happening(event.time_ns, "console", header.writer, text=event.text, values={"stream": event.stream})
        elif isinstance(event, Alert):
            values = {"level": event.level, "title": event.title}
            yield Happening(event.time_ns, "alert", header.writer, text=event.text, values=values)
        elif isinstance(event, Started):
            attempts.note_started(header, event)
            yield Happening(event.time_ns, "started", header.writer, values={"attempt": header.attempt})
        elif isinstance(event, Ended):
            attempts.note_ended(header, event)
            values = {"attempt": header.attempt, "state": event.state}
            yield Happening(
                event.time_ns, "ended", event.writer or header.writer, values=values, text=event.error or ""
            )
