"""Noticing writers whose process died without a word: they get an `Ended` with state "crashed", and their entry goes.

Only entries that this machine can judge reach here. A writer that did say its last word (and died before it could
remove its entry) keeps it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

from strobe.agent.entry import Entry
from strobe.agent.task import WatchedRun
from strobe.journal import event, value
from strobe.journal.frame import EVENT, scan
from strobe.journal.segment import list_segments, parse_name

#: how much of a segment's end is searched for the last word, which only the seal follows
_TAIL_BYTES = 4 << 20


class Reaper:
    """Declares dead writers crashed; `forget(writer)` removes their entry from `home.active`."""

    def __init__(self, forget: Callable[[str], None], *, log: Callable[[str], None]) -> None:
        self._forget = forget
        self._log = log
        self._seen_alive: set[str] = set()

    def poll(self, run: WatchedRun, now: float) -> None:
        for entry in list(run.entries.values()):
            alive = entry.is_alive()
            if alive:
                self._seen_alive.add(entry.writer)
            elif alive is False and self._bury(run, entry):
                self._forget(entry.writer)
                del run.entries[entry.writer]

    def is_pending(self, run: WatchedRun) -> bool:
        return False

    def close(self, run: WatchedRun) -> None:
        if not run.entries:
            self._seen_alive.clear()  # those of other runs come back with the next poll

    def _bury(self, run: WatchedRun, entry: Entry) -> bool:
        """Make sure that the journal says the writer has ended; False if that could not be written."""
        segments = [path for path in list_segments(run.run_dir.journal) if _is_of(path, entry)]
        if _has_last_word(segments) or (journal := run.journal("agent")) is None:
            return True
        rejected = journal.rejected
        journal.event(
            event.Ended(
                time_ns=self._time_of_death(entry, segments),
                state="crashed",
                error=f"process {entry.pid} ended without finish(): killed, out of memory, or the machine went down",
                writer=entry.writer,
            )
        )
        journal.sync()
        if journal.rejected > rejected:
            return False
        self._log(f"{run.run_dir.path}: writer {entry.writer} (process {entry.pid}) crashed")
        return True

    def _time_of_death(self, entry: Entry, segments: list[Path]) -> int:
        now = time.time_ns()
        if entry.writer in self._seen_alive or not segments:
            return now
        # Found dead, perhaps days later: its last record is the best witness.
        return min(now, segments[-1].stat().st_mtime_ns)


def _is_of(path: Path, entry: Entry) -> bool:
    attempt, writer, _ = parse_name(path)
    return (attempt, writer) == (entry.attempt, entry.writer)


def _has_last_word(segments: list[Path]) -> bool:
    """Tell whether a writer's segments end with its own `Ended`; the last segment may have just been begun."""
    return any(_holds_ended(path) for path in segments[-2:])


def _holds_ended(path: Path) -> bool:
    with open(path, "rb") as stream:
        stream.seek(max(0, os.fstat(stream.fileno()).st_size - _TAIL_BYTES))
        frames = scan(stream.read()).frames
    return any(frame.kind == EVENT and value.decode(frame.payload).get("type") == "ended" for frame in frames)
