"""The size of a database, on both."""

from __future__ import annotations

import os

from strobe.store.database import Cursor, Database
from strobe.store.size import database_bytes

MEGABYTE = 1 << 20


def test_a_database_grows(database: Database) -> None:
    def fill(cursor: Cursor) -> None:
        cursor.run(f"CREATE TABLE filling (body {cursor.dialect.types['bytes']})")
        cursor.many("INSERT INTO filling VALUES (?)", [(os.urandom(MEGABYTE),) for _ in range(40)])

    before = database_bytes(database)
    database.write(fill)
    # What other tests dropped may go from the same server meanwhile, hence the distance.
    assert database_bytes(database) >= before + 15 * MEGABYTE
