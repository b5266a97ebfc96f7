"""gc of contents: what nobody refers to any more, what was given up, what a kill left behind.

Safe while others write (see strobe.store.contents): rows go first, in a transaction that looks for references under a
lock, bytes afterwards. Bytes that no row knows may belong to a writer who is about to commit; only their age tells.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import islice

from strobe.store.artifacts import Artifacts
from strobe.store.blobs import Blob
from strobe.store.contents import Contents
from strobe.store.database import Cursor, marks
from strobe.store.references import UNREFERENCED
from strobe.store.uploads import Uploads

DAY_S = 24 * 3600.0

_AT_ONCE = 500
#: where keys are noted, by what they begin with; drafts of a directory are noted nowhere
_NOTED = {"sha256/": "blob", "parts/": "upload_part", "incoming/": None}


@dataclass(frozen=True, slots=True)
class Swept:
    """What gc has taken away; `size_bytes` is of contents and orphans together."""

    contents: int = 0
    orphans: int = 0
    size_bytes: int = 0
    uploads: int = 0
    drafts: int = 0
    expired: int = 0
    purged: int = 0


def sweep(
    contents: Contents,
    uploads: Uploads,
    artifacts: Artifacts,
    *,
    grace_s: float = DAY_S,
    orphan_s: float = DAY_S,
    abandoned_s: float = 7 * DAY_S,
    undo_s: float = 7 * DAY_S,
) -> Swept:
    """Take away what is not needed.

    `grace_s`: contents to which somebody began to refer lately stay; `orphan_s`: so do bytes without a row;
    `abandoned_s`: uploads and drafts for which nothing came that long are given up; `undo_s`: how long a deleted
    version can be brought back.
    """
    now = contents.clock()
    expired = artifacts.versions.expire(now)
    purged = artifacts.versions.purge(now - _ns(undo_s))
    drafts = artifacts.drafts.expire(now - _ns(abandoned_s))
    given_up = uploads.expire(now - _ns(abandoned_s))
    num_contents, contents_bytes = _sweep_contents(contents, now - _ns(grace_s))
    num_orphans, orphans_bytes = _sweep_orphans(contents, now - _ns(orphan_s))
    return Swept(
        contents=num_contents,
        orphans=num_orphans,
        size_bytes=contents_bytes + orphans_bytes,
        uploads=given_up,
        drafts=drafts,
        expired=expired,
        purged=purged,
    )


def _sweep_contents(contents: Contents, before_ns: int) -> tuple[int, int]:
    count = size = 0
    last = ""
    while True:
        candidates, gone = contents.database.write(partial(_forget, before_ns=before_ns, after=last))
        contents.blobs.delete([key for key, _ in gone])
        count += len(gone)
        size += sum(bytes_ for _, bytes_ in gone)
        if not candidates:
            return count, size
        last = candidates[-1]


def _forget(cursor: Cursor, *, before_ns: int, after: str) -> tuple[list[str], list[tuple[str, int]]]:
    """Delete some rows that nobody refers to; return which were looked at, and (key, size) of the deleted."""
    rows = cursor.all(
        f"SELECT sha256 FROM blob WHERE sha256 > ? AND held_ns < ? AND {UNREFERENCED} "
        f"ORDER BY sha256 LIMIT {_AT_ONCE}{cursor.dialect.for_update}",
        *(after, before_ns),
    )
    candidates = [row[0] for row in rows]
    if not candidates:
        return [], []
    # Asked once more now that nobody can begin to refer to them: the first look may have been before a commit.
    gone = cursor.all(
        f"DELETE FROM blob WHERE sha256 IN ({marks(len(candidates))}) AND held_ns < ? AND {UNREFERENCED} "
        "RETURNING key, size",
        *(*candidates, before_ns),
    )
    return candidates, [(key, size) for key, size in gone]


def _sweep_orphans(contents: Contents, before_ns: int) -> tuple[int, int]:
    count = size = 0
    for prefix, table in _NOTED.items():
        old = (blob for blob in contents.blobs.list(prefix) if blob.modified_ns < before_ns)
        while some := list(islice(old, _AT_ONCE)):
            orphans = _without_row(contents, table, some)
            contents.blobs.delete([blob.key for blob in orphans])
            count += len(orphans)
            size += sum(blob.size for blob in orphans)
    return count, size


def _without_row(contents: Contents, table: str | None, found: list[Blob]) -> list[Blob]:
    if table is None:
        return found
    sql = f"SELECT key FROM {table} WHERE key IN ({marks(len(found))})"
    keys = [blob.key for blob in found]
    known = {row[0] for row in contents.database.read(lambda cursor: cursor.all(sql, *keys))}
    return [blob for blob in found if blob.key not in known]


def _ns(seconds: float) -> int:
    return int(seconds * 1e9)
