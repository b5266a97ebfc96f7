"""A watched run without `strobe.init`: an entry in `home.active` and a journal, as the agent meets them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from strobe import identity
from strobe.agent.entry import Entry
from strobe.agent.lifecycle import stop
from strobe.home import Home, RunPath
from strobe.journal import Header, Writer

from .scene import MakeEntry, QuietLog, agent_pids


@pytest.fixture
def make_entry(home: Home) -> MakeEntry:
    """Write a journal and an active entry of this very process; keywords replace fields of the entry."""

    def make(writer: str = "aaaaaaaa", run_id: str = "r1", **changes: Any) -> Entry:
        run_dir = home.run_dir(RunPath("local", "p", run_id))
        pid = os.getpid()
        fields: dict[str, Any] = {
            "run_dir": str(run_dir.path),
            "writer": writer,
            "pid": pid,
            "pid_started": identity.process_started(pid),
            "host": identity.host_id(),
            "boot_id": identity.boot_id(),
            "pid_namespace": identity.pid_namespace(),
        }
        entry = Entry(**(fields | changes))
        if not (run_dir.journal / f"{entry.attempt:04d}-{writer}-000000.strobe").exists():
            header = Header(entity="local", project="p", run=run_id, writer=writer, attempt=entry.attempt)
            Writer(run_dir.journal, header).row({"loss": 1.0}, 0)
        home.active.mkdir(parents=True, exist_ok=True)
        (home.active / f"{writer}.json").write_bytes(msgspec.json.encode(entry))
        return entry

    return make


@pytest.fixture
def log() -> QuietLog:
    return QuietLog()


@pytest.fixture
def stop_agents() -> Iterator[list[Home]]:
    """Homes put in this list have no agent left when the test is over."""
    homes: list[Home] = []
    yield homes
    for each in homes:
        stop(each)
        for pid in agent_pids(each):
            os.kill(pid, 9)
