"""Saved views: kept as they were given, by name, and two people who change one do not undo each other's work."""

from __future__ import annotations

import threading

import pytest

from strobe.errors import NotInStore, StoreConflict, StoreError, UsageError
from strobe.store.database import Database
from strobe.store.projects import Projects
from strobe.store.views import View, Views


@pytest.fixture
def views(database: Database) -> Views:
    Projects(database).ensure("team", "vision", now_ns=1)
    return Views(database)


def make(views: Views, name: str = "best") -> View:
    return views.create("team", "vision", name, {"sort": "-summary.acc", "nul": "a\0b"}, owner="ada", now_ns=10)


def test_a_view_comes_back_as_it_was_given(views: Views) -> None:
    made = make(views)
    assert views.get("team", "vision", "best") == made
    assert made.document == {"sort": "-summary.acc", "nul": "a\0b"}
    assert (made.owner, made.version, made.created_ns, made.changed_ns) == ("ada", 1, 10, 10)
    make(views, "another")
    assert [view.name for view in views.all("team", "vision")] == ["another", "best"]


def test_a_change_counts_the_version(views: Views) -> None:
    make(views)
    changed = views.change(
        "team", "vision", "best", version=1, by="bob", now_ns=20, document={"sort": "name"}, rename="by name"
    )
    assert (changed.name, changed.version, changed.changed_by, changed.owner) == ("by name", 2, "bob", "ada")
    assert changed.document == {"sort": "name"}
    renamed = views.change("team", "vision", "by name", version=2, by="bob", now_ns=30, rename="names")
    assert renamed.document == {"sort": "name"}


def test_a_change_of_an_old_version_is_refused(views: Views) -> None:
    make(views)
    views.change("team", "vision", "best", version=1, by="bob", now_ns=20, document={})
    with pytest.raises(StoreConflict, match="version 2, changed by bob"):
        views.change("team", "vision", "best", version=1, by="ada", now_ns=30, document={"mine": 1})
    with pytest.raises(StoreConflict):
        views.delete("team", "vision", "best", version=1)
    assert views.get("team", "vision", "best").document == {}


def test_of_many_changes_at_once_one_wins(views: Views) -> None:
    make(views)
    results: list[str] = []

    def change(number: int) -> None:
        try:
            views.change("team", "vision", "best", version=1, by=str(number), now_ns=20, document={"by": number})
            results.append("changed")
        except StoreError as error:
            results.append(type(error).__name__)

    threads = [threading.Thread(target=change, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(results) == ["StoreConflict"] * 3 + ["changed"]
    assert views.get("team", "vision", "best").version == 2


def test_names_are_taken_once(views: Views) -> None:
    make(views)
    make(views, "other")
    with pytest.raises(StoreConflict, match="'best' already"):
        make(views)
    with pytest.raises(StoreConflict, match="'other' already"):
        views.change("team", "vision", "best", version=1, by="ada", now_ns=20, rename="other")


def test_what_is_not_there_is_said(views: Views) -> None:
    with pytest.raises(NotInStore, match="no view 'best'"):
        views.get("team", "vision", "best")
    with pytest.raises(NotInStore, match="no view"):
        views.get("team", "vision", "a\0b")
    with pytest.raises(NotInStore, match="no project team/other"):
        views.all("team", "other")
    make(views)
    views.delete("team", "vision", "best")
    with pytest.raises(NotInStore):
        views.delete("team", "vision", "best")


@pytest.mark.parametrize("name", ["", " ", "x" * 129, "a\nb"])
def test_names_that_nobody_could_read_are_refused(views: Views, name: str) -> None:
    with pytest.raises(UsageError, match="a view's name"):
        make(views, name)


def test_a_view_that_is_too_large_is_refused(views: Views) -> None:
    with pytest.raises(UsageError, match="bytes"):
        views.create("team", "vision", "big", {"x": "y" * (1 << 20)}, owner="ada", now_ns=1)
