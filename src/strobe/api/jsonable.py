"""Stored values as strict JSON can carry them: what `--json`, JSON lines and CSV cells are made of.

NaN and the infinities become the strings "NaN", "Infinity" and "-Infinity" (as wandb writes them), arrays
nested lists, bytes base64, moments ISO 8601. Integers keep all their digits. Nothing is dropped but what is nested
deeper than anybody reads: "…" stands for it, because JSON that is deeper than a reader's stack breaks the reader.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping
from datetime import date
from typing import Any

from strobe.journal.value import Array

MAX_DEPTH = 200

_FORMATS = {
    "b1": "?", "i1": "b", "u1": "B", "i2": "h", "u2": "H", "i4": "i", "u4": "I", "i8": "q", "u8": "Q",
    "f2": "e", "f4": "f", "f8": "d",
    "bool": "?", "int8": "b", "uint8": "B", "int16": "h", "uint16": "H", "int32": "i", "uint32": "I",
    "int64": "q", "uint64": "Q", "float16": "e", "float32": "f", "float64": "d",
}  # fmt: skip


def jsonable(value: Any, depth: int = 0) -> Any:
    """Return `value` built of dict, list, str, int, finite float, bool and None only."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else float_name(value)
    if isinstance(value, (Mapping, list, tuple)) and depth >= MAX_DEPTH:
        return "…"
    if isinstance(value, Mapping):
        return {str(key): jsonable(item, depth + 1) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [jsonable(item, depth + 1) for item in value]
    if isinstance(value, Array):
        return _array(value)
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, (bytes, bytearray, memoryview)):
        return _base64(bytes(value))
    return str(value)


def float_name(value: float) -> str:
    """Return the name of a float that JSON has no number for."""
    if math.isnan(value):
        return "NaN"
    return "Infinity" if value > 0 else "-Infinity"


def _array(array: Array) -> Any:
    code = _FORMATS.get(array.dtype.lstrip("<=|"))
    if code is None:  # complex, structured, big-endian: say what it is rather than guess
        return {"dtype": array.dtype, "shape": list(array.shape), "base64": _base64(array.data)}
    flat = [jsonable(item) for item in struct.unpack(f"<{len(array.data) // struct.calcsize(code)}{code}", array.data)]
    return _nest(flat, array.shape)


def _nest(flat: list[Any], shape: tuple[int, ...]) -> Any:
    if not shape:
        return flat[0]
    for length in reversed(shape[1:]):
        flat = [flat[start : start + length] for start in range(0, len(flat), length)] if length else []
    return flat


def _base64(data: bytes) -> str:
    import base64

    return base64.b64encode(data).decode("ascii")
