"""The bytes of a page: columns of 64-bit numbers in as few bytes as their spread needs, exact for every value.

Integers become differences between neighbours less the smallest difference, so steps, sequence numbers and counts
mostly take nothing and times what their noise needs. Floats keep their bits less the low bytes that are zero in all
of them (a float32 has three). What is left is stored byte plane by byte plane: numpy copies a long plane faster than
many short rows. A checksum covers everything. Must not know what the columns mean.

    u8 version · u8 integer columns · u8 float columns · u8 zero · u32 rows · u32 crc32 of all but itself
    per column: i64 first value · i64 smallest difference · u8 first byte kept · u8 first byte above not kept
    the kept bytes of each column
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence
from itertools import groupby
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from strobe.errors import Error

Array: TypeAlias = "np.ndarray[Any, Any]"

_VERSION = 1
REMEDY = "restore it from a backup, or sync the run again"
_HEAD = struct.Struct("<BBBBII")
_COLUMN = np.dtype([("first", "<i8"), ("least", "<i8"), ("low", "u1"), ("high", "u1")])


class PageCorrupt(Error):
    """A stored page is not what was written, or was written by a newer Strobe."""


class Packed(NamedTuple):
    """Some columns of a page: their heads, and their kept bytes."""

    num_columns: int
    heads: bytes
    planes: bytes


def encode(ints: Array, floats: Array) -> bytes:
    """Pack a matrix of int64 rows and one of float64 rows, of equal length, into bytes."""
    (blob,) = encode_pages(ints[:, None], floats[:, None])
    return blob


def encode_pages(ints: Array, floats: Array) -> list[bytes]:
    """Pack several pages of equal length; both arrays are columns by pages by rows."""
    rows = ints.shape[2]
    return [assemble(rows, *packed) for packed in zip(pack_ints(ints), pack_floats(floats), strict=True)]


def pack_ints(ints: Array) -> list[Packed]:
    """Pack the integer columns of each page."""
    num_columns, num_pages, rows = ints.shape
    heads: Array = np.zeros((num_pages, num_columns), _COLUMN)
    planes: list[list[bytes]] = [[] for _ in range(num_pages)]
    if rows:
        heads["first"] = ints[:, :, 0].T
    if rows > 1:
        deltas = ints[:, :, 1:] - ints[:, :, :-1]  # wraps, and so does the sum that undoes it
        least = deltas.min(axis=2)
        spread = (deltas.max(axis=2) - least).view(np.uint64).T
        heads["least"] = least.T
        for page, column in np.argwhere(spread).tolist():
            high = _bytes_needed(int(spread[page, column]))
            heads["high"][page, column] = high
            planes[page].append(_planes(deltas[column, page] - least[column, page], 0, high))
    return _packed(heads, planes)


def pack_floats(floats: Array) -> list[Packed]:
    """Pack the float columns of each page."""
    num_columns, num_pages, rows = floats.shape
    heads: Array = np.zeros((num_pages, num_columns), _COLUMN)
    planes: list[list[bytes]] = [[] for _ in range(num_pages)]
    if rows:
        bits: Array = np.ascontiguousarray(floats).view(np.int64)
        used: Array = np.bitwise_or.reduce(bits, axis=2).T
        # Of the same number all the way nothing is kept but the first.
        is_constant: Array = used == np.bitwise_and.reduce(bits, axis=2).T
        heads["first"][is_constant] = bits[:, :, 0].T[is_constant]
        for page, column in np.argwhere(~is_constant).tolist():
            low = _zero_bytes(int(used[page, column]))
            heads["low"][page, column], heads["high"][page, column] = low, 8
            planes[page].append(_planes(bits[column, page], low, 8))
    return _packed(heads, planes)


def _packed(heads: Array, planes: list[list[bytes]]) -> list[Packed]:
    return [Packed(len(head), head.tobytes(), b"".join(kept)) for head, kept in zip(heads, planes, strict=True)]


def assemble(rows: int, ints: Packed, floats: Packed) -> bytes:
    """Return the page that packed columns of `rows` rows make."""
    head = _HEAD.pack(_VERSION, ints.num_columns, floats.num_columns, 0, rows, 0)[:8]
    crc = zlib.crc32(head)
    body = (ints.heads, floats.heads, ints.planes, floats.planes)
    for part in body:
        crc = zlib.crc32(part, crc)
    return b"".join((head, crc.to_bytes(4, "little"), *body))


def packed_ints(blob: bytes) -> bytes:
    """Return the bytes of a page that its integers are packed in: equal bytes, equal integers."""
    _, num_ints, num_floats, _, rows, _ = _HEAD.unpack_from(blob)
    heads = np.frombuffer(blob, _COLUMN, num_ints, _HEAD.size)
    begin = _HEAD.size + (num_ints + num_floats) * _COLUMN.itemsize
    length = max(rows - 1, 0) * int(heads["high"].sum())
    return blob[_HEAD.size : _HEAD.size + heads.nbytes] + blob[begin : begin + length]


class Layout(NamedTuple):
    """How a page is cut into columns; pages of one layout are read in the same calls."""

    num_ints: int
    num_floats: int
    rows: int
    #: of every column, the first byte that is kept and the first above that is not
    lows: bytes
    highs: bytes

    def size(self) -> int:
        kept = [high - low for low, high in zip(self.lows, self.highs, strict=True)]
        rows_of_ints = max(self.rows - 1, 0)  # the first is in the head
        ints, floats = sum(kept[: self.num_ints]), sum(kept[self.num_ints :])
        return _HEAD.size + len(kept) * _COLUMN.itemsize + rows_of_ints * ints + self.rows * floats


def layout_of(blob: bytes) -> Layout:
    """Return the layout of a page; raises PageCorrupt when a byte is missing or changed."""
    if len(blob) < _HEAD.size:
        raise PageCorrupt(
            f"page of {len(blob)} bytes, its head alone needs {_HEAD.size}; restore it from a backup or sync again"
        )
    version, num_ints, num_floats, _, rows, crc = _HEAD.unpack_from(blob)
    if version != _VERSION:
        raise PageCorrupt(
            f"page format {version}, this Strobe reads {_VERSION}; upgrade Strobe or restore from a backup"
        )
    seen = zlib.crc32(memoryview(blob)[_HEAD.size :], zlib.crc32(blob[:8]))
    if seen != crc:
        raise PageCorrupt(
            f"page checksum {seen:#010x}, written with {crc:#010x}; restore it from a backup or sync again"
        )
    width = _COLUMN.itemsize
    heads = blob[_HEAD.size : _HEAD.size + (num_ints + num_floats) * width]
    layout = Layout(num_ints, num_floats, rows, heads[width - 2 :: width], heads[width - 1 :: width])
    if layout.size() != len(blob):
        raise PageCorrupt(f"page of {len(blob)} bytes, its columns end at {layout.size()}; {REMEDY}")
    return layout


def decode(blob: bytes) -> tuple[Array, Array]:
    """Return the two matrices that `encode` was given; raises PageCorrupt when a byte is missing or changed."""
    ints, floats = decode_alike(layout_of(blob), [blob])
    return ints[:, 0], floats[:, 0]


def decode_alike(layout: Layout, blobs: Sequence[bytes], max_ints: int | None = None) -> tuple[Array, Array]:
    """Return the integers and the floats of pages of one layout, columns by pages by rows.

    Of the integers at most the first `max_ints` columns. Pages are so short that it is the calls that cost: here they
    are made once for all pages, and once for neighbouring columns that keep the same bytes.
    """
    num_ints, num_floats, rows, lows, highs = layout
    pages: Array = np.frombuffer(b"".join(blobs), np.uint8).reshape(len(blobs), -1)
    begin = _HEAD.size + (num_ints + num_floats) * _COLUMN.itemsize
    heads = np.ascontiguousarray(pages[:, _HEAD.size : begin]).view(_COLUMN).T
    ints: Array = np.zeros((num_ints if max_ints is None else min(max_ints, num_ints), len(blobs), rows), "<i8")
    floats: Array = np.zeros((num_floats, len(blobs), rows), "<i8")
    widths = list(zip(lows, highs, strict=True))
    begin = _fill(ints[:, :, 1:], pages, begin, widths[:num_ints])
    _fill(floats, pages, begin, widths[num_ints:])
    if rows:
        ints[:, :, 1:] += heads["least"][: len(ints)].astype("<i8")[:, :, None]
        ints[:, :, 0] = heads["first"][: len(ints)]
        np.add.accumulate(ints, axis=2, out=ints)
        for index, (low, high) in enumerate(widths[num_ints:]):
            if low == high:
                floats[index] = heads["first"][num_ints + index, :, None]
    return ints, floats.view("<f8")


def _fill(bits: Array, pages: Array, begin: int, widths: list[tuple[int, int]]) -> int:
    """Put the kept bytes of columns, from `begin` in each page on, into zeros; return where they end.

    `bits` may have fewer columns than `widths`: the bytes of the others are passed over.
    """
    num_pages, rows = bits.shape[1:]
    first = 0
    for (low, high), same in groupby(widths):
        end = first + len(list(same))
        wanted = bits[first:end]
        kept = high - low
        if wanted.size and kept:
            planes = pages[:, begin : begin + len(wanted) * kept * rows]
            octets: Array = wanted[..., None].view(np.uint8)
            if kept == 8:
                octets[:] = planes.reshape(num_pages, len(wanted), rows, 8).swapaxes(0, 1)
            else:
                planes = planes.reshape(num_pages, len(wanted), kept, rows).swapaxes(0, 1)
                for place in range(kept):  # a plane at a time is four times as quick as all in one assignment
                    octets[..., low + place] = planes[:, :, place]
        begin += (end - first) * kept * rows
        first = end
    return begin


def _zero_bytes(used: int) -> int:
    """Return how many low bytes of a number are zero; it has a bit that is not."""
    return ((used & -used).bit_length() - 1) // 8


def _bytes_needed(number: int) -> int:
    return (number.bit_length() + 7) // 8


def _planes(numbers: Array, low: int, high: int) -> bytes:
    octets: Array = np.ascontiguousarray(numbers).view(np.uint8)
    if high - low < 8:  # else the numbers are kept as they are, and are read without a loop over planes
        octets = octets.reshape(-1, 8)[:, low:high].T
    return octets.tobytes()
