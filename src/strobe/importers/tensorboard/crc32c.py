"""CRC-32C (Castagnoli), which TFRecord files are checked by. zlib has another polynomial, so it is computed here.

Byte by byte that takes more time than all the rest of reading. Records of one length, which most are, are therefore
computed side by side: with numpy, where it is installed, a column of bytes at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

_POLYNOMIAL = 0x82F63B78
_MASK_DELTA = 0xA282EAD8
#: fewer records of one length than this, or longer ones, are quicker one by one
_FEW = 32
_LONG = 4096


def crc32c(data: bytes) -> int:
    """Return the checksum of `data`."""
    table = _table()
    crc = 0xFFFFFFFF
    for byte in data:
        crc = table[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    return crc ^ 0xFFFFFFFF


def masked_crc32c(data: bytes) -> int:
    """Return the checksum as TFRecord stores it: rotated and moved, so that a checksum of checksums is no trap."""
    crc = crc32c(data)
    return (((crc >> 15) | (crc << 17)) + _MASK_DELTA) & 0xFFFFFFFF


def masked_crc32c_of(data: bytes, spans: Sequence[tuple[int, int]]) -> list[int]:
    """Return the masked checksums of the parts of `data` that the (start, length) pairs name, in their order."""
    np = _numpy() if len(spans) >= _FEW else None
    if np is None:
        return [masked_crc32c(data[start : start + length]) for start, length in spans]
    found = [0] * len(spans)
    by_length: dict[int, list[int]] = {}
    for number, (_, length) in enumerate(spans):
        by_length.setdefault(length, []).append(number)
    content = np.frombuffer(data, np.uint8)
    for length, numbers in by_length.items():
        if len(numbers) < _FEW or length > _LONG:
            sums = [masked_crc32c(data[spans[number][0] : spans[number][0] + length]) for number in numbers]
        else:
            sums = _side_by_side(np, content, np.array([spans[number][0] for number in numbers]), length)
        for number, checksum in zip(numbers, sums, strict=True):
            found[number] = checksum
    return found


def _side_by_side(np: Any, content: Any, starts: Any, length: int) -> list[int]:
    table = np.array(_table(), np.uint32)
    crc = np.full(len(starts), 0xFFFFFFFF, np.uint32)
    for place in range(length):
        crc = table[(crc ^ content[starts + place]) & 0xFF] ^ (crc >> 8)
    crc = ~crc
    sums: list[int] = (((crc >> 15) | (crc << 17)) + np.uint32(_MASK_DELTA)).tolist()
    return sums


@lru_cache(maxsize=1)
def _table() -> list[int]:
    table = []
    for byte in range(256):
        crc = byte
        for _ in range(8):
            crc = (crc >> 1) ^ (_POLYNOMIAL if crc & 1 else 0)
        table.append(crc)
    return table


@lru_cache(maxsize=1)
def _numpy() -> Any | None:
    try:
        import numpy as np
    except ImportError:
        return None
    return np
