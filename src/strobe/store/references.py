"""Who refers to contents: the one list that gc and the question "has the project this?" go by.

A table that holds a `sha256 REFERENCES blob` must be in here.
"""

from __future__ import annotations

from strobe.store.database import Cursor

#: table → the way from its rows to their project
_REFERRERS = {
    "run_file": "run_file f JOIN run r ON r.id = f.run_id",
    "artifact_entry": (
        "artifact_entry f JOIN artifact_version v ON v.id = f.version_id "
        "JOIN artifact_collection r ON r.id = v.collection_id"
    ),
}

#: true of a row of `blob` that nobody refers to
UNREFERENCED = " AND ".join(
    f"NOT EXISTS (SELECT 1 FROM {table} f WHERE f.sha256 = blob.sha256)" for table in _REFERRERS
)


def is_in_project(cursor: Cursor, project_id: int, sha256: str) -> bool:
    """Tell whether a file or an artifact of the project has this content."""
    return any(
        cursor.one(f"SELECT 1 FROM {way} WHERE f.sha256 = ? AND r.project_id = ? LIMIT 1", sha256, project_id)
        for way in _REFERRERS.values()
    )
