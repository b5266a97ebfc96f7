"""Removing deleted runs and versions of artifacts for good, however large: some rows at a time, so that nobody waits.

First it loses its name and the way back, in one transaction: from then on nobody can find it, and the name of a run is
free for another. Then its rows go, a few in each transaction. A kill in between leaves something that is marked;
whoever does this next goes on with it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial

from strobe.store.database import Cursor, Database

#: instead of the moment at which something was deleted: it is being removed
DOOMED = 0
#: rows that one transaction takes away; a page of points has about 60 kB
ROWS_AT_ONCE = 200

#: a table that may hold very many rows of something, its key, and the way to it
_Part = tuple[str, str, str]
#: of a run; what is not here goes with its own row
_RUN: tuple[_Part, ...] = (
    ("page", "series_id, level, number", "series_id IN (SELECT id FROM series WHERE run_id = ?)"),
    ("console_page", "console_id, first_line", "console_id IN (SELECT id FROM console WHERE run_id = ?)"),
    ("series", "id", "run_id = ?"),
    ("tail", "run_id, number", "run_id = ?"),
    ("object", "run_id, key, attempt, step", "run_id = ?"),
    ("value", "run_id, path_id, place", "run_id = ?"),
    ("run_file", "run_id, path", "run_id = ?"),
    ("artifact_mention", "id", "run_id = ?"),
)
_VERSION: tuple[_Part, ...] = (("artifact_entry", "version_id, path", "version_id = ?"),)

Pause = Callable[[float], None]


def purge_runs(database: Database, *, deleted_before_ns: int, pause: Pause = time.sleep) -> int:
    """Remove runs for good that were deleted before a moment; return how many.

    As long as a step took, others get the database to themselves after it: `pause`.
    """
    # No name of a run has a slash in it. What settles runs, and what calls them crashed, has no business with it.
    mark = (
        f"deleted_ns = {DOOMED}, is_dirty = 0, state = CASE WHEN state = 'running' THEN 'crashed' ELSE state END, name"
    )
    return _purge_all(database, "run", mark, "deleted_ns < ?", deleted_before_ns, _RUN, pause)


def purge_versions(database: Database, *, deleted_before_ns: int, pause: Pause = time.sleep) -> int:
    """Do the same with versions of artifacts. Their numbers stay taken."""
    mark = f"deleted_ns = {DOOMED}, token"  # no token has a slash in it, either
    return _purge_all(database, "artifact_version", mark, "deleted_ns < ?", deleted_before_ns, _VERSION, pause)


def purge_drafts(database: Database, *, touched_before_ns: int, pause: Pause = time.sleep) -> int:
    """Do the same with drafts of versions for which nothing came since a moment."""
    given_up = "number IS NULL AND updated_ns < ?"
    mark = f"deleted_ns = {DOOMED}, updated_ns = {DOOMED}, token"
    return _purge_all(database, "artifact_version", mark, given_up, touched_before_ns, _VERSION, pause)


def _purge_all(
    database: Database, table: str, mark: str, is_over: str, before_ns: int, parts: Sequence[_Part], pause: Pause
) -> int:
    found = database.read(lambda cursor: cursor.all(f"SELECT id FROM {table} WHERE {is_over} ORDER BY id", before_ns))
    doom = f"UPDATE {table} SET {mark} = ? WHERE id = ? AND {is_over}"
    count = 0
    for (row_id,) in found:
        if database.write(partial(_doom, doom, row_id, before_ns)):  # else it was brought back meanwhile
            for part in parts:
                _take_all(database, part, row_id, pause)
            count += database.write(partial(_take_row, table, row_id))
    return count


def _doom(sql: str, row_id: int, before_ns: int, cursor: Cursor) -> int:
    return cursor.run(sql, f"/{row_id}", row_id, before_ns)


def _take_all(database: Database, part: _Part, owner_id: int, pause: Pause) -> None:
    taken = ROWS_AT_ONCE
    while taken >= ROWS_AT_ONCE:
        began = time.monotonic()
        taken = database.write(partial(_take_some, part, owner_id))
        if taken:
            pause(time.monotonic() - began)


def _take_some(part: _Part, owner_id: int, cursor: Cursor) -> int:
    table, keys, way = part
    some = f"SELECT {keys} FROM {table} WHERE {way} LIMIT {ROWS_AT_ONCE}"
    return cursor.run(f"DELETE FROM {table} WHERE ({keys}) IN ({some})", owner_id)


def _take_row(table: str, row_id: int, cursor: Cursor) -> int:
    return cursor.run(f"DELETE FROM {table} WHERE id = ?", row_id)
