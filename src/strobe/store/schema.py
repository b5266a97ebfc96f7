"""The schema's versions: each migration brings a store from the version before it.

A store that a newer Strobe has migrated is refused; an older one is brought up to date when it is opened, in one
transaction, so that a killed migration has not happened.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable

from strobe.errors import StoreVersion
from strobe.store.artifacts import mentions
from strobe.store.database import Cursor, Database

#: modules of strobe.store.tables that make up version 1, in an order that satisfies their references
_NOUNS = ("core", "files", "artifacts", "accounts", "console", "values", "views", "objects", "alerts")


def _tables(*nouns: str) -> str:
    return "\n".join(importlib.import_module(f"strobe.store.tables.{noun}").TABLES for noun in nouns)


#: the SQL that leads from version n - 1 to version n, at place n - 1
MIGRATIONS: tuple[str, ...] = (_tables(*_NOUNS), _tables("mentions"), _tables("forks"), _tables("sessions"))
VERSION = len(MIGRATIONS)
#: what SQL alone cannot bring over, by the version that it leads to
_FILLS: dict[int, Callable[[Cursor], None]] = {2: mentions.note_all}


def migrate(database: Database, *, upto: int = VERSION) -> int:
    """Bring the store to version `upto`; return the version that it had."""

    def change(cursor: Cursor) -> int:
        if cursor.dialect.name == "postgres":
            # Two servers that start at once: the second waits here, then finds nothing left to do.
            cursor.run("SELECT pg_advisory_xact_lock(7305804402)")
        cursor.run("CREATE TABLE IF NOT EXISTS schema_version (version BIGINT PRIMARY KEY, applied_ns BIGINT NOT NULL)")
        found = cursor.one("SELECT max(version) FROM schema_version")
        version = int(found[0]) if found and found[0] is not None else 0
        if version > VERSION:
            raise StoreVersion(
                f"the store has schema version {version}, this Strobe knows versions up to {VERSION}; upgrade Strobe"
            )
        for number in range(version, upto):
            for statement in split(cursor.dialect.spell(MIGRATIONS[number])):
                cursor.run(statement)
            if fill := _FILLS.get(number + 1):
                fill(cursor)
            cursor.run("INSERT INTO schema_version VALUES (?, ?)", number + 1, time.time_ns())
        return version

    return database.write(change)


def split(script: str) -> list[str]:
    """Return the statements of a script, without comments."""
    lines = (line for line in script.splitlines() if not line.strip().startswith("--"))
    statements = (statement.strip().rstrip(";") for statement in "\n".join(lines).split(";\n"))
    return [statement for statement in statements if statement]
