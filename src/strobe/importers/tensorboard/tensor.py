"""Tensors as TensorBoard's newer summaries hold their values: numbers or byte strings, flat, and their shape."""

from __future__ import annotations

import struct
from math import prod
from typing import Any

from strobe.importers.protobuf import Message, WireError
from strobe.importers.tensorboard import fields

_STRING, _BFLOAT16, _HALF = 7, 14, 19
#: dtype → (struct's code for the packed bytes, number of the repeated field, its code or "v" for varints)
_KINDS = {
    1: ("f", 5, "f"),  # float
    2: ("d", 6, "d"),  # double
    3: ("i", 7, "v"),  # int32
    4: ("B", 7, "v"),  # uint8
    5: ("h", 7, "v"),  # int16
    6: ("b", 7, "v"),  # int8
    9: ("q", 10, "v"),  # int64
    10: ("?", 11, "v"),  # bool
    _BFLOAT16: ("H", 13, "v"),
    17: ("H", 7, "v"),  # uint16
    _HALF: ("e", 13, "v"),
    22: ("I", 16, "v"),  # uint32
    23: ("Q", 17, "v"),  # uint64
}
#: more than any summary has; a shape that says so is damaged or made up
_MAX_VALUES = 1 << 24


class Tensor:
    """The values of a tensor in C order."""

    def __init__(self, message: Message) -> None:
        shape = message.message(fields.Tensor.SHAPE)
        sizes = (
            []
            if shape is None
            else [dim.integer(fields.Tensor.SIZE) for dim in shape.messages(fields.Tensor.DIMENSION)]
        )
        self.shape = tuple(sizes)
        self.dtype = message.integer(fields.Tensor.DTYPE)
        count = prod(sizes)
        if not 0 <= count <= _MAX_VALUES:
            raise WireError(f"a tensor has the shape {self.shape}")
        self.values: list[Any] = self._read(message, count)
        if len(self.values) < count and self.values:
            self.values += [self.values[-1]] * (count - len(self.values))  # a constant is written once
        if len(self.values) != count:
            raise WireError(f"a tensor of shape {self.shape} has {len(self.values)} values")

    @property
    def is_text(self) -> bool:
        return self.dtype == _STRING

    def rows(self) -> list[list[Any]]:
        """Return the values of a tensor of two dimensions row by row."""
        if len(self.shape) != 2:
            raise WireError(f"a tensor has the shape {self.shape} where two dimensions were expected")
        width = self.shape[1]
        return [self.values[start : start + width] for start in range(0, len(self.values), width)] if width else []

    def _read(self, message: Message, count: int) -> list[Any]:
        if self.is_text:
            return list(message.all_bytes(fields.Tensor.STRINGS))
        kind = _KINDS.get(self.dtype)
        if kind is None:
            raise WireError(f"a tensor has values of type {self.dtype}, which summaries have not")
        code, number, repeated = kind
        packed = message.content(fields.Tensor.CONTENT)
        if packed:
            try:
                values = list(struct.unpack(f"<{count}{code}", packed))
            except struct.error as exc:
                raise WireError(f"{len(packed)} bytes are no tensor of shape {self.shape}") from exc
        else:
            values = message.numbers_of(number, repeated)
            if self.dtype == _HALF:
                values = [struct.unpack("<e", struct.pack("<H", bits & 0xFFFF))[0] for bits in values]
        if self.dtype == _BFLOAT16:
            values = [struct.unpack("<f", struct.pack("<I", (bits & 0xFFFF) << 16))[0] for bits in values]
        return values
