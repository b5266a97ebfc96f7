"""Read format and size of an image file from its first bytes, so that logging a file needs no imaging library."""

from __future__ import annotations

import struct
from typing import NamedTuple


class Picture(NamedTuple):
    """What the header of an image file says; the size is None where the format is not known well enough."""

    format: str | None
    width: int | None = None
    height: int | None = None


def identify(content: bytes) -> Picture:
    """Return what the bytes of an image file are; a format of None means none that is known here."""
    try:
        return _identify(content)
    except (struct.error, IndexError):
        return Picture(None)


def _identify(head: bytes) -> Picture:
    if head.startswith(b"\x89PNG\r\n\x1a\n"):
        return Picture("png", *struct.unpack_from(">II", head, 16))
    if head.startswith(b"\xff\xd8\xff"):
        return Picture("jpg", *_jpeg_size(head))
    if head[:6] in (b"GIF87a", b"GIF89a"):
        return Picture("gif", *struct.unpack_from("<HH", head, 6))
    if head.startswith(b"BM"):
        width, height = struct.unpack_from("<ii", head, 18)
        return Picture("bmp", width, abs(height))
    if head.startswith(b"RIFF") and head[8:12] == b"WEBP":
        return Picture("webp", *_webp_size(head))
    if head[:4] in (b"II*\x00", b"MM\x00*"):
        return Picture("tiff")
    if head.lstrip()[:5] in (b"<?xml", b"<svg ") and b"<svg" in head[:1024]:
        return Picture("svg")
    return Picture(None)


def _jpeg_size(head: bytes) -> tuple[int | None, int | None]:
    """Walk the markers up to the frame header (SOF0…15 without DHT, JPG and DAC)."""
    offset = 2
    while offset + 9 <= len(head):
        if head[offset] != 0xFF:
            return None, None
        marker = head[offset + 1]
        if marker == 0xFF:  # fill byte
            offset += 1
        elif marker == 0x01 or 0xD0 <= marker <= 0xD8:
            offset += 2
        elif 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack_from(">HH", head, offset + 5)
            return width, height
        else:
            offset += 2 + int.from_bytes(head[offset + 2 : offset + 4], "big")
    return None, None


def _webp_size(head: bytes) -> tuple[int | None, int | None]:
    kind = head[12:16]
    if kind == b"VP8 ":
        width, height = struct.unpack_from("<HH", head, 26)
        return width & 0x3FFF, height & 0x3FFF
    if kind == b"VP8L":
        bits = struct.unpack_from("<I", head, 21)[0]
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if kind == b"VP8X":
        return int.from_bytes(head[24:27], "little") + 1, int.from_bytes(head[27:30], "little") + 1
    return None, None
