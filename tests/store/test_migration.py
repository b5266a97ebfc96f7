"""Stores of every version that there was are opened by this one, on either database, and nothing in them is lost.

`golden/v<n>.sql` is a small store as version n wrote it to SQLite; PostgreSQL gets its rows into the tables of n. Write
one for each new version, with `python -m tests.store.test_migration N`, before the version after it; never change one
that was released.
"""

from __future__ import annotations

import random
import sqlite3
import sys
import tempfile
from contextlib import closing
from pathlib import Path
from unittest import mock

import pytest

from strobe.store.backup import restart_identities, tables
from strobe.store.blobs import open_blobs
from strobe.store.database import Cursor, Database, marks
from strobe.store.schema import MIGRATIONS, VERSION, migrate, split
from strobe.store.sqlite import SqliteDatabase
from strobe.store.store import Store
from tests.store.stories import PATH, Clock, Story, batches, send_shuffled

GOLDEN = Path(__file__).parent / "golden"


@pytest.fixture(params=range(1, VERSION + 1), ids=lambda number: f"v{number}")
def old(request: pytest.FixtureRequest, empty_database: Database, tmp_path: Path) -> Store:
    """A store of an earlier version, brought up to date."""
    golden = (GOLDEN / f"v{request.param}.sql").read_text()
    if isinstance(empty_database, SqliteDatabase):
        with closing(sqlite3.connect(tmp_path / "store" / "strobe.db")) as connection:
            connection.executescript(golden)
    else:
        fill_postgres(empty_database, golden, request.param)
    assert migrate(empty_database) == request.param
    return Store(empty_database, open_blobs(tmp_path / "blobs"))


def fill_postgres(database: Database, golden: str, version: int) -> None:
    """Make the tables of a version, and put the rows of a SQLite store of that version into them."""
    migrate(database, upto=version)

    def change(cursor: Cursor) -> None:
        known = {name for (name,) in kept.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        for name in tables():
            if name not in known:  # of a later version
                continue
            rows = kept.execute(f"SELECT * FROM {name}").fetchall()
            if rows:
                cursor.many(f"INSERT INTO {name} VALUES ({marks(len(rows[0]))})", rows)
        restart_identities(cursor, sorted(known))

    with closing(sqlite3.connect(":memory:")) as kept:
        kept.executescript(golden)
        database.write(change)


def test_an_old_store_is_brought_up_to_date_and_nothing_is_lost(old: Store) -> None:
    run = old.runs.get(PATH)
    assert (run.row.state, run.config, run.summary["loss"]) == ("finished", {"lr": 0.1}, 1 / 300)
    rows, following = old.history.page(run.row.id, limit=400)
    assert following is None
    assert [row["loss"] for row in rows] == [1 / (step + 1) for step in range(300)]
    assert rows[-1]["word"] == "w299"
    assert [account.name for account in old.accounts.all()] == ["ann"]
    assert [found.name for found in old.values.fields("local", "p", prefix="summary.")] == [
        "summary.loss",
        "summary.word",
    ]


def test_an_old_store_goes_on(old: Store, tmp_path: Path) -> None:
    clock = Clock()
    clock.now_ns += 10**12
    with mock.patch("strobe.journal.writer.time_ns", clock):
        story = Story(tmp_path / "home", clock)
        story.attempt, story.num_writers = 1, 5
        story.start().row({"loss": 7.0}, 300)
    send_shuffled(old.ingest, batches(story.run_dir, random.Random(0)), random.Random(0), clock)
    assert old.runs.get(PATH).summary["loss"] == 7.0


def test_a_version_that_was_released_does_not_change() -> None:
    """The tables of the newest golden store are those that its migrations make: else a migration is missing."""
    with sqlite3.connect(":memory:") as made, sqlite3.connect(":memory:") as kept:
        from strobe.store.database import SQLITE

        for script in MIGRATIONS:
            for statement in split(SQLITE.spell(script)):
                made.execute(statement)
        kept.executescript((GOLDEN / f"v{VERSION}.sql").read_text())
        found = "SELECT name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_%' AND name <> 'schema_version'"
        assert dict(made.execute(found)) == dict(kept.execute(found))
    made.close()
    kept.close()


def write_golden(path: Path) -> None:
    """Write a small store as this version has it."""
    clock = Clock()
    with tempfile.TemporaryDirectory() as name, mock.patch("strobe.journal.writer.time_ns", clock):
        directory = Path(name)
        database = SqliteDatabase(directory / "strobe.db")
        migrate(database)
        store = Store(database, open_blobs(directory / "blobs"), clock)
        from strobe.journal import event as ev

        story = Story(directory / "home", clock)
        writer = story.start(attributes={"name": "first", "tags": ["a"]})
        writer.event(ev.Config(time_ns=clock(), changes={"lr": 0.1}))
        for step in range(300):
            writer.row({"loss": 1 / (step + 1), "word": f"w{step}"}, step)
        writer.event(ev.Console(time_ns=clock(), stream="stdout", text="hello\n"))
        writer.event(ev.Ended(time_ns=clock(), state="finished"))
        found = batches(story.run_dir, random.Random(0), rows_at_most=50)
        with mock.patch("strobe.store.tail.MAX_ROWS", 100):
            send_shuffled(store.ingest, found, random.Random(0), clock)
        store.settler.settle()
        store.accounts.add("ann", is_admin=True)
        store.close()
        with sqlite3.connect(directory / "strobe.db") as connection:
            path.write_text("\n".join(connection.iterdump()) + "\n")
        connection.close()


if __name__ == "__main__":
    write_golden(GOLDEN / f"v{sys.argv[1]}.sql")
