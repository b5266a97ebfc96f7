"""What only SQLite has: a log that must not fill the disk."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest

from strobe.store import sqlite
from strobe.store.database import Cursor
from strobe.store.sqlite import SqliteDatabase

_LIMIT = 1 << 20


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SqliteDatabase]:
    """A database with a small log."""
    monkeypatch.setattr(sqlite, "_LOG_BYTES", _LIMIT // 4)
    monkeypatch.setattr(sqlite, "_MAX_LOG_BYTES", _LIMIT)
    monkeypatch.setattr(sqlite, "_LOG_WAIT_S", 0.5)
    database = SqliteDatabase(tmp_path / "a.db")
    database.write(lambda cursor: cursor.run("CREATE TABLE thing (id INTEGER PRIMARY KEY, body BLOB)"))
    yield database
    database.close()


def put(cursor: Cursor) -> None:
    """Write a quarter of a megabyte over what is there."""
    cursor.run("DELETE FROM thing")
    cursor.many("INSERT INTO thing VALUES (?, ?)", [(number, os.urandom(2048)) for number in range(128)])


def log_bytes(database: SqliteDatabase) -> int:
    return database.path.with_name("a.db-wal").stat().st_size


def test_the_log_is_moved_into_the_file_beside_those_who_write(small: SqliteDatabase) -> None:
    empty = small.path.stat().st_size
    small.write(put)
    assert log_bytes(small) < _LIMIT  # too short for the writer to do it
    until = time.monotonic() + 30
    while small.path.stat().st_size <= empty:
        assert time.monotonic() < until, "nobody moved the log"
        time.sleep(0.01)
    small.close()
    assert not [thread for thread in threading.enumerate() if thread.name == "strobe-log-mover"]


def test_the_log_is_written_over_rather_than_made_anew(small: SqliteDatabase) -> None:
    sizes = []
    for _ in range(40):
        small.write(put)
        small._mover.has_moved.wait(5)
        sizes.append(log_bytes(small))
    assert max(sizes) < 40 * _LIMIT / 4 / 2, "it was never begun anew"
    assert sizes == sorted(sizes), "it was cut, though it was short"


def test_the_log_does_not_grow_while_somebody_always_reads(small: SqliteDatabase) -> None:
    is_over = threading.Event()

    def read(cursor: Cursor) -> None:
        cursor.all("SELECT count(*) FROM thing")
        is_over.wait(0.02)

    def go_on_reading() -> None:
        while not is_over.is_set():
            small.read(read)

    readers = [threading.Thread(target=go_on_reading) for _ in range(3)]
    for reader in readers:
        reader.start()
        is_over.wait(0.007)  # so that they overlap
    sizes = []
    for _ in range(60):
        small.write(put)
        sizes.append(log_bytes(small))
    is_over.set()
    for reader in readers:
        reader.join()
    assert max(sizes) < 3 * _LIMIT


def test_a_reader_who_takes_minutes_is_not_waited_for_again_and_again(small: SqliteDatabase) -> None:
    waits: list[bool] = []
    begin_anew = small._begin_log_anew

    def counted(how: Literal["RESTART", "TRUNCATE"], wait_s: float) -> bool:
        is_anew = begin_anew(how, wait_s)
        if wait_s:
            waits.append(is_anew)
        return is_anew

    small._begin_log_anew = counted  # type: ignore[method-assign]  # to count, and do what it does

    def read(cursor: Cursor) -> None:
        cursor.all("SELECT count(*) FROM thing")
        for _ in range(32):
            small.write(put)

    small.read(read)
    assert log_bytes(small) > 8 * _LIMIT
    assert waits == [False] * len(waits)
    assert 2 <= len(waits) <= 5
    small.write(put)
    for _ in range(80):
        if log_bytes(small) < 2 * _LIMIT:
            break
        small.write(put)
    assert log_bytes(small) < 2 * _LIMIT
