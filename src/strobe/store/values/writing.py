"""Writing the index: only what differs between two documents of a run, inside the transaction that changes the run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from strobe.store.database import Cursor, Row, marks
from strobe.store.values.leaf import Leaves, flatten

_CHUNK = 500
_INSERT = (
    "INSERT INTO value (run_id, path_id, place, kind, number, text, digest) VALUES (?, ?, ?, ?, ?, ?, ?)"
    " ON CONFLICT (run_id, path_id, place) DO UPDATE SET"
    " kind = excluded.kind, number = excluded.number, text = excluded.text, digest = excluded.digest"
)


def replace(cursor: Cursor, project_id: int, run_id: int, old: Mapping[str, Any], new: Mapping[str, Any]) -> None:
    """Bring the index from what `old` made of it to `new`; both are whole documents (`document`), `old` may be {}."""
    before, after = flatten(old), flatten(new)
    changed = {path: leaves for path, leaves in after.items() if before.get(path) != leaves}
    shorter = {path: len(after.get(path, ())) for path in before if len(before[path]) > len(after.get(path, ()))}
    if not changed and not shorter:
        return
    ids = path_ids(cursor, project_id, changed.keys() | shorter.keys())
    # In one order everywhere, so that two servers which meet new paths at once wait instead of locking each other out.
    for path in sorted(changed.keys() - ids.keys()):
        ids[path] = intern(cursor, project_id, path)
    if shorter:
        cursor.many(
            "DELETE FROM value WHERE run_id = ? AND path_id = ? AND place >= ?",
            [(run_id, ids[path], kept) for path, kept in shorter.items() if path in ids],
        )
    if changed:
        cursor.many(_INSERT, list(_rows(run_id, changed, ids)))


def remove(cursor: Cursor, run_id: int) -> None:
    """Forget a run; `replace` with an empty `old` puts it back."""
    cursor.run("DELETE FROM value WHERE run_id = ?", run_id)


def path_ids(cursor: Cursor, project_id: int, paths: Iterable[str]) -> dict[str, int]:
    """Return the numbers of those paths that the project has."""
    found: dict[str, int] = {}
    for chunk in _chunks(sorted(paths)):
        sql = f"SELECT name, id FROM path WHERE project_id = ? AND name IN ({marks(len(chunk))})"
        found.update(cursor.all(sql, project_id, *chunk))
    return found


def intern(cursor: Cursor, project_id: int, path: str) -> int:
    """Return the number of a path, which the project may not have had."""
    cursor.run("INSERT INTO path (project_id, name) VALUES (?, ?) ON CONFLICT DO NOTHING", project_id, path)
    row = cursor.one("SELECT id FROM path WHERE project_id = ? AND name = ?", project_id, path)
    assert row is not None
    return int(row[0])


def _rows(run_id: int, leaves: Mapping[str, Leaves], ids: Mapping[str, int]) -> Iterator[Row]:
    for path, found in leaves.items():
        for place, leaf in enumerate(found):
            yield (run_id, ids[path], place, int(leaf.kind), leaf.number, leaf.text, leaf.digest)


def _chunks(paths: list[str]) -> Iterator[list[str]]:
    for start in range(0, len(paths), _CHUNK):
        yield paths[start : start + _CHUNK]
