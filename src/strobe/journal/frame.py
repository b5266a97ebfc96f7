"""Frames: how records lie in a segment file. Pure functions over bytes; nothing here knows what a payload means.

    file  = MAGIC (8 bytes: "STROBEJ", version) + frames
    frame = marker u8, kind u8, length u32, ~length u32, sequence u32, checksum u32 (little-endian) + payload

The checksum is a CRC-32 of the payload that starts from the sequence number mixed with the kind, so it covers both.
The length is stored with its complement: a flipped bit in it is seen at once, and only a *whole* header with a short
payload counts as torn. So a truncated file is a clean prefix, and anything else that is wrong is damage.
"""

from __future__ import annotations

import struct
from typing import NamedTuple
from zlib import crc32

VERSION = 1
MAGIC = b"STROBEJ" + bytes([VERSION])

MARKER = 0xA5
HEADER, KEYS, ROW, FILL, EVENT, SEAL = range(1, 7)
KINDS = {HEADER: "header", KEYS: "keys", ROW: "row", FILL: "fill", EVENT: "event", SEAL: "seal"}

#: distinct start values, so that a flipped bit in `kind` breaks the checksum
SEEDS = tuple((0x9E3779B9 * (kind + 1)) & 0xFFFFFFFF for kind in range(256))

_FRAME = struct.Struct("<BBIIII")
FRAME_SIZE = _FRAME.size
pack_frame = _FRAME.pack
_unpack_frame = _FRAME.unpack_from
_MASK = 0xFFFFFFFF


class Frame(NamedTuple):
    """A record whose checksum held."""

    offset: int
    kind: int
    sequence: int
    payload: bytes


class Damage(NamedTuple):
    """Bytes `start` to `end` of a segment that are not what was written."""

    start: int
    end: int
    reason: str


class Scan(NamedTuple):
    """What a stretch of bytes holds. Bytes from `stop` on are not yet a whole frame: read them again with more."""

    frames: list[Frame]
    damages: list[Damage]
    stop: int
    #: why `stop` is not the end: "" (nothing left), "torn" (a frame cut short) or "damage" (no frame found after it)
    rest: str


def encode_frame(kind: int, sequence: int, payload: bytes) -> bytes:
    """Return one frame."""
    length = len(payload)
    checksum = crc32(payload, sequence ^ SEEDS[kind])
    return pack_frame(MARKER, kind, length, length ^ _MASK, sequence, checksum) + payload


def scan(data: bytes, offset: int = 0, base: int = 0) -> Scan:
    """Read frames from `data[offset:]`; offsets in the answer have `base` added."""
    frames: list[Frame] = []
    damages: list[Damage] = []
    size = len(data)
    while size - offset >= FRAME_SIZE:
        marker, kind, length, complement, sequence, checksum = _unpack_frame(data, offset)
        if marker == MARKER and length ^ complement == _MASK:
            end = offset + FRAME_SIZE + length
            if end > size:
                return Scan(frames, damages, base + offset, "torn")
            payload = data[offset + FRAME_SIZE : end]
            if crc32(payload, sequence ^ SEEDS[kind]) == checksum:
                frames.append(Frame(base + offset, kind, sequence, payload))
                offset = end
                continue
            reason = f"checksum of a {KINDS.get(kind, 'strange')} record does not match"
        else:
            reason = "no record begins here"
        found = _resync(data, offset + 1)
        if found is None:
            return Scan(frames, damages, base + offset, "damage")
        damages.append(Damage(base + offset, base + found, reason))
        offset = found
    return Scan(frames, damages, base + offset, _judge_remainder(data[offset:]))


def _judge_remainder(rest: bytes) -> str:
    if not rest:
        return ""
    # Fewer bytes than a header: torn if they can be the start of one, else somebody wrote something else there.
    whole = len(rest) >= 10
    if rest[0] != MARKER or (
        whole and int.from_bytes(rest[2:6], "little") ^ int.from_bytes(rest[6:10], "little") != _MASK
    ):
        return "damage"
    return "torn"


def _resync(data: bytes, offset: int) -> int | None:
    """Return where the next whole, valid frame begins, or None."""
    size = len(data)
    while (offset := data.find(MARKER, offset)) >= 0 and size - offset >= FRAME_SIZE:
        _, kind, length, complement, sequence, checksum = _unpack_frame(data, offset)
        end = offset + FRAME_SIZE + length
        if (
            length ^ complement == _MASK
            and end <= size
            and crc32(data[offset + FRAME_SIZE : end], sequence ^ SEEDS[kind]) == checksum
        ):
            return offset
        offset += 1
    return None
