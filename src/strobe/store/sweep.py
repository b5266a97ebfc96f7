"""gc of contents: what nobody refers to any more, what was given up, what a kill left behind.

Safe while others write (see strobe.store.contents): rows go first, in a transaction that looks for references under a
lock, bytes afterwards. Bytes that no row knows may belong to a writer who is about to commit; only their age tells.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from itertools import islice

from strobe.store.artifacts import Artifacts
from strobe.store.contents import Contents
from strobe.store.database import Cursor, marks
from strobe.store.place import PACKS, locate, unused
from strobe.store.references import UNREFERENCED
from strobe.store.uploads import Uploads

DAY_S = 24 * 3600.0

_AT_ONCE = 500


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
        # A pack goes with the last of what it holds; nothing is ever added to one, so who looks last sees that.
        blobs = {locate(place)[0] for place, _ in gone}
        contents.blobs.delete(contents.database.read(partial(unused, blobs)))
        count += len(gone)
        size += sum(bytes_ for _, bytes_ in gone)
        if not candidates:
            return count, size
        last = candidates[-1]


def _forget(cursor: Cursor, *, before_ns: int, after: str) -> tuple[list[str], list[tuple[str, int]]]:
    """Delete some rows that nobody refers to; return which were looked at, and (place, size) of the deleted."""
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
    for prefix, find in _ORPHANS.items():
        old = (blob for blob in contents.blobs.list(prefix) if blob.modified_ns < before_ns)
        while some := list(islice(old, _AT_ONCE)):
            sizes = {blob.key: blob.size for blob in some}
            orphans = contents.database.read(partial(find, sizes))
            contents.blobs.delete(orphans)
            count += len(orphans)
            size += sum(sizes[key] for key in orphans)
    return count, size


def _unknown_parts(keys: Iterable[str], cursor: Cursor) -> list[str]:
    keys = list(keys)
    rows = cursor.all(f"SELECT key FROM upload_part WHERE key IN ({marks(len(keys))})", *keys)
    known = {row[0] for row in rows}
    return [key for key in keys if key not in known]


def _ns(seconds: float) -> int:
    return int(seconds * 1e9)


#: what keys begin with, and how to find those that nothing knows; drafts of a directory are noted nowhere
_ORPHANS: dict[str, Callable[[Iterable[str], Cursor], list[str]]] = {
    "sha256/": unused,
    PACKS: unused,
    "parts/": _unknown_parts,
    "incoming/": lambda keys, cursor: list(keys),
}
