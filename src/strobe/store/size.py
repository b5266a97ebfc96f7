"""How large the database is, and the files that are kept beside it."""

from __future__ import annotations

from strobe.store.database import Database

_QUESTIONS = {
    "sqlite": "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()",
    "postgres": "SELECT pg_database_size(current_database())",
}


def database_bytes(database: Database) -> int:
    """Return the size of the database on its disk; files that are kept as blobs are not part of it."""
    row = database.read(lambda cursor: cursor.one(_QUESTIONS[cursor.dialect.name]))
    assert row is not None
    return int(row[0])


def blob_bytes(database: Database) -> int:
    """Return the size of all files that are kept, each content once."""
    row = database.read(lambda cursor: cursor.one("SELECT coalesce(sum(size), 0) FROM blob"))
    assert row is not None
    return int(row[0])
