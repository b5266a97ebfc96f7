"""Series as bytes that a browser wraps without copying: a JSON head, then packed columns at multiples of eight.

    8 bytes   the length of the head, unsigned, little endian
    head      JSON: {"series": [{..., "columns": {"step": ["f8", offset, count], ...}}]}, padded with spaces
    columns   little endian; offsets count from the start of the body

Knows neither numpy nor stores: columns come in as bytes and go out as `array`s.
"""

from __future__ import annotations

import struct
import sys
from array import array
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import msgspec

from strobe.errors import CommError

#: the content type
SERIES = "application/vnd.strobe.series"
#: "f8": 64-bit floats, "u4": unsigned 32-bit integers
ColumnType = Literal["f8", "u4"]
_CODES: Mapping[str, str] = {"f8": "d", "u4": "I"}
_LENGTH = struct.Struct("<Q")
_ALIGNMENT = 8


def encode_series(series: Sequence[tuple[Mapping[str, Any], Mapping[str, tuple[ColumnType, bytes]]]]) -> bytes:
    """Return the body for series given as (facts, columns)."""
    # Offsets are part of the head, whose length moves them: they are counted from its end first, then moved.
    heads: list[dict[str, Any]] = []
    pieces: list[bytes] = []
    place = 0
    for facts, columns in series:
        listed: dict[str, list[Any]] = {}
        for name, (kind, cells) in columns.items():
            listed[name] = [kind, place, len(cells) // int(kind[1])]
            padded = cells + b"\0" * (-len(cells) % _ALIGNMENT)
            pieces.append(padded)
            place += len(padded)
        heads.append({**facts, "columns": listed})
    size = _head_size(heads)
    for head in heads:
        for column in head["columns"].values():
            column[1] += size + _LENGTH.size
    text = msgspec.json.encode({"series": heads}).ljust(size)
    return b"".join((_LENGTH.pack(len(text)), text, *pieces))


def _head_size(heads: list[dict[str, Any]]) -> int:
    """Return a length that the head fits in with whatever offsets it gets."""
    slack = 20 * sum(len(head["columns"]) for head in heads)
    size = len(msgspec.json.encode({"series": heads})) + slack
    return size + -(size + _LENGTH.size) % _ALIGNMENT


def decode_series(body: bytes) -> list[tuple[dict[str, Any], dict[str, array[Any]]]]:
    """Return the series of a body as (facts, columns)."""
    try:
        (size,) = _LENGTH.unpack_from(body)
        head = msgspec.json.decode(body[_LENGTH.size : _LENGTH.size + size])
        return [(facts, {name: _column(body, *place) for name, place in facts.pop("columns").items()})
                for facts in head["series"]]  # fmt: skip
    except (struct.error, msgspec.MsgspecError, KeyError, TypeError, ValueError) as error:
        raise CommError(f"the answer is not a body of series: {error}") from error


def _column(body: bytes, kind: str, offset: int, count: int) -> array[Any]:
    cells = array(_CODES[kind])
    piece = body[offset : offset + count * cells.itemsize]
    if len(piece) != count * cells.itemsize:
        raise ValueError(f"a column of {count} ends after {len(piece)} bytes")
    cells.frombytes(piece)
    if sys.byteorder == "big":
        cells.byteswap()
    return cells
