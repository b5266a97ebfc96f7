"""A small PNG encoder for 8-bit pixels, with nothing but zlib.

`encode` makes a finished file; `encode_stored` makes a valid file without compressing (a copy and two checksums),
and `recompress` turns such a file into a small one later. Pixels are rows of `channels` bytes: 1 grey, 2 grey and
alpha, 3 RGB, 4 RGBA. This module knows neither arrays nor files.
"""

from __future__ import annotations

import struct
import sys
import zlib
from typing import Any

SIGNATURE = b"\x89PNG\r\n\x1a\n"
_COLOUR = {1: 0, 2: 4, 3: 2, 4: 6}
_CHANNELS = {colour: channels for channels, colour in _COLOUR.items()}
_STORED_BLOCK = 65535
#: filtering holds some ten copies of the pixels for a moment
_MAX_FILTERED = 32 << 20


def encode(pixels: bytes, width: int, height: int, channels: int, *, level: int = 1) -> bytes:
    """Return the PNG of `pixels` (top row first), compressed with zlib's `level`."""
    rows = _rows(pixels, width, height, channels)
    return _file(width, height, channels, zlib.compress(rows, level))


def encode_stored(pixels: bytes, width: int, height: int, channels: int) -> bytes:
    """Return an uncompressed PNG of `pixels`: 0.1 % larger than they are, many times quicker to make."""
    rows = _rows(pixels, width, height, channels)
    return _file(width, height, channels, _stored_stream(rows))


def recompress(png: bytes, *, level: int = 6) -> bytes:
    """Return the PNG that `encode_stored` made, compressed; the smaller of the two."""
    width, height, channels = _header(png)
    rows = zlib.decompress(_chunk_data(png, b"IDAT"))
    smaller = _file(width, height, channels, zlib.compress(_filtered(rows, width, height, channels), level))
    return smaller if len(smaller) < len(png) else png


def _rows(pixels: bytes, width: int, height: int, channels: int) -> bytearray:
    """Put the filter byte (0: none) in front of each row."""
    stride = width * channels
    if len(pixels) != stride * height or not pixels or channels not in _COLOUR:
        raise ValueError(f"{len(pixels)} bytes are not {width}×{height} pixels of {channels} channels")
    rows = bytearray((stride + 1) * height)
    view = memoryview(pixels)
    for row in range(height):
        start = row * (stride + 1) + 1
        rows[start : start + stride] = view[row * stride : (row + 1) * stride]
    return rows


def _stored_stream(rows: bytearray) -> bytes:
    """Return a zlib stream of stored blocks; by hand, because zlib's level 0 takes five times as long."""
    parts: list[bytes | memoryview] = [b"\x78\x01"]
    view = memoryview(rows)
    for start in range(0, len(rows), _STORED_BLOCK):
        block = view[start : start + _STORED_BLOCK]
        is_last = start + _STORED_BLOCK >= len(rows)
        parts += (struct.pack("<BHH", is_last, len(block), len(block) ^ 0xFFFF), block)
    parts.append(struct.pack(">I", zlib.adler32(rows)))
    return b"".join(parts)


def _file(width: int, height: int, channels: int, stream: bytes) -> bytes:
    header = struct.pack(">IIBBBBB", width, height, 8, _COLOUR[channels], 0, 0, 0)
    return b"".join((SIGNATURE, *_chunk(b"IHDR", header), *_chunk(b"IDAT", stream), *_chunk(b"IEND", b"")))


def _chunk(name: bytes, content: bytes) -> tuple[bytes, bytes, bytes, bytes]:
    checksum = zlib.crc32(content, zlib.crc32(name))
    return struct.pack(">I", len(content)), name, content, struct.pack(">I", checksum)


def _header(png: bytes) -> tuple[int, int, int]:
    width, height, depth, colour = struct.unpack_from(">IIBB", png, 16)
    if png[:8] != SIGNATURE or depth != 8 or colour not in _CHANNELS:
        raise ValueError("not an 8-bit grey, RGB or RGBA PNG")
    return width, height, _CHANNELS[colour]


def _chunk_data(png: bytes, wanted: bytes) -> bytes:
    parts, offset = [], len(SIGNATURE)
    while offset + 8 <= len(png):
        length, name = struct.unpack_from(">I4s", png, offset)
        if name == wanted:
            parts.append(png[offset + 8 : offset + 8 + length])
        offset += length + 12
    return b"".join(parts)


def _filtered(rows: bytes, width: int, height: int, channels: int) -> bytes:
    """Predict each row from its neighbours the way that leaves the smallest differences.

    Photos shrink by half. Needs numpy, and takes it only if the process has it already: this is a bonus.
    """
    np: Any = sys.modules.get("numpy")
    if np is None or len(rows) > _MAX_FILTERED:
        return rows
    table = np.frombuffer(rows, np.uint8).reshape(height, width * channels + 1)
    x = table[:, 1:]
    left, up, corner = np.zeros_like(x), np.zeros_like(x), np.zeros_like(x)
    left[:, channels:] = x[:, :-channels]
    up[1:] = x[:-1]
    corner[1:, channels:] = x[:-1, :-channels]
    # PNG's filter types: 0 none, 1 left, 2 up, 4 Paeth
    candidates = {0: x, 1: x - left, 2: x - up, 4: x - _paeth(np, left, up, corner)}
    costs = np.stack([np.abs(c.view(np.int8).astype(np.int16)).sum(1) for c in candidates.values()])
    best = costs.argmin(0)
    result = np.empty_like(table)
    for index, (name, candidate) in enumerate(candidates.items()):
        chosen = best == index
        result[chosen, 0] = name
        result[chosen, 1:] = candidate[chosen]
    filtered: bytes = result.tobytes()
    return filtered


def _paeth(np: Any, left: Any, up: Any, corner: Any) -> Any:
    a, b, c = (part.astype(np.int16) for part in (left, up, corner))
    estimate = a + b - c
    to_left, to_up, to_corner = abs(estimate - a), abs(estimate - b), abs(estimate - c)
    is_left = (to_left <= to_up) & (to_left <= to_corner)
    return np.where(is_left, left, np.where(to_up <= to_corner, up, corner))
