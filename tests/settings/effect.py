"""What the tests of effects share: who shows which setting, and runs made by the real `init()`."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import strobe
from strobe.agent.entry import ActiveEntries
from strobe.agent.task import Task
from strobe.agent.watch import Watch
from strobe.home import Home
from strobe.journal import JournalReader, Replay
from strobe.journal.entry import Row
from tests.agent.scene import QuietLog, wait_for

Test = TypeVar("Test", bound=Callable[..., None])
Start = Callable[..., strobe.Run]


def shows(*names: str) -> Callable[[Test], Test]:
    """Say which settings a test shows the effect of."""

    def note(test: Test) -> Test:
        test.shows = names  # type: ignore[attr-defined]
        return test

    return note


def replay_of(run: strobe.Run) -> Replay:
    replay = Replay(run._recorder.run_dir)
    replay.refresh()
    assert not replay.damages
    return replay


def contents(directory: Path) -> bytes:
    """Return everything that lies under a directory, file names included."""
    files = [path for path in sorted(directory.rglob("*")) if path.is_file()]
    return b"\n".join(os.fsencode(path) + b"\n" + path.read_bytes() for path in files)


def git(cwd: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=t", "-c", "user.email=t@t", "-c", "init.defaultBranch=main")
    done = subprocess.run(["git", *identity, *arguments], cwd=cwd, capture_output=True, text=True, check=True)
    return done.stdout.strip()


class AgentHere:
    """The agent's duties for a home, done in this process whenever the test says so."""

    def __init__(self, home: Home, *tasks: Task) -> None:
        self._watch = Watch(ActiveEntries(home.active, owner=os.getuid()), tasks, QuietLog())
        self._tasks = tasks

    def poll(self, now: float) -> None:
        self._watch.poll(now)

    def poll_until_done(self) -> None:
        """Poll until no task has anything left to do."""
        self.poll(0.0)

        def is_done() -> bool:
            self.poll(1.0)
            return not any(task.is_pending(run) for task in self._tasks for run in self._watch.runs.values())

        wait_for(is_done)

    def close(self) -> None:
        self._watch.close()


def system_rows(run: strobe.Run) -> list[dict[str, Any]]:
    entries = JournalReader(run._recorder.run_dir.journal).poll()
    return [dict(row.items()) for header, row in entries if header.kind == "system" and isinstance(row, Row)]
