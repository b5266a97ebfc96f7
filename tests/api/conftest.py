"""Runs written straight through the journal, so that these tests need no training process."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from strobe.api import Run
from strobe.api.home_record import HomeRecord
from strobe.home import Home, RunDir, RunPath
from strobe.journal import Header, Writer, event

SECOND = 1_000_000_000
START = 1_700_000_000 * SECOND


class Recorder:
    """Writes one attempt of a run."""

    def __init__(self, run_dir: RunDir, *, attempt: int = 1, kind: str = "main", writer: str = "aaaa0001") -> None:
        run = run_dir.run_path
        self.run_dir = run_dir
        self.journal = Writer(
            run_dir.journal,
            Header(
                entity=run.entity,
                project=run.project,
                run=run.id,
                writer=writer,
                attempt=attempt,
                kind=kind,
                created_ns=START,
            ),
        )

    def start(self, *, time_ns: int = START, from_step: int | None = None, **attributes: Any) -> None:
        self.journal.event(event.Started(time_ns=time_ns, from_step=from_step, attributes=attributes))

    def row(self, step: int, **values: Any) -> None:
        self.journal.row(values, step)

    def event(self, what: event.Event) -> None:
        self.journal.event(what)

    def end(self, state: str = "finished", *, time_ns: int = START + 60 * SECOND, **fields: Any) -> None:
        self.journal.event(event.Ended(time_ns=time_ns, state=state, **fields))
        self.journal.close()


def run_of(home: Home, run_dir: RunDir) -> Run:
    return Run(HomeRecord(home, run_dir))


MakeRun = Callable[..., RunDir]


@pytest.fixture
def make_run(home: Home) -> MakeRun:
    """Return a function that records a finished run; `rows` is a list of (step, values)."""

    def make(
        run_id: str = "run1",
        *,
        project: str = "proj",
        rows: list[tuple[int, dict[str, Any]]] | None = None,
        config: Mapping[str, Any] | None = None,
        state: str | None = "finished",
        started_ns: int = START,
        **attributes: Any,
    ) -> RunDir:
        run_dir = home.run_dir(RunPath("local", project, run_id))
        recorder = Recorder(run_dir)
        recorder.start(time_ns=started_ns, **{"name": f"name-of-{run_id}", **attributes})
        if config:
            recorder.event(event.Config(time_ns=started_ns, changes=dict(config)))
        for step, values in rows or []:
            recorder.row(step, **values)
        if state is not None:
            recorder.end(state, time_ns=started_ns + 60 * SECOND)
        else:
            recorder.journal.sync()
        return run_dir

    return make


@pytest.fixture
def now_ns() -> int:
    return time.time_ns()
