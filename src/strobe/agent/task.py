"""What the agent does for runs: a list of tasks, each polled about once a second for each run it watches.

This is the seam for further duties: a class with these three methods, added to the list in `strobe.agent.main`. A duty
that has work for the home as a whole, with or without live runs, is a `HomeTask` as well.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Protocol, runtime_checkable

from strobe._version import __version__
from strobe.agent.entry import Entry
from strobe.home import RunDir
from strobe.journal import Header, Writer


class WatchedRun:
    """One attempt of a run and its live writers on this machine; holds the agent's own journals of it."""

    def __init__(self, run_dir: RunDir, attempt: int, *, warn: Callable[[str], None]) -> None:
        self.run_dir = run_dir
        self.attempt = attempt
        #: by writer; an entry leaves when its writer has ended
        self.entries: dict[str, Entry] = {}
        self._warn = warn
        self._fsync = "agent"
        self._writers: dict[str, Writer] = {}

    def take(self, entries: dict[str, Entry]) -> None:
        """Note which writers live now."""
        self.entries = entries
        if entries:  # what the writers wanted still holds when they have ended
            self._fsync = "never" if all(entry.fsync == "never" for entry in entries.values()) else "agent"

    def exists(self) -> bool:
        """Tell whether the run was not deleted under us."""
        return self.run_dir.exists()

    def journal(self, kind: str) -> Writer | None:
        """Return our writer of that kind, opened at the first use; None if the run was deleted: it stays so."""
        if not self.exists():
            self._forget()
            return None
        if kind not in self._writers:
            self._writers[kind] = Writer(self.run_dir.journal, self._header(kind), fsync=self._fsync, warn=self._warn)
        return self._writers[kind]

    def close(self) -> None:
        """Seal our journals."""
        if not self.exists():
            self._forget()
        for writer in self._writers.values():
            writer.close()
        self._writers.clear()

    def _forget(self) -> None:
        for writer in self._writers.values():
            writer.forget()
        self._writers.clear()

    def _header(self, kind: str) -> Header:
        run = self.run_dir.run_path
        return Header(
            entity=run.entity,
            project=run.project,
            run=run.id,
            writer=os.urandom(4).hex(),
            attempt=self.attempt,
            kind=kind,
            host=next((entry.host for entry in self.entries.values()), ""),
            created_ns=time.time_ns(),
            strobe=__version__,
        )


class Task(Protocol):
    """A duty. What it raises is logged and counted; it will be polled again."""

    def poll(self, run: WatchedRun, now: float) -> None:
        """Do what is due for `run` at `now` (monotonic seconds)."""

    def is_pending(self, run: WatchedRun) -> bool:
        """Tell whether there is work left for `run` although its writers have ended."""

    def close(self, run: WatchedRun) -> None:
        """The run has ended, or the agent leaves: let go of what is held for it."""


@runtime_checkable
class HomeTask(Protocol):
    """A duty that does not end with the runs that are watched, such as uploading what earlier ones have left."""

    def tick(self, now: float) -> None:
        """Do what is due; called once per poll, after the runs had their turn."""

    def is_busy(self) -> bool:
        """Tell whether the agent should stay although no run lives."""

    def shut(self) -> None:
        """The agent leaves."""
