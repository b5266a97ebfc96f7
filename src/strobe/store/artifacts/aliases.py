"""Aliases inside of a transaction: names that stand for a version of a collection.

`latest` is not stored: it is the highest version that there is. The alias of a deleted version stands for nothing, but
stays, so that undoing the deletion brings it back, unless it has moved meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterable

from strobe.artifact.name import LATEST, check_alias, version_number
from strobe.store.database import Cursor


def resolve(cursor: Cursor, collection_id: int, reference: str) -> int | None:
    """Return the row id of the version that `v3`, `latest` or an alias stands for, None if nothing does."""
    if reference == LATEST:
        row = cursor.one(
            "SELECT id FROM artifact_version WHERE collection_id = ? AND number IS NOT NULL AND deleted_ns IS NULL "
            "ORDER BY number DESC LIMIT 1",
            collection_id,
        )
    elif (number := version_number(reference)) is not None:
        if number >= 2**63:
            return None
        row = cursor.one(
            "SELECT id FROM artifact_version WHERE collection_id = ? AND number = ? AND deleted_ns IS NULL",
            *(collection_id, number),
        )
    else:
        row = cursor.one(
            "SELECT v.id FROM artifact_alias a JOIN artifact_version v ON v.id = a.version_id "
            "WHERE a.collection_id = ? AND a.name = ? AND v.deleted_ns IS NULL",
            *(collection_id, reference),
        )
    return int(row[0]) if row is not None else None


def check_aliases(aliases: Iterable[str]) -> list[str]:
    """Return the aliases to store, each once; `latest` needs no storing."""
    return [check_alias(alias) for alias in dict.fromkeys(aliases) if alias != LATEST]


def point(cursor: Cursor, collection_id: int, aliases: Iterable[str], version_id: int) -> None:
    """Let aliases stand for a version, wherever they were."""
    cursor.many(
        "INSERT INTO artifact_alias (collection_id, name, version_id) VALUES (?, ?, ?) "
        "ON CONFLICT (collection_id, name) DO UPDATE SET version_id = excluded.version_id",
        [(collection_id, alias, version_id) for alias in aliases],
    )


def remove(cursor: Cursor, aliases: Iterable[str], version_id: int) -> None:
    """Take aliases away from a version; one that stands for another by now is left alone."""
    cursor.many(
        "DELETE FROM artifact_alias WHERE name = ? AND version_id = ?", [(alias, version_id) for alias in aliases]
    )
