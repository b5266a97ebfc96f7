"""Many small contents at once: one blob (a pack) and one transaction for all of them that are new.

The rules are those of strobe.store.contents: bytes first, under a key that nothing ever had, then the rows; a content
that is known is held before it is referred to.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from strobe.errors import StoreBusy
from strobe.store.contents import Content, Contents
from strobe.store.database import Cursor
from strobe.store.place import in_pack, new_pack

T = TypeVar("T")

#: gc may take a content away between two looks; it does so once
_MAX_TRIES = 5


def keep_all(
    contents: Contents, found: Sequence[tuple[Content, bytes | memoryview]], change: Callable[[Cursor], T]
) -> T:
    """Keep contents, and refer to them by `change`, which runs when all of them are there; return what it returns."""
    by_sha256 = {content.sha256: (content, body) for content, body in found}

    def reuse(cursor: Cursor) -> tuple[set[str], T | None]:
        known = contents.hold(cursor, by_sha256)
        return known, change(cursor) if len(known) == len(by_sha256) else None

    for _ in range(_MAX_TRIES):
        known, result = contents.database.write(reuse)
        if len(known) == len(by_sha256):
            return result  # type: ignore[return-value]  # of `change`, whatever that is
        missing = [pair for sha256, pair in by_sha256.items() if sha256 not in known]
        kept = _pack(contents, missing, known, change)
        if kept is not None:
            return kept[0]
    raise StoreBusy("contents were taken away again and again while others came in; send them again")


def _pack(
    contents: Contents,
    missing: Sequence[tuple[Content, bytes | memoryview]],
    known: set[str],
    change: Callable[[Cursor], T],
) -> tuple[T] | None:
    """Store the missing ones; None if one of the known ones is gone meanwhile."""
    pack, now = new_pack(), contents.clock()
    # The empty content last: before another one the two would have the same place.
    ordered = sorted(missing, key=lambda pair: pair[0].size == 0)
    body = b"".join(body for _, body in ordered)
    contents.blobs.put(pack, [body], size=len(body))
    rows, start = [], 0
    for content, _ in ordered:
        rows.append((content.sha256, content.md5, content.size, in_pack(pack, start), now, now))
        start += content.size
    rows.sort()  # in one order, so that two of these do not wait for each other

    def add(cursor: Cursor) -> tuple[T] | None:
        if contents.hold_on(cursor, known) != known:
            return None
        cursor.many(
            "INSERT INTO blob (sha256, md5, size, key, stored_ns, held_ns) VALUES (?, ?, ?, ?, ?, ?) "
            # Another one has brought the same in meanwhile: its bytes are used, ours lie idle in the pack.
            "ON CONFLICT (sha256) DO UPDATE SET held_ns = excluded.held_ns",
            rows,
        )
        return (change(cursor),)

    try:
        kept = contents.database.write(add)
    except StoreBusy:
        raise  # nobody knows whether it was committed; if not, gc finds the bytes
    except BaseException:
        contents.blobs.delete([pack])
        raise
    if kept is None:
        contents.blobs.delete([pack])
    return kept
