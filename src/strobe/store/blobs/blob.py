"""What a place for blobs must do.

A blob appears whole or not at all and never changes under its key; readers see no half-written one. Everything blocks:
the server calls it from worker threads. A fault of the disk or the network is a StoreError: StoreFull, StoreBusy where
the same again may work, NotInStore where there is no such blob.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Protocol

from strobe.errors import UsageError

#: bytes of one piece that `read` yields, at most
PIECE_BYTES = 1 << 20

_KEY = re.compile(r"[A-Za-z0-9_\-][A-Za-z0-9._\-]*(/[A-Za-z0-9_\-][A-Za-z0-9._\-]*)*")
_MAX_KEY = 512


@dataclass(frozen=True, slots=True)
class Blob:
    """What is known of a blob without reading it. `modified_ns` is by the clock of where it lies, maybe in seconds."""

    key: str
    size: int
    modified_ns: int


class Draft(Protocol):
    """Bytes that have no key yet, because it depends on what they are. Leaving the `with` uncommitted discards them."""

    def write(self, piece: bytes) -> None:
        """Append a piece."""

    def commit(self, key: str) -> None:
        """Make a blob of what was written."""

    def discard(self) -> None:
        """Forget what was written; nothing if it was committed."""

    def __enter__(self) -> Draft: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


class Blobs(Protocol):
    """Blobs by key."""

    def draft(self) -> Draft:
        """Return a place to collect bytes in."""

    def put(self, key: str, pieces: Iterable[bytes], *, size: int | None = None) -> None:
        """Store the pieces as one blob; if the iterable raises, nothing is stored. `size` is a hint for large ones."""

    def read(self, key: str, start: int = 0, stop: int | None = None) -> Iterator[bytes]:
        """Yield the bytes from `start` up to but without `stop` (none: the end); NotInStore at once if there is none.

        What lies beyond the end is left out.
        """

    def stat(self, key: str) -> Blob | None:
        """Return what is known of a blob, None if there is no such."""

    def delete(self, keys: Sequence[str]) -> None:
        """Delete blobs; one that is not there is no error."""

    def list(self, prefix: str = "") -> Iterator[Blob]:
        """Yield the blobs whose key begins with `prefix` (`""` or `"a/b/"`), in no promised order.

        Unfinished drafts of a directory are among them, under `incoming/`.
        """


def check_key(key: str) -> str:
    """Return `key` if it can name a blob: plain ASCII parts, none of which begins with a dot."""
    if len(key) > _MAX_KEY or not _KEY.fullmatch(key):
        raise UsageError(f"{key[:80]!r} can't be the key of a blob; use letters, digits, '.', '_', '-' and '/'")
    return key


def check_prefix(prefix: str) -> str:
    """Return `prefix` if it can begin keys: whole parts only, because object stores list no others."""
    if prefix and (not prefix.endswith("/") or not _KEY.fullmatch(prefix[:-1])):
        raise UsageError(f"{prefix[:80]!r} can't begin the keys of blobs; it must be parts of a key, each with its '/'")
    return prefix


def compose(blobs: Blobs, key: str, parts: Sequence[str], *, size: int | None = None) -> None:
    """Make one blob of others, which stay.

    The bytes come through this process: whoever composes has to read them anyway, to know that they are the right ones.
    """
    blobs.put(key, itertools.chain.from_iterable(blobs.read(part) for part in parts), size=size)
