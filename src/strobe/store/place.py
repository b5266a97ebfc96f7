"""Where a content lies: in a blob of its own, or in one that it shares with others that came with it, a pack.

    sha256/ab/cd…-…     a blob of its own
    packs/ab/cd…:1234   1,234 bytes after the start of the pack packs/ab/cd…

A thousand small files then cost one blob, on a disk as in an object store. All rows of a pack are written in one
transaction, and no other ever joins them: it can go when the last of them has.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable

from strobe.store.database import Cursor

PACKS = "packs/"
_MARK = ":"
#: the character after the mark: the places in a pack lie between the two
_PAST = ";"


def new_pack() -> str:
    """Return the key of a pack that nobody has yet."""
    token = secrets.token_hex(16)
    return f"{PACKS}{token[:2]}/{token[2:]}"


def in_pack(pack: str, start: int) -> str:
    """Return the place `start` bytes into a pack."""
    return f"{pack}{_MARK}{start}"


def locate(place: str) -> tuple[str, int]:
    """Return the key of the blob, and where in it the content starts."""
    key, _, start = place.partition(_MARK)
    return key, int(start or 0)


def unused(keys: Iterable[str], cursor: Cursor) -> list[str]:
    """Return those of these blobs that hold no content that is known."""
    found = []
    for key in sorted(set(keys)):
        if key.startswith(PACKS):
            row = cursor.one("SELECT 1 FROM blob WHERE key >= ? AND key < ? LIMIT 1", key + _MARK, key + _PAST)
        else:
            row = cursor.one("SELECT 1 FROM blob WHERE key = ?", key)
        if row is None:
            found.append(key)
    return found
