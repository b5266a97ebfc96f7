"""The entries of versions as rows: a manifest in, the same manifest out, and which of its contents are here."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from strobe.artifact import digest as digests
from strobe.artifact.manifest import Entry, Manifest
from strobe.errors import NotInStore, UsageError
from strobe.store.artifacts.record import EntryFacts, Missing
from strobe.store.contents import Contents
from strobe.store.database import Cursor, Row, marks
from strobe.store.filepath import LAST, check_file_path

_AT_ONCE = 500
_MAX_SIZE = 1 << 43
_FACTS = "path, digest, algorithm, size, ref, sha256"


def check_entries(manifest: Manifest) -> None:
    """Raise UsageError if an entry has no digest or size as files have them, or a path that can't be."""
    manifest.check_tree()
    for entry in manifest:
        check_file_path(entry.path)
        size, digest = entry.size, entry.digest
        if not isinstance(digest, str) or (size is not None and not _is_size(size)):
            raise UsageError(f"entry {entry.path!r} has the digest {digest!r} and the size {size!r}; they can't be")
        if entry.ref is not None:
            if not isinstance(entry.ref, str) or "\0" in entry.ref + digest or len(digest) > 1024:
                raise UsageError(f"entry {entry.path!r} refers to {entry.ref!r}; give an address and a short digest")
            continue
        if size is None:
            raise UsageError(f"entry {entry.path!r} has no size; files need one")
        digests.check_algorithm(entry.algorithm)
        digests.to_hex(digest)


def insert(cursor: Cursor, version_id: int, manifest: Manifest) -> None:
    """Write the entries of a version; their contents are not known yet."""
    cursor.many(
        "INSERT INTO artifact_entry (version_id, path, digest, algorithm, size, ref, extra) "
        "VALUES (?, ?, ?, ?, ?, ?, ?)",
        [
            (version_id, entry.path, entry.digest, entry.algorithm, entry.size, entry.ref, _text(entry.extra))
            for entry in manifest
        ],
    )


def load(cursor: Cursor, version_id: int, algorithm: str) -> Manifest:
    """Return the manifest that was inserted."""
    rows = cursor.all(
        "SELECT path, digest, algorithm, size, ref, extra FROM artifact_entry WHERE version_id = ?", version_id
    )
    return Manifest({row[0]: _entry(row) for row in rows}, algorithm=algorithm)


def find(cursor: Cursor, version_id: int, path: str) -> EntryFacts:
    """Return the entry at a path; NotInStore if there is none."""
    row = cursor.one(f"SELECT {_FACTS} FROM artifact_entry WHERE version_id = ? AND path = ?", version_id, path)
    if row is None:
        raise NotInStore(f"the artifact has no entry {path[:200]!r}")
    return _facts(row)


def page(cursor: Cursor, version_id: int, prefix: str, after: str, limit: int) -> list[EntryFacts]:
    """Return the entries whose path begins with `prefix` and sorts after `after`, by their paths."""
    rows = cursor.all(
        f"SELECT {_FACTS} FROM artifact_entry WHERE version_id = ? AND path >= ? AND path < ? AND path > ? "
        "ORDER BY path LIMIT ?",
        *(version_id, prefix, prefix + LAST, after, limit),
    )
    return [_facts(row) for row in rows]


def find_missing(cursor: Cursor, version_id: int) -> list[Missing]:
    """Return the contents that have to come yet, each once."""
    rows = cursor.all(
        "SELECT min(path), digest, algorithm, size FROM artifact_entry "
        "WHERE version_id = ? AND ref IS NULL AND sha256 IS NULL GROUP BY digest, algorithm, size ORDER BY 1",
        version_id,
    )
    return [Missing(path=row[0], digest=row[1], algorithm=row[2], size=row[3]) for row in rows]


def reuse(cursor: Cursor, contents: Contents, version_id: int, project_id: int, latest_id: int | None) -> None:
    """Take the contents that other artifacts of the project have.

    Of the project only: whoever may write to it has seen them, and another project's must not be had for its digest.
    Most are in the version before; only what is not there is looked for in all others.
    """
    if latest_id is not None:
        rows = cursor.all(
            "SELECT n.digest, n.algorithm, n.size, min(e.sha256) FROM artifact_entry n JOIN artifact_entry e "
            "ON e.digest = n.digest AND e.version_id = ? AND e.algorithm = n.algorithm AND e.size = n.size "
            "WHERE n.version_id = ? AND n.ref IS NULL AND e.sha256 IS NOT NULL GROUP BY n.digest, n.algorithm, n.size",
            *(latest_id, version_id),
        )
        _take(cursor, contents, version_id, rows)
    missing = find_missing(cursor, version_id)
    for start in range(0, len(missing), _AT_ONCE):
        wanted = {(it.digest, it.algorithm, it.size) for it in missing[start : start + _AT_ONCE]}
        rows = cursor.all(
            "SELECT DISTINCT e.digest, e.algorithm, e.size, e.sha256 FROM artifact_entry e "
            "JOIN artifact_version v ON v.id = e.version_id JOIN artifact_collection c ON c.id = v.collection_id "
            f"WHERE c.project_id = ? AND e.sha256 IS NOT NULL AND e.digest IN ({marks(len(wanted))})",
            *(project_id, *(digest for digest, _, _ in wanted)),
        )
        _take(cursor, contents, version_id, [row for row in rows if row[:3] in wanted])


def _take(cursor: Cursor, contents: Contents, version_id: int, found: list[Row]) -> None:
    """Fill in contents that others have, as far as gc has not taken them this very moment."""
    held = contents.hold(cursor, [row[3] for row in found])
    _fill(cursor, version_id, [(digest, algorithm, size, it) for digest, algorithm, size, it in found if it in held])


def fill(cursor: Cursor, version_id: int, entry: Missing, sha256: str) -> None:
    """Note the content, which this transaction holds, of every entry that has it."""
    _fill(cursor, version_id, [(entry.digest, entry.algorithm, entry.size, sha256)])


def _fill(cursor: Cursor, version_id: int, found: Iterable[tuple[str, str, int, str]]) -> None:
    cursor.many(
        "UPDATE artifact_entry SET sha256 = ? "
        "WHERE version_id = ? AND ref IS NULL AND digest = ? AND algorithm = ? AND size = ?",
        [(sha256, version_id, digest, algorithm, size) for digest, algorithm, size, sha256 in found],
    )


def _is_size(size: object) -> bool:
    return isinstance(size, int) and not isinstance(size, bool) and 0 <= size <= _MAX_SIZE


def _text(extra: dict[str, object]) -> str:
    return msgspec.json.encode(extra).decode() if extra else ""


def _entry(row: Row) -> Entry:
    path, digest, algorithm, size, ref, extra = row
    return Entry(
        path, digest, size=size, ref=ref, algorithm=algorithm, extra=msgspec.json.decode(extra) if extra else None
    )


def _facts(row: Row) -> EntryFacts:
    path, digest, algorithm, size, ref, sha256 = row
    return EntryFacts(path=path, digest=digest, algorithm=algorithm, size=size, ref=ref, sha256=sha256)
