"""Bundles: many small files in one request, because a request for each would be most of the work.

A bundle is one file after the other: four bytes with the length of a head, the head (msgpack), then as many bytes as
the head says. The answer has a word for each. Sending one again changes nothing that the first has done.
"""

from __future__ import annotations

import struct
from typing import Annotated, Literal

import msgspec

from strobe.errors import CommError

_LENGTH = struct.Struct("<I")


class FileHead(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A file whose bytes follow. What is not about its content does not matter to an entry of an artifact."""

    path: str
    size: Annotated[int, msgspec.Meta(ge=0)]
    #: in hex
    sha256: str
    #: of a file of a run: live, now or end
    policy: str = "now"
    mtime_ns: Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)] | None = None
    #: the sha256 of the content that it replaces, `none` for none; none at all: whatever is there
    over: str | None = None


class FileWord(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one file of a bundle."""

    path: str
    #: stored; changed: something else is there than it was to replace; damaged: these are not the bytes of its sha256,
    #: send it again; refused: sending the same again is of no use
    status: Literal["stored", "changed", "damaged", "refused"]
    #: why it was not stored
    reason: str = ""
    #: if it has changed: the sha256 of what is there, `none` for nothing
    there: str = ""


class BundleReceipt(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to a bundle: a word for each file, in their order."""

    files: list[FileWord]


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(FileHead).decode


def encode_file(head: FileHead, content: bytes) -> bytes:
    """Return a file as a piece of a bundle; UnicodeEncodeError if its path is no text."""
    encoded = _encode(head)
    return b"".join((_LENGTH.pack(len(encoded)), encoded, content))


def decode_bundle(body: bytes, *, max_files: int) -> list[tuple[FileHead, memoryview]]:
    """Return the files of a bundle, their contents as views of it; raise CommError if it is none."""
    view = memoryview(body)
    found: list[tuple[FileHead, memoryview]] = []
    start = 0
    while start < len(view):
        if len(found) == max_files:
            raise CommError(f"more than {max_files} files in one bundle; send fewer at a time")
        if len(view) - start < _LENGTH.size:
            raise CommError(f"the bundle ends inside of file {len(found)}; send it again")
        (length,) = _LENGTH.unpack_from(view, start)
        start += _LENGTH.size
        try:
            head = _decode(view[start : start + length])
        except (msgspec.MsgspecError, ValueError, RecursionError) as error:
            raise CommError(f"file {len(found)} of the bundle has no head: {error}") from error
        start += length
        content = view[start : start + head.size]
        if len(content) < head.size:
            raise CommError(f"the bundle ends inside of {head.path[:200]!r}; send it again")
        found.append((head, content))
        start += head.size
    return found
