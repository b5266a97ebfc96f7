"""Removing deleted runs for good, however large they are: some rows at a time, so that nobody waits for all of them.

First the run loses its name and the way back, in one transaction: from then on nobody can find it, and its name is free
for another. Then its rows go, a few in each transaction. A kill in between leaves a run that is marked; whoever does
this next goes on with it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

from strobe.store.database import Cursor, Database

#: instead of the moment at which a run was deleted: it is being removed
DOOMED = 0
#: rows that one transaction takes away; a page of points has about 60 kB
ROWS_AT_ONCE = 200

#: tables that may hold very many rows of a run, with their keys and the way to the run; what is not here goes with it
_TABLES = (
    ("page", "series_id, level, number", "series_id IN (SELECT id FROM series WHERE run_id = ?)"),
    ("console_page", "console_id, first_line", "console_id IN (SELECT id FROM console WHERE run_id = ?)"),
    ("series", "id", "run_id = ?"),
    ("tail", "run_id, number", "run_id = ?"),
    ("object", "run_id, key, attempt, step", "run_id = ?"),
    ("value", "run_id, path_id, place", "run_id = ?"),
    ("run_file", "run_id, path", "run_id = ?"),
    ("artifact_mention", "id", "run_id = ?"),
)


def purge_runs(database: Database, *, deleted_before_ns: int, pause: Callable[[float], None] = time.sleep) -> int:
    """Remove runs for good that were deleted before a moment; return how many.

    As long as a step took, others get the database to themselves after it: `pause`.
    """
    sql = "SELECT id FROM run WHERE deleted_ns IS NOT NULL AND deleted_ns < ? ORDER BY deleted_ns, id"
    candidates = [row[0] for row in database.read(lambda cursor: cursor.all(sql, deleted_before_ns))]
    return sum(_purge(database, run_id, deleted_before_ns, pause) for run_id in candidates)


def _purge(database: Database, run_id: int, deleted_before_ns: int, pause: Callable[[float], None]) -> int:
    if not database.write(partial(_doom, run_id, deleted_before_ns)):
        return 0  # it was brought back meanwhile
    for table, keys, way in _TABLES:
        taken = ROWS_AT_ONCE
        while taken >= ROWS_AT_ONCE:
            began = time.monotonic()
            taken = database.write(partial(_take_some, table, keys, way, run_id))
            if taken:
                pause(time.monotonic() - began)
    return database.write(lambda cursor: cursor.run("DELETE FROM run WHERE id = ?", run_id))


def _doom(run_id: int, deleted_before_ns: int, cursor: Cursor) -> int:
    return cursor.run(
        # No name of a run has a slash in it. What settles runs, and what calls them crashed, has no business with it.
        "UPDATE run SET deleted_ns = ?, name = ?, is_dirty = 0,"
        " state = CASE WHEN state = 'running' THEN 'crashed' ELSE state END WHERE id = ? AND deleted_ns < ?",
        *(DOOMED, f"/{run_id}", run_id, deleted_before_ns),
    )


def _take_some(table: str, keys: str, way: str, run_id: int, cursor: Cursor) -> int:
    some = f"SELECT {keys} FROM {table} WHERE {way} LIMIT {ROWS_AT_ONCE}"
    return cursor.run(f"DELETE FROM {table} WHERE ({keys}) IN ({some})", run_id)
