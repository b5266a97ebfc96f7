"""The seam below the store: transactions that are kept whole or not at all, on both databases."""

from __future__ import annotations

import threading

import pytest

from strobe.errors import StoreBusy, StoreError, StoreVersion
from strobe.store.database import Cursor, Database
from strobe.store.postgres import PostgresDatabase
from strobe.store.schema import VERSION, migrate, split


def _make(cursor: Cursor) -> None:
    cursor.run("CREATE TABLE thing (name TEXT PRIMARY KEY, size BIGINT, body " + cursor.dialect.types["bytes"] + ")")


def _count(database: Database) -> int:
    row = database.read(lambda cursor: cursor.one("SELECT count(*) FROM thing"))
    assert row is not None
    return int(row[0])


def test_values_come_back_as_they_were(empty_database: Database) -> None:
    empty_database.write(_make)
    rows = [("100 % ü?", 2**62, b"\0\xff"), ("b", None, b"")]
    empty_database.write(lambda cursor: cursor.many("INSERT INTO thing VALUES (?, ?, ?)", rows))
    assert empty_database.read(lambda cursor: cursor.all("SELECT * FROM thing ORDER BY name")) == rows


def test_a_transaction_that_raises_leaves_nothing(empty_database: Database) -> None:
    empty_database.write(_make)

    def change(cursor: Cursor) -> None:
        cursor.run("INSERT INTO thing VALUES ('a', 1, NULL)")
        raise KeyError("stop")

    with pytest.raises(KeyError):
        empty_database.write(change)
    assert _count(empty_database) == 0
    empty_database.write(lambda cursor: cursor.run("INSERT INTO thing VALUES ('a', 1, NULL)"))
    assert _count(empty_database) == 1


def test_a_reader_sees_one_moment(empty_database: Database) -> None:
    empty_database.write(_make)

    def ask(cursor: Cursor) -> tuple[object, object]:
        before = cursor.one("SELECT count(*) FROM thing")
        insert = threading.Thread(
            target=empty_database.write, args=(lambda inner: inner.run("INSERT INTO thing VALUES ('a', 1, NULL)"),)
        )
        insert.start()
        insert.join()
        return before, cursor.one("SELECT count(*) FROM thing")

    before, after = empty_database.read(ask)
    assert before == after == (0,)
    assert _count(empty_database) == 1


def test_a_wrong_statement_is_an_error_of_the_store(empty_database: Database) -> None:
    with pytest.raises(StoreError, match="nothing"):
        empty_database.read(lambda cursor: cursor.all("SELECT * FROM nothing"))


def test_a_server_that_is_not_there_is_an_error_with_its_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("strobe.store.postgres._CONNECT_TIMEOUT_S", 0.2)
    with pytest.raises(StoreBusy, match=r"refused.*is it up, and is the address right\?") as caught:
        PostgresDatabase("postgresql://ann:secret@127.0.0.1:1/nothing")
    assert "secret" not in str(caught.value)


def test_migrating_twice_changes_nothing(empty_database: Database) -> None:
    assert migrate(empty_database) == 0
    assert migrate(empty_database) == VERSION


def test_a_store_of_a_newer_version_is_refused(database: Database) -> None:
    database.write(lambda cursor: cursor.run("INSERT INTO schema_version VALUES (?, 0)", VERSION + 1))
    with pytest.raises(StoreVersion, match=f"version {VERSION + 1}"):
        migrate(database)


def test_comments_are_no_statements() -> None:
    assert split("-- one; two\nCREATE a (\n  -- b\n  c\n);\nCREATE d;\n") == ["CREATE a (\n  c\n)", "CREATE d"]
