"""Backup and restore: everything comes back, in either database; what is damaged or not empty is refused."""

from __future__ import annotations

import random
from pathlib import Path
from unittest import mock

import pytest

from strobe.errors import StoreVersion, UsageError
from strobe.home import RunPath
from strobe.store.backup import read_manifest, restore_backup, tables, write_backup
from strobe.store.blobs import open_blobs
from strobe.store.contents import Hashes
from strobe.store.database import Database
from strobe.store.files import NewFile
from strobe.store.schema import VERSION, migrate
from strobe.store.sqlite import SqliteDatabase
from strobe.store.store import Store
from tests.store.stories import PATH, Clock, Story, batches, send_shuffled


def fill(store: Store, directory: Path) -> Clock:
    clock = Clock()
    with mock.patch("strobe.journal.writer.time_ns", clock):
        story = Story(directory / "home", clock)
        writer = story.start(attributes={"name": "first"})
        for step in range(300):
            writer.row({"loss": float(step), "word": f"w{step}"}, step)
    send_shuffled(store.ingest, batches(story.run_dir, random.Random(0), rows_at_most=50), random.Random(1), clock)
    store.settler.settle()
    store.accounts.add("ann", is_admin=True)
    with store.contents.incoming() as incoming:
        incoming.write(b"hello")
        store.files.put(store.runs.find(PATH).id, "a/b.txt", incoming)
    store.files.put_all(store.runs.find(PATH).id, [(NewFile("small", Hashes.of(b"in a pack")), b"in a pack")])
    return clock


def rows_of(database: Database) -> dict[str, list[tuple[object, ...]]]:
    return database.read(
        lambda cursor: {name: sorted(cursor.all(f"SELECT * FROM {name}"), key=repr) for name in tables()}
    )


@pytest.fixture
def filled(database: Database, tmp_path: Path) -> Store:
    store = Store(database, open_blobs(tmp_path / "blobs"))
    fill(store, tmp_path)
    return store


def fresh(tmp_path: Path) -> Store:
    database = SqliteDatabase(tmp_path / "fresh" / "strobe.db")
    migrate(database)
    return Store(database, open_blobs(tmp_path / "fresh" / "blobs"))


def test_everything_comes_back_in_another_database(filled: Store, tmp_path: Path) -> None:
    manifest = write_backup(filled.contents, tmp_path / "backup")
    assert manifest.tables["run"] == 1
    copy = fresh(tmp_path)
    restore_backup(tmp_path / "backup", copy.contents)
    assert rows_of(copy.database) == rows_of(filled.database)
    run = copy.runs.get(PATH)
    assert (run.summary["loss"], run.attributes["name"]) == (299.0, "first")
    file = copy.files.get(run.row.id, "a/b.txt")
    assert b"".join(copy.files.read(file)) == b"hello"
    assert b"".join(copy.files.read(copy.files.get(run.row.id, "small"))) == b"in a pack"
    copy.close()


def test_a_store_goes_on_after_it_was_restored(
    empty_database: Database, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    source = fresh(tmp_path)
    fill(source, tmp_path)
    write_backup(source.contents, tmp_path / "backup")
    migrate(empty_database)
    store = Store(empty_database, open_blobs(tmp_path / "others"))
    restore_backup(tmp_path / "backup", store.contents)
    store.accounts.add("bob")
    clock = Clock()
    with mock.patch("strobe.journal.writer.time_ns", clock):
        story = Story(tmp_path_factory.mktemp("other"), clock, RunPath("local", "p", "second"))
        story.start().row({"loss": 1.0}, 0)
    send_shuffled(store.ingest, batches(story.run_dir, random.Random(0)), random.Random(0), clock)
    assert store.runs.get(story.path).summary == {"loss": 1.0}
    assert store.runs.get(PATH).summary["loss"] == 299.0
    source.close()


def test_a_second_backup_replaces_the_first_and_copies_only_what_is_new(filled: Store, tmp_path: Path) -> None:
    target = tmp_path / "backup"
    write_backup(filled.contents, target)
    (kept,) = [file for file in (target / "blobs" / "sha256").rglob("*") if file.is_file()]
    before = kept.stat().st_mtime_ns
    filled.accounts.add("bob")
    assert write_backup(filled.contents, target).tables["account"] == 2
    assert kept.stat().st_mtime_ns == before


def test_a_store_that_is_not_empty_is_left_alone(filled: Store, tmp_path: Path) -> None:
    write_backup(filled.contents, tmp_path / "backup")
    before = rows_of(filled.database)
    with pytest.raises(UsageError, match="empty"):
        restore_backup(tmp_path / "backup", filled.contents)
    assert rows_of(filled.database) == before


@pytest.mark.parametrize("damage", ["truncate", "garble", "drop"])
def test_a_damaged_backup_changes_nothing(filled: Store, tmp_path: Path, damage: str) -> None:
    target = tmp_path / "backup"
    write_backup(filled.contents, target)
    victim = target / "tables" / "series"
    body = victim.read_bytes()
    size = 4 + int.from_bytes(body[:4], "little")
    damaged = {"truncate": body[:-3], "garble": body[:4] + b"\xc1" * (size - 4) + body[size:], "drop": body[size:]}
    victim.write_bytes(damaged[damage])
    copy = fresh(tmp_path)
    with pytest.raises(UsageError, match="damaged"):
        restore_backup(target, copy.contents)
    assert all(not rows for rows in rows_of(copy.database).values())
    copy.close()


def test_a_backup_that_was_not_finished_is_none(filled: Store, tmp_path: Path) -> None:
    write_backup(filled.contents, tmp_path / "backup")
    (tmp_path / "backup" / "backup.json").unlink()
    with pytest.raises(UsageError, match=r"no backup\.json"):
        read_manifest(tmp_path / "backup")
    with pytest.raises(UsageError, match="not empty"):
        write_backup(filled.contents, tmp_path / "backup")


def test_a_backup_of_another_version_is_refused(filled: Store, tmp_path: Path) -> None:
    write_backup(filled.contents, tmp_path / "backup")
    listed = tmp_path / "backup" / "backup.json"
    listed.write_text(listed.read_text().replace(f'"schema": {VERSION}', '"schema": 99'))
    with pytest.raises(StoreVersion, match="schema 99"):
        read_manifest(tmp_path / "backup")
