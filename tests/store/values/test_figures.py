"""Runs sorted and filtered by what a metric came to: on both databases, on what was really taken in."""

from __future__ import annotations

import math
import random
from pathlib import Path
from typing import Any

import pytest

from strobe.errors import NotInStore, UsageError
from strobe.home import RunPath
from strobe.store.database import Database
from strobe.store.settle import Settler
from strobe.store.values import Question, Values
from strobe.store.values import measured as measured_module
from strobe.store.values.figure import Figure, parse_figure
from strobe.store.values.measured import figures_asked
from tests.store.stories import Clock, Story, batches
from tests.store.test_same_as_replay import ingest_into

#: run -> its losses; the last ones are in another order than the least
LOSSES = {
    "a": [3.0, 0.5, 2.0],
    "b": [1.0, math.nan, 1.5],
    "c": [math.inf, 0.7, 9.0],
    "d": [math.nan],
    "e": [],
}


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr("strobe.journal.writer.time_ns", clock)
    return clock


@pytest.fixture
def settler(database: Database, tmp_path: Path, clock: Clock) -> Settler:
    """What settles a store with the runs above."""
    for name, losses in LOSSES.items():
        story = Story(tmp_path, clock, RunPath("local", "p", name))
        writer = story.start()
        writer.row({"other": 1.0}, 0)
        for step, loss in enumerate(losses):
            writer.row({"train/loss": loss}, step)
        send(database, story, clock)
    settler = Settler(database, Values(database))
    settler.settle()
    return settler


def send(database: Database, story: Story, clock: Clock) -> None:
    for queue in batches(story.run_dir, random.Random(2)):
        for batch in queue:
            ingest_into(database).take(batch, now_ns=clock())


def listed(database: Database, settler: Settler, **question: Any) -> str:
    asked = Question(**question)
    settler.measure("local", "p", figures_asked(asked))
    values = Values(database)
    page = values.page("local", "p", asked, now_ns=0, limit=100)
    return "".join(item.id for item in values.items(page.run_ids))


@pytest.mark.parametrize(
    ("sort", "order"),
    [
        ("min(train/loss)", "acb"),
        ("-min(train/loss)", "bca"),
        ("max(train/loss)", "bac"),
        ("-mean(train/loss)", "cab"),
        ("first(train/loss)", "bac"),
        ("last(train/loss)", "bac"),
    ],
)
def test_runs_are_sorted_by_figures(database: Database, settler: Settler, sort: str, order: str) -> None:
    found = listed(database, settler, sort=sort)
    assert found[:3] == order
    assert set(found[3:]) == {"d", "e"}  # what has no such figure comes last, whichever way round


def test_runs_are_filtered_by_figures(database: Database, settler: Settler) -> None:
    small = {"min(train/loss)": {"$lt": 0.8}}
    assert set(listed(database, settler, filters=small)) == {"a", "c"}
    assert listed(database, settler, filters={"$and": [small, {"$not": {"max(train/loss)": 9}}]}) == "a"
    assert set(listed(database, settler, filters={"min(train/loss)": {"$exists": False}})) == {"d", "e"}


def test_a_figure_follows_what_comes_in_later(
    database: Database, settler: Settler, tmp_path: Path, clock: Clock
) -> None:
    assert listed(database, settler, sort="min(train/loss)")[0] == "a"
    story = Story(tmp_path, clock, RunPath("local", "p", "late"))
    story.start().row({"train/loss": 0.1}, 0)
    send(database, story, clock)
    settler.settle()
    assert listed(database, settler, sort="min(train/loss)").startswith("latea")


def test_it_is_held_once_and_only_if_a_run_has_the_metric(database: Database, settler: Settler) -> None:
    def versions() -> list[Any]:
        return database.read(lambda cursor: cursor.all("SELECT version FROM run ORDER BY id"))

    before = versions()
    assert len(listed(database, settler, sort="min(nobody/has/this)")) == len(LOSSES)
    assert versions() == before
    listed(database, settler, sort="min(train/loss)")
    after = versions()
    assert after != before
    listed(database, settler, filters={"min(train/loss)": 1.0}, sort="-min(train/loss)")
    assert versions() == after
    # it is no field that anybody set: lists of fields do not have it
    assert not [facts.name for facts in Values(database).fields("local", "p") if "min(" in facts.name]


def test_who_does_not_wait_is_told_what_is_missing(database: Database, settler: Settler) -> None:
    # the runs of this story are never ended: only those that are over are waited for
    database.write(lambda cursor: cursor.run("UPDATE run SET state = 'finished'"))
    figures = [Figure("min", "train/loss")]
    pending = settler.measure("local", "p", figures, patience_s=-1)
    assert pending == len(LOSSES)
    settler.settle()
    assert settler.measure("local", "p", figures) == 0


def test_a_projects_figures_are_bounded(database: Database, settler: Settler, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measured_module, "MAX_FIGURES", 2)
    for statistic in ("min", "max"):
        listed(database, settler, sort=f"{statistic}(train/loss)")
    with pytest.raises(UsageError, match=r"2 figures of metrics already.*max\(train/loss\)"):
        listed(database, settler, sort="mean(train/loss)")


def test_the_names_of_figures() -> None:
    assert parse_figure("min(a (b))") == Figure("min", "a (b)")
    assert parse_figure("config.min") is None
    assert parse_figure("median(a)") is None
    with pytest.raises(UsageError, match="more than 400"):
        parse_figure(f"min({'x' * 400})")


def test_a_project_that_is_not_there_is_said(database: Database) -> None:
    with pytest.raises(NotInStore, match="no project local/none"):
        Settler(database, Values(database)).measure("local", "none", [Figure("min", "a")])
