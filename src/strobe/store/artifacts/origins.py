"""Which version something became: a draft, or a version that its sender knows by a name of its own.

So that sending or committing it a second time, because the answer was lost, makes no second version.
"""

from __future__ import annotations

from strobe.store.database import Cursor
from strobe.store.purge import DOOMED


def find(cursor: Cursor, collection_id: int, name: str) -> int | None:
    """Return the version that a sender's own became, None if it is new or was deleted."""
    row = cursor.one(
        "SELECT o.version_id FROM artifact_origin o JOIN artifact_version v ON v.id = o.version_id "
        "WHERE o.collection_id = ? AND o.name = ? AND v.deleted_ns IS NULL",
        *(collection_id, *of_sender(name)),
    )
    return int(row[0]) if row is not None else None


def find_committed(cursor: Cursor, token: str) -> int | None:
    """Return the version that a draft became, None if it has become none."""
    row = cursor.one(
        "SELECT o.version_id FROM artifact_origin o JOIN artifact_version v ON v.id = o.version_id "
        "WHERE o.name = ? AND (v.deleted_ns IS NULL OR v.deleted_ns > ?)",
        *(of_draft(token), DOOMED),
    )
    return int(row[0]) if row is not None else None


def note(cursor: Cursor, collection_id: int, names: list[str], version_id: int) -> None:
    """Remember what these names stand for."""
    cursor.many(
        "INSERT INTO artifact_origin (collection_id, name, version_id) VALUES (?, ?, ?) "
        "ON CONFLICT (collection_id, name) DO UPDATE SET version_id = excluded.version_id",
        [(collection_id, name, version_id) for name in names],
    )


# Two kinds of names in one table, told apart so that a sender's own can't stand for another's draft.


def of_draft(token: str) -> str:
    """Return the name that a draft has here."""
    return f"draft:{token}"


def of_sender(name: str | None) -> list[str]:
    """Return the name that a sender's own version has here, if it has one."""
    return [f"sender:{name}"] if name is not None else []
