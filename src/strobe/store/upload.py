"""An upload in parts, and one of its parts on its way in: sizes and counting, nothing of where they are kept."""

from __future__ import annotations

import hashlib
from types import TracebackType
from typing import Literal

import msgspec

from strobe.errors import UsageError
from strobe.store.blobs import Draft

#: what it will be: a file of a run, or an entry of an artifact's draft
Kind = Literal["run", "draft"]


class Upload(msgspec.Struct, frozen=True, kw_only=True):
    """A file that is coming in in parts; all have `part_bytes` bytes but the last."""

    id: str
    kind: Kind
    owner_id: int
    path: str
    size: int
    sha256: str
    part_bytes: int
    #: of the digest that its taker asks for
    algorithm: str
    mtime_ns: int | None
    policy: str
    #: the numbers of the parts that are there, from 0, in order
    parts: list[int]

    @property
    def num_parts(self) -> int:
        return -(-self.size // self.part_bytes)

    @property
    def missing(self) -> list[int]:
        there = set(self.parts)
        return [number for number in range(self.num_parts) if number not in there]

    def part_size(self, number: int) -> int:
        """Return how many bytes a part has; UsageError if there is no such part."""
        if not 0 <= number < self.num_parts:
            raise UsageError(f"part {number} of an upload that has {self.num_parts} parts, the first being 0")
        return min(self.part_bytes, self.size - number * self.part_bytes)


class Part:
    """A part on its way in; leaving the `with` without `Uploads.put_part` forgets it."""

    def __init__(self, draft: Draft, number: int, size: int) -> None:
        self.number = number
        self._draft = draft
        self._left = size
        self._size = size
        self._hash = hashlib.sha256()

    def write(self, piece: bytes) -> None:
        self._left -= len(piece)
        if self._left < 0:
            raise UsageError(f"part {self.number} has {self._size} bytes, more came in; send exactly those")
        self._hash.update(piece)
        self._draft.write(piece)

    def finish(self) -> str:
        """Return the sha256; UsageError if bytes are missing."""
        if self._left:
            raise UsageError(
                f"part {self.number} has {self._size} bytes, {self._left} of them are missing; send it again"
            )
        return self._hash.hexdigest()

    def place(self, key: str) -> None:
        self._draft.commit(key)

    def __enter__(self) -> Part:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._draft.discard()
