"""The transaction log of wandb: how a `.wandb` file holds its records. Knows bytes and checksums, not their meaning.

    file  = ":W&B", 0xBEE1 u16, version u8, then chunks, in blocks of 32 KiB counted from the start of the file
    chunk = CRC-32 of kind and payload u32, length u16, kind u8 (little-endian), payload; never across two blocks
    kind  = 1 whole record, 2 first, 3 middle, 4 last part of one

A block whose rest is under 7 bytes is filled with zeros. A chunk that does not check out costs the rest of its block
at most, since the next block begins with a chunk again.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from typing import BinaryIO, NamedTuple
from zlib import crc32

from strobe.importers.loss import Loss

IDENT = b":W&B"
FILE_HEADER_SIZE = 7
_MAGIC = 0xBEE1
_VERSION = 0
_BLOCK = 32 << 10
_CHUNK = struct.Struct("<IHB")
_FULL, _FIRST, _MIDDLE, _LAST = range(1, 5)
_STARTS = tuple(crc32(bytes([kind])) for kind in range(_LAST + 1))


class _Chunk(NamedTuple):
    kind: int
    payload: bytes
    end: int


def describe_header(head: bytes) -> str | None:
    """Return what is wrong with the first bytes of a file, None if it is a log of the known version."""
    if len(head) < FILE_HEADER_SIZE:
        return f"has {len(head)} bytes, the header alone has {FILE_HEADER_SIZE}"
    ident, magic, version = struct.unpack_from("<4sHB", head)
    if ident != IDENT or magic != _MAGIC:
        return f"begins with {head[:FILE_HEADER_SIZE]!r}, a .wandb file with {IDENT!r}"
    return None if version == _VERSION else f"has version {version} of the format, this Strobe reads version {_VERSION}"


def read_records(stream: BinaryIO, lose: Callable[[Loss], None]) -> Iterator[bytes]:
    """Yield the records behind the file header of `stream`; what cannot be read goes to `lose`."""
    parts: list[bytes] = []
    parts_at = 0
    base, at = 0, FILE_HEADER_SIZE
    stream.seek(0)
    while block := stream.read(_BLOCK):
        is_last = len(block) < _BLOCK
        while len(block) - at >= _CHUNK.size or (is_last and at < len(block)):
            chunk = _read_chunk(block, at)
            if chunk is None:
                end = _resume(block, at)
                start = parts_at if parts else base + at
                lose(_judge(block, at, start, base + end, is_last=is_last))
                parts, at = [], end
                continue
            begins, goes_on = chunk.kind in (_FULL, _FIRST), chunk.kind in (_FIRST, _MIDDLE)
            if begins == bool(parts):
                # Either a record begins before the one before has ended, or one goes on that never began.
                lose(Loss(parts_at if parts else base + at, base + (at if parts else chunk.end), "half a record"))
                parts = []
            if begins:
                parts_at = base + at
            if begins or parts:
                parts.append(chunk.payload)
                if not goes_on:
                    yield b"".join(parts)
                    parts = []
            at = chunk.end
        base += len(block)
        at = 0
    if parts:
        lose(Loss(parts_at, base, "the file ends inside a record", is_torn=True))


def _read_chunk(block: bytes, at: int) -> _Chunk | None:
    """Return the chunk at `at`, None if there is none that checks out."""
    if len(block) - at < _CHUNK.size:
        return None
    checksum, length, kind = _CHUNK.unpack_from(block, at)
    end = at + _CHUNK.size + length
    if not _FULL <= kind <= _LAST or end > len(block):
        return None
    payload = block[at + _CHUNK.size : end]
    return _Chunk(kind, payload, end) if crc32(payload, _STARTS[kind]) == checksum else None


def _resume(block: bytes, at: int) -> int:
    """Return where reading can go on behind a chunk that does not check out: the next one, or the next block."""
    if len(block) - at >= _CHUNK.size:
        end: int = at + _CHUNK.size + _CHUNK.unpack_from(block, at)[1]
        # Only if another chunk checks out there can the length be believed.
        if end < len(block) and _read_chunk(block, end) is not None:
            return end
    return len(block)


def _judge(block: bytes, at: int, start: int, end: int, *, is_last: bool) -> Loss:
    rest = block[at:]
    if not rest.strip(b"\0"):
        return Loss(start, end, "zeros, as after a power failure")
    if is_last and (len(rest) < _CHUNK.size or at + _CHUNK.size + _CHUNK.unpack_from(block, at)[1] > len(block)):
        return Loss(start, end, "the file ends inside a record", is_torn=True)
    return Loss(start, end, "a record does not match its checksum")
