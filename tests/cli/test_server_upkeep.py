"""`strobe server gc|backup|restore`: what they do to a store, and what they say of it."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from strobe.home import Home
from strobe.store.store import Store, open_store
from tests.cli.conftest import Strobe
from tests.store.stories import PATH
from tests.store.test_backup import fill


def store_of(place: Path) -> Store:
    return open_store(f"sqlite:///{place / 'strobe.db'}", place / "blobs")


@pytest.fixture
def filled(home: Home, tmp_path: Path) -> Path:
    """Where the home's own store lies, with one run in it that has files."""
    place = home.path / "server"
    store = store_of(place)
    fill(store, tmp_path)
    store.close()
    return place


@pytest.mark.usefixtures("filled")
def test_a_backup_is_restored_into_another_store(strobe: Strobe, tmp_path: Path) -> None:
    written = strobe("server", "backup", str(tmp_path / "backup"))
    assert (written.code, written.err) == (0, "")
    assert written.lines[0].startswith("1 runs (")
    other = ["--store", f"sqlite:///{tmp_path / 'new' / 'strobe.db'}", "--blobs", str(tmp_path / "new" / "blobs")]
    restored = strobe("server", "restore", str(tmp_path / "backup"), *other)
    assert (restored.code, restored.lines, restored.err) == (
        0, [f"1 runs restored from {tmp_path / 'backup'}"], "",
    )  # fmt: skip
    copy = store_of(tmp_path / "new")
    run = copy.runs.get(PATH)
    assert run.summary["loss"] == 299.0
    assert b"".join(copy.files.read(copy.files.get(run.row.id, "a/b.txt"))) == b"hello"
    copy.close()
    again = strobe("server", "restore", str(tmp_path / "backup"), *other)
    assert (again.code, "empty store only" in again.err) == (2, True)


@pytest.mark.usefixtures("filled")
def test_a_restore_says_that_the_contents_of_files_are_missing(strobe: Strobe, tmp_path: Path) -> None:
    assert strobe("server", "backup", str(tmp_path / "rows"), "--without-blobs", "--json").json["runs"] == 1
    other = ["--store", f"sqlite:///{tmp_path / 'new.db'}", "--blobs", str(tmp_path / "blobs")]
    restored = strobe("server", "restore", str(tmp_path / "rows"), *other)
    assert restored.code == 0
    assert "--without-blobs" in restored.err


def test_what_is_no_backup(strobe: Strobe, tmp_path: Path) -> None:
    refused = strobe("server", "restore", str(tmp_path))
    assert (refused.code, "no backup.json" in refused.err) == (2, True)


def test_a_deleted_run_is_removed_when_it_cannot_be_brought_back_any_more(strobe: Strobe, filled: Path) -> None:
    store = store_of(filled)
    store.runs.delete(PATH, now_ns=time.time_ns())
    store.close()
    assert strobe("server", "gc", "--json").json["purged_runs"] == 0
    assert (
        strobe("server", "gc", "--undo-days", "0")
        .lines[0]
        .startswith("0 runs past their time deleted; removed for good: 1 runs")
    )
    store = store_of(filled)
    assert store.projects.get("local", "p") is not None
    assert store.database.read(lambda cursor: cursor.one("SELECT count(*) FROM run")) == (0,)
    store.close()


@pytest.mark.parametrize("days", ["-1", "nan", "inf", "1e300"])
def test_times_that_there_are_not(strobe: Strobe, days: str) -> None:
    refused = strobe("server", "gc", "--undo-days", days)
    assert (refused.code, "0 to 36500" in refused.err) == (2, True)
