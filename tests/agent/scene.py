"""What the tests look at and wait for: agents among the processes, and what they wrote."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from strobe.agent.entry import Entry
from strobe.agent.log import Log
from strobe.agent.seat import Seat
from strobe.agent.task import WatchedRun
from strobe.home import Home, RunDir
from strobe.journal import JournalReader, event
from strobe.journal.entry import Noted, Row

MakeEntry = Callable[..., Entry]


class QuietLog(Log):
    """A log that keeps its lines to itself."""

    def __init__(self) -> None:
        super().__init__(None)
        self.lines: list[str] = []

    def write(self, message: str) -> None:
        self.lines.append(message)


def agent_pids(home: Home) -> list[int]:
    """Return the agents of `home` among all processes, however far they have come."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                words = Path(f"/proc/{name}/cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if os.fsencode(home.path) in words and any(b"serve_detached" in word for word in words):
                found.append(int(name))
    return found


def wait_for(what: Callable[[], Any], *, timeout_s: float = 15.0) -> Any:
    """Return the first truthy answer; fail if there is none in time."""
    until = time.monotonic() + timeout_s
    while not (answer := what()):
        assert time.monotonic() < until, f"waited {timeout_s} s in vain"
        time.sleep(0.02)
    return answer


def serving_pid(home: Home) -> int:
    """Return the pid of the agent that serves `home`, 0 if none does."""
    state = Seat(home).read_state()
    return state.pid if state is not None and state.is_alive() else 0


def watched(entry: Entry) -> WatchedRun:
    """Return the run of `entry` as a task gets it."""
    run = WatchedRun(entry.run, entry.attempt, warn=lambda message: None)
    run.entries[entry.writer] = entry
    return run


def events_of(run_dir: RunDir, kind: str = "agent") -> list[event.Event]:
    """Return the events that journals of that kind hold."""
    entries = JournalReader(run_dir.journal).poll()
    return [item.event for header, item in entries if header.kind == kind and isinstance(item, Noted)]


def rows_of(run_dir: RunDir, kind: str = "system") -> list[dict[str, Any]]:
    """Return the rows that journals of that kind hold."""
    entries = JournalReader(run_dir.journal).poll()
    return [dict(item.items()) for header, item in entries if header.kind == kind and isinstance(item, Row)]
