"""CRC-32C (Castagnoli), which TFRecord files are checked by. zlib has another polynomial, so it is computed here.

Two bytes at a time, by a table of 65,536 entries that takes some 20 ms to make, when first needed.
"""

from __future__ import annotations

import sys
from functools import lru_cache

_POLYNOMIAL = 0x82F63B78


@lru_cache(maxsize=1)
def _table() -> list[int]:
    small = []
    for byte in range(256):
        crc = byte
        for _ in range(8):
            crc = (crc >> 1) ^ (_POLYNOMIAL if crc & 1 else 0)
        small.append(crc)
    return [small[(small[pair & 0xFF] ^ (pair >> 8)) & 0xFF] ^ (small[pair & 0xFF] >> 8) for pair in range(1 << 16)]


def crc32c(data: bytes) -> int:
    """Return the checksum of `data`."""
    table = _table()
    crc = 0xFFFFFFFF
    even = len(data) & ~1
    pairs = memoryview(data)[:even].cast("H") if sys.byteorder == "little" else _little_pairs(data[:even])
    for pair in pairs:
        crc = table[(crc ^ pair) & 0xFFFF] ^ (crc >> 16)
    if even != len(data):
        crc = _last_byte(crc, data[-1], table)
    return crc ^ 0xFFFFFFFF


def masked_crc32c(data: bytes) -> int:
    """Return the checksum as TFRecord stores it: rotated and moved, so that a checksum of checksums is no trap."""
    crc = crc32c(data)
    return (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF


def _last_byte(crc: int, byte: int, table: list[int]) -> int:
    # The entry of a pair (0, x) is that of the single byte x.
    return table[((crc ^ byte) & 0xFF) << 8] ^ (crc >> 8)


def _little_pairs(data: bytes) -> list[int]:
    return [low | high << 8 for low, high in zip(data[::2], data[1::2], strict=True)]
