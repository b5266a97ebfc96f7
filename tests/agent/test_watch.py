"""Watching: runs come and go, tasks get their turn, and nothing a task does stops the others."""

from __future__ import annotations

import os

import pytest

from strobe.agent.entry import ActiveEntries
from strobe.agent.task import WatchedRun
from strobe.agent.watch import Watch
from strobe.home import Home

from .scene import MakeEntry, QuietLog


class Recording:
    """A task that notes what it is asked."""

    def __init__(self) -> None:
        self.polled: list[tuple[str, int, list[str]]] = []
        self.closed: list[str] = []
        self.pending = False
        self.fault = ""

    def poll(self, run: WatchedRun, now: float) -> None:
        if self.fault:
            raise ValueError(self.fault)
        self.polled.append((run.run_dir.path.name, run.attempt, sorted(run.entries)))

    def is_pending(self, run: WatchedRun) -> bool:
        return self.pending

    def close(self, run: WatchedRun) -> None:
        self.closed.append(run.run_dir.path.name)


@pytest.fixture
def task() -> Recording:
    return Recording()


@pytest.fixture
def watch(home: Home, task: Recording, log: QuietLog) -> Watch:
    return Watch(ActiveEntries(home.active, owner=os.getuid()), [task], log)


def test_writers_of_one_attempt_are_one_run(watch: Watch, task: Recording, make_entry: MakeEntry) -> None:
    make_entry("aaaaaaaa")
    make_entry("bbbbbbbb")
    make_entry("cccccccc", attempt=2)
    make_entry("dddddddd", run_id="r2")
    watch.poll(0.0)
    assert sorted(task.polled) == [
        ("r1", 1, ["aaaaaaaa", "bbbbbbbb"]),
        ("r1", 2, ["cccccccc"]),
        ("r2", 1, ["dddddddd"]),
    ]


def test_an_ended_run_is_closed_once_nothing_is_pending(watch: Watch, task: Recording, make_entry: MakeEntry) -> None:
    make_entry()
    watch.poll(0.0)
    watch.active.remove("aaaaaaaa")
    task.pending = True
    watch.poll(1.0)
    assert task.closed == []
    assert watch.has_runs()
    task.pending = False
    watch.poll(2.0)
    assert task.closed == ["r1"]
    assert not watch.has_runs()


def test_a_failing_task_is_logged_and_polled_again(
    watch: Watch, task: Recording, log: QuietLog, make_entry: MakeEntry
) -> None:
    make_entry()
    task.fault = "broken"
    for now in range(5):
        watch.poll(now)
    assert log.num_errors == 5
    assert len(log.lines) == 3, "the 1st, 2nd and 4th time"
    assert "ValueError: broken" in log.lines[0]
    task.fault = ""
    watch.poll(9.0)
    assert len(task.polled) == 1


def test_has_runs_looks_anew(watch: Watch, make_entry: MakeEntry) -> None:
    assert not watch.has_runs()
    make_entry()
    assert watch.has_runs()


def test_delay_follows_the_shortest_interval(watch: Watch, make_entry: MakeEntry) -> None:
    assert watch.delay() == 1.0
    make_entry("aaaaaaaa", stats_interval_s=0.3)
    make_entry("bbbbbbbb", stats_interval_s=0.01, stats=False)
    watch.poll(0.0)
    assert watch.delay() == 0.3


def test_unreadable_entries_are_logged_once(home: Home, watch: Watch, log: QuietLog) -> None:
    home.active.mkdir(parents=True)
    (home.active / "x.json").write_text("{")
    watch.poll(0.0)
    watch.poll(1.0)
    assert len(log.lines) == 1


def test_close_lets_go_of_everything(watch: Watch, task: Recording, make_entry: MakeEntry) -> None:
    make_entry()
    watch.poll(0.0)
    watch.close()
    assert task.closed == ["r1"]
    assert not watch.runs
