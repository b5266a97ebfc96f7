"""Contents by what they are: each kept once in the blobs, however many files and artifacts have it.

The order of things is what keeps this right: bytes are stored under a key that nothing ever had, then one transaction
makes the content known and refers to it. Whoever begins to refer to a known content marks its row in that same
transaction (`hold`), and gc deletes rows first, only unmarked ones without a reference, and bytes afterwards. So a
reference always has its bytes, without a lock that outlives a transaction. A kill in between leaves bytes that no row
knows, which gc finds by their age.
"""

from __future__ import annotations

import hashlib
import itertools
import secrets
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import TypeVar

from strobe.artifact import digest as digests
from strobe.errors import NotInStore, StoreBusy, UsageError
from strobe.store.blobs import Blobs
from strobe.store.database import Cursor, Database, marks
from strobe.store.place import locate

T = TypeVar("T")
#: what refers to a content that is there now; runs in the transaction that makes it known
Change = Callable[[Cursor, "Content"], T]

_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class Content:
    """What some bytes are; `md5` is in base64."""

    sha256: str
    md5: str
    size: int
    #: by another algorithm that artifacts may have, if it was asked for
    other: tuple[str, str] = ("", "")

    def digest(self, algorithm: str) -> str:
        """Return the base64 digest by an algorithm of artifacts, nothing if it was not asked for."""
        if algorithm == digests.MD5:
            return self.md5
        return self.other[1] if self.other[0] == algorithm else ""


class Hashes:
    """The digests of a stream, as it goes by; `algorithm` is one that artifacts have."""

    def __init__(self, algorithm: str = digests.MD5) -> None:
        self._sha256 = hashlib.sha256()
        self._md5 = digests.new_hasher(digests.MD5)
        self._other = digests.new_hasher(algorithm) if algorithm != digests.MD5 else None
        self._algorithm = algorithm
        self._size = 0

    def update(self, piece: bytes | memoryview) -> None:
        self._sha256.update(piece)
        self._md5.update(piece)
        if self._other is not None:
            self._other.update(piece)
        self._size += len(piece)

    @classmethod
    def of(cls, body: bytes | memoryview, algorithm: str = digests.MD5) -> Content:
        """Return what some bytes are."""
        hashes = cls(algorithm)
        hashes.update(body)
        return hashes.content

    @property
    def content(self) -> Content:
        other = (self._algorithm, digests.encode(self._other.digest())) if self._other is not None else ("", "")
        return Content(self._sha256.hexdigest(), digests.encode(self._md5.digest()), self._size, other)


class Incoming:
    """A content on its way in; leaving the `with` without `Contents.keep` forgets it."""

    def __init__(self, blobs: Blobs, algorithm: str) -> None:
        self._hashes = Hashes(algorithm)
        self._draft = blobs.draft()

    def write(self, piece: bytes) -> None:
        self._draft.write(piece)
        self._hashes.update(piece)

    @property
    def content(self) -> Content:
        """What has come in until now."""
        return self._hashes.content

    def place(self, key: str) -> None:
        """Make a blob of it."""
        self._draft.commit(key)

    def __enter__(self) -> Incoming:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._draft.discard()


class Contents:
    """All contents of a store."""

    def __init__(self, database: Database, blobs: Blobs, clock: Callable[[], int] = time.time_ns) -> None:
        self.database = database
        self.blobs = blobs
        self.clock = clock

    def incoming(self, algorithm: str = digests.MD5) -> Incoming:
        """Return a place for a content that comes in piece by piece."""
        return Incoming(self.blobs, algorithm)

    def keep(self, incoming: Incoming, change: Change[T]) -> T:
        """Keep what came in, and refer to it by `change`; return what that returns."""
        content = incoming.content

        def reuse(cursor: Cursor) -> tuple[T] | None:
            return (change(cursor, content),) if self.hold(cursor, [content.sha256]) else None

        if (reused := self.database.write(reuse)) is not None:
            return reused[0]
        key = _new_key(content.sha256)
        incoming.place(key)
        return self._add(key, content, change)

    def join(
        self,
        parts: Sequence[str],
        expected: Content,
        watch: Callable[[], None],
        change: Change[T],
        algorithm: str = digests.MD5,
    ) -> T:
        """Keep the blobs `parts`, one after the other, as one content, and refer to it by `change`.

        It must have the sha256 and size of `expected`, else it is a UsageError and nothing has changed. That the store
        may know the content is no shortcut: the sender has to prove that it has it. `watch` is called now and then.
        """
        hashes = Hashes(algorithm)

        def pieces() -> Iterator[bytes]:
            for piece in itertools.chain.from_iterable(self.blobs.read(part) for part in parts):
                hashes.update(piece)
                watch()
                yield piece
            _check(hashes.content, expected)

        key = _new_key(expected.sha256)
        self.blobs.put(key, pieces(), size=expected.size)
        return self._add(key, hashes.content, change)

    def hold(self, cursor: Cursor, sha256s: Iterable[str]) -> set[str]:
        """Protect contents from gc until this transaction ends, and return those that are there.

        Before a transaction refers to a content it must have held it.
        """
        found: set[str] = set()
        for locked, some in _locked(sha256s, cursor.dialect.for_change):
            # A statement of its own: one that also changes them may find an older state than it has locked, and then
            # queues for its own lock behind another who waits for it.
            there = [row[0] for row in cursor.all(locked, *some)]
            if there:
                cursor.run(f"UPDATE blob SET held_ns = ? WHERE sha256 IN ({marks(len(there))})", self.clock(), *there)
            found.update(there)
        return found

    def hold_on(self, cursor: Cursor, sha256s: Iterable[str]) -> set[str]:
        """Do the same with contents that a transaction before this one has held; nobody waits for that."""
        found: set[str] = set()
        for locked, some in _locked(sha256s, cursor.dialect.for_reference):
            found.update(row[0] for row in cursor.all(locked, *some))
        return found

    def find(self, sha256: str) -> Content | None:
        """Return a content that is there."""
        row = self.database.read(lambda cursor: cursor.one("SELECT md5, size FROM blob WHERE sha256 = ?", sha256))
        return Content(sha256, *row) if row is not None else None

    def read(self, sha256: str, start: int = 0, stop: int | None = None) -> Iterator[bytes]:
        """Yield the bytes from `start` up to but without `stop`; NotInStore at once if there is no such content."""
        row = self.database.read(lambda cursor: cursor.one("SELECT key, size FROM blob WHERE sha256 = ?", sha256))
        if row is None:
            raise NotInStore(f"there is no content with the sha256 {sha256!r}")
        key, first = locate(row[0])
        end = row[1] if stop is None else min(stop, row[1])
        return self.blobs.read(key, first + start, first + max(start, end))

    def _add(self, key: str, content: Content, change: Change[T]) -> T:
        now = self.clock()

        def add(cursor: Cursor) -> tuple[str, T]:
            row = cursor.one(
                "INSERT INTO blob (sha256, md5, size, key, stored_ns, held_ns) VALUES (?, ?, ?, ?, ?, ?) "
                "ON CONFLICT (sha256) DO UPDATE SET held_ns = excluded.held_ns RETURNING key",
                *(content.sha256, content.md5, content.size, key, now, now),
            )
            assert row is not None
            return row[0], change(cursor, content)

        try:
            kept, result = self.database.write(add)
        except StoreBusy:
            raise  # nobody knows whether it was committed; if not, gc finds the bytes
        except BaseException:
            self.blobs.delete([key])
            raise
        if kept != key:  # another one has brought the same in meanwhile
            self.blobs.delete([key])
        return result


def check_sha256(text: str) -> str:
    """Return `text` if it's a sha256 in lower-case hex."""
    if len(text) != 64 or not set(text) <= set("0123456789abcdef"):
        raise UsageError(f"{text[:80]!r} is not a sha256; it has 64 digits 0-9 a-f")
    return text


def _check(found: Content, expected: Content) -> None:
    if found.size != expected.size:
        raise UsageError(f"{found.size} bytes came in, {expected.size} were announced; send it again")
    if found.sha256 != expected.sha256:
        raise UsageError(
            f"what came in has the sha256 {found.sha256}, {expected.sha256} was announced; "
            "it has changed meanwhile or on its way, begin the upload anew"
        )


def _locked(sha256s: Iterable[str], lock: str) -> Iterator[tuple[str, list[str]]]:
    """Yield SELECTs that lock contents, all in one order: two transactions do not wait for each other then."""
    wanted = sorted(set(sha256s))
    for start in range(0, len(wanted), _AT_ONCE):
        some = wanted[start : start + _AT_ONCE]
        yield f"SELECT sha256 FROM blob WHERE sha256 IN ({marks(len(some))}) ORDER BY sha256{lock}", some


def _new_key(sha256: str) -> str:
    return f"sha256/{sha256[:2]}/{sha256[2:]}-{secrets.token_hex(8)}"
