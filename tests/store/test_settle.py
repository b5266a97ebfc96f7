"""Settling: what runs add up to, whatever comes in meanwhile and whichever of two related runs comes first."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from strobe.home import RunPath
from strobe.journal import value
from strobe.store.database import Cursor, Database, T
from strobe.store.settle import Settler
from strobe.store.values import Values
from tests.store.stories import PATH, Clock, Story, batches, send_shuffled
from tests.store.test_same_as_replay import ingest_into

CHILD = RunPath("local", "p", "child")


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr("strobe.journal.writer.time_ns", clock)
    return clock


def send(database: Database, story: Story, clock: Clock) -> None:
    for queue in batches(story.run_dir, random.Random(2)):
        for batch in queue:
            ingest_into(database).take(batch, now_ns=clock())


def indexed(database: Database, path: RunPath = PATH) -> dict[str, Any]:
    row = database.read(lambda cursor: cursor.one("SELECT settled FROM run WHERE name = ?", path.id))
    assert row is not None
    summary: dict[str, Any] = value.decode(row[0])["summary"]
    return summary


def test_a_fork_that_came_before_its_parent_gets_what_it_took_over(
    database: Database, tmp_path: Path, clock: Clock
) -> None:
    settler = Settler(database, Values(database))
    parent, child = Story(tmp_path, clock), Story(tmp_path, clock, CHILD)
    writer = parent.start()
    for step in range(10):
        writer.row({"loss": float(step), "lr": step / 10}, step)
    child.start(forked_from=str(PATH), fork_step=4).row({"loss": 50.0}, 5)
    rng = random.Random(3)
    for story in (child, parent):
        send_shuffled(ingest_into(database), batches(story.run_dir, rng), rng, clock)
        settler.settle()
    assert settler.settle() == 1
    assert indexed(database, CHILD) == child.replay().summary == {"loss": 50.0, "lr": 0.4}
    assert settler.settle() == 0


class _Interrupted:
    """A database where something happens between the look at a run and what is written of it."""

    def __init__(self, database: Database, happen: Callable[[], None]) -> None:
        self.dialect = database.dialect
        self._database = database
        self._happen = happen

    def read(self, ask: Callable[[Cursor], T]) -> T:
        return self._database.read(ask)

    def write(self, change: Callable[[Cursor], T]) -> T:
        self._happen()
        return self._database.write(change)

    def close(self) -> None:
        self._database.close()


def test_what_comes_in_while_a_run_is_added_up_is_added_up_later(
    database: Database, tmp_path: Path, clock: Clock
) -> None:
    story = Story(tmp_path, clock)
    writer = story.start()
    writer.row({"loss": 1.0}, 0)
    send(database, story, clock)

    def log_more() -> None:
        writer.row({"loss": 2.0}, 1)
        send(database, story, clock)

    assert Settler(_Interrupted(database, log_more), Values(database)).settle() == 1
    assert indexed(database) == {"loss": 1.0}
    settler = Settler(database, Values(database))
    assert settler.settle() == 1
    assert indexed(database) == {"loss": 2.0}
    assert settler.settle() == 0


def test_two_servers_that_settle_one_run_do_it_once(database: Database, tmp_path: Path, clock: Clock) -> None:
    story = Story(tmp_path, clock)
    story.start().row({"loss": 1.0}, 0)
    send(database, story, clock)
    other = Settler(database, Values(database))
    counts: list[int] = []
    first = Settler(_Interrupted(database, lambda: counts.append(other.settle())), Values(database))
    assert (first.settle(), counts) == (0, [1])
    assert indexed(database) == {"loss": 1.0}


def test_runs_that_always_have_news_do_not_keep_the_others_from_being_settled(
    database: Database, tmp_path: Path, clock: Clock
) -> None:
    writers, stories = [], [Story(tmp_path, clock, RunPath("local", "p", f"r{number}")) for number in range(5)]
    for story in stories:
        writers.append(story.start())
        writers[-1].row({"loss": 1.0}, 0)
        send(database, story, clock)
    settler = Settler(database, Values(database))
    for turn in range(1, 4):
        settler.settle(limit=2)
        for story, writer in zip(stories[:2], writers[:2], strict=True):
            writer.row({"loss": 2.0}, turn)
            send(database, story, clock)
    assert all(indexed(database, story.path)["loss"] for story in stories)
