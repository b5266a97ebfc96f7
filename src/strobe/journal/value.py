"""Values as they lie in a row: msgpack, with extension types for what msgpack lacks.

    1  an integer beyond 64 bits, as decimal digits
    2  an array: [dtype, shape, little-endian bytes]
    3  a hole: the value was not computed yet when the row was written; a fill record supplies it

Everything else (floats with NaN and ±inf, 64-bit integers, strings, bytes, lists, maps, time-zone-aware datetimes) is
plain msgpack. Media are maps with a "_type" key. This module knows neither numpy nor torch.
"""

from __future__ import annotations

from typing import Any

import msgspec

BIGINT, ARRAY, HOLE = 1, 2, 3

_plain_encode = msgspec.msgpack.encode


class Array:
    """An n-dimensional array that needs no numpy to be carried around."""

    # Not a struct: msgspec would write one as a plain list.
    __slots__ = ("data", "dtype", "shape")

    def __init__(self, dtype: str, shape: tuple[int, ...], data: bytes) -> None:
        self.dtype = dtype
        self.shape = shape
        self.data = data

    def numpy(self) -> Any:
        """Return it as a numpy array."""
        import numpy as np

        return np.frombuffer(self.data, dtype=self.dtype).reshape(self.shape)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Array) and self._parts() == other._parts()

    def __hash__(self) -> int:
        return hash(self._parts())

    def __repr__(self) -> str:
        return f"Array({self.dtype!r}, {self.shape})"

    def _parts(self) -> tuple[str, tuple[int, ...], bytes]:
        return self.dtype, self.shape, self.data


class Hole:
    """Stands in a row for a value that follows in a fill record."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "HOLE"


HOLE_VALUE = Hole()
_HOLE_EXT = msgspec.msgpack.Ext(HOLE, b"")


def bigint(value: int) -> msgspec.msgpack.Ext:
    """Return the stored form of an integer beyond 64 bits."""
    return msgspec.msgpack.Ext(BIGINT, b"%d" % value)


def extension(value: Any) -> msgspec.msgpack.Ext | None:
    """Return the extension form of one of our own types, else None."""
    if isinstance(value, Array):
        return msgspec.msgpack.Ext(ARRAY, _plain_encode(value._parts()))
    if value is HOLE_VALUE:
        return _HOLE_EXT
    return None


def decode_extension(code: int, data: memoryview) -> Any:
    if code == BIGINT:
        return int(bytes(data))
    if code == ARRAY:
        return Array(*_decode_array(data))
    if code == HOLE:
        return HOLE_VALUE
    return msgspec.msgpack.Ext(code, bytes(data))


_decode_array = msgspec.msgpack.Decoder(tuple[str, tuple[int, ...], bytes]).decode
decode = msgspec.msgpack.Decoder(ext_hook=decode_extension, strict=False).decode


def _encode_own(value: Any) -> Any:
    ext = extension(value)
    if ext is not None:
        return ext
    if isinstance(value, int):  # a bool or int subclass, such as an IntEnum member
        return int(value)
    raise TypeError(f"cannot store a value of type {type(value).__module__}.{type(value).__qualname__}")


#: encodes values that were made plain before; Decimals become floats so that they can be charted
encode = msgspec.msgpack.Encoder(enc_hook=_encode_own, decimal_format="number").encode


def encode_text(item: Any) -> bytes:
    """Encode what may hold text that is no Unicode, such as the name of an undecodable file: it is spelled out."""
    try:
        return encode(item)
    except UnicodeEncodeError:
        return encode(_spelled_out(item))


def encode_decoded(item: Any) -> bytes:
    """Encode what `decode` gave: integers beyond 64 bits become what they were in the record."""
    try:
        return encode(item)
    except OverflowError:
        return encode(with_bigints(item))


def with_bigints(item: Any) -> Any:
    """Return a value in which integers beyond 64 bits have their stored form."""
    if isinstance(item, int):
        return item if -(2**63) <= item < 2**64 else bigint(item)
    if isinstance(item, dict):
        return {key: with_bigints(inner) for key, inner in item.items()}
    if isinstance(item, (list, tuple)):
        return [with_bigints(inner) for inner in item]
    if isinstance(item, msgspec.Struct):
        return msgspec.structs.replace(
            item, **{name: with_bigints(getattr(item, name)) for name in item.__struct_fields__}
        )
    return item


def _spelled_out(item: Any) -> Any:
    if isinstance(item, str):
        return item.encode("utf-8", "backslashreplace").decode()
    if isinstance(item, dict):
        return {_spelled_out(key): _spelled_out(inner) for key, inner in item.items()}
    if isinstance(item, (list, tuple)):
        return [_spelled_out(inner) for inner in item]
    if isinstance(item, msgspec.Struct):
        fields = {name: _spelled_out(getattr(item, name)) for name in item.__struct_fields__}
        return msgspec.structs.replace(item, **fields)
    return item
