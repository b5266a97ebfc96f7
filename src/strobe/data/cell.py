"""One cell of a table: what kind of value it is, and the plain form in which it is stored.

Plain are None, bool, int (64 bits), float, str, bytes, list and dict. The rest is a dict with a "_type":

    timestamp  {"value": ISO 8601}       date or datetime, with its zone or without
    duration   {"seconds": float}        timedelta
    decimal    {"value": digits}         Decimal
    int        {"value": digits}         an integer beyond 64 bits
    str        {"value": bytes}          text that is not valid Unicode (lone surrogates), as UTF-8 would have it
    ndarray    {"dtype", "shape", "data"}  an array, little-endian

Media cells are their own records. Nothing is rounded, nothing becomes its `repr`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from datetime import date, datetime, timedelta
from decimal import Decimal
from enum import Enum
from pathlib import PurePath
from typing import Any
from uuid import UUID

from strobe.data.array import is_array, to_numpy
from strobe.data.media import Media

_INT64 = 1 << 63

#: stores a media cell and returns its record
StoreMedia = Callable[[Media], dict[str, Any]]
Stored = tuple[str, Any]


def store_cell(value: Any, store_media: StoreMedia) -> Stored:
    """Return the kind of a value and its stored form; raises TypeError for what cannot be stored."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):  # pandas' missing values
        return "none", None
    if isinstance(value, bool):
        return "boolean", value
    if isinstance(value, Media):
        return value._log_type, store_media(value)
    if isinstance(value, Enum):
        return store_cell(value.value, store_media)
    for store in (_store_scalar, _store_moment):
        if (stored := store(value)) is not None:
            return stored
    if is_array(value):
        return _store_array(value, store_media)
    if isinstance(value, Mapping):
        return "dict", {_key(name): store_cell(part, store_media)[1] for name, part in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return "list", [store_cell(part, store_media)[1] for part in value]
    raise TypeError(f"a {type(value).__module__}.{type(value).__qualname__} cannot be stored in a table")


def _store_scalar(value: Any) -> Stored | None:
    if isinstance(value, int):
        value = int(value)
        return "int", value if -_INT64 <= value < _INT64 else {"_type": "int", "value": str(value)}
    if isinstance(value, float):
        return "float", float(value)
    if isinstance(value, str):
        text = str.__str__(value)
        return "string", text if _is_unicode(text) else {"_type": "str", "value": text.encode("utf-8", "surrogatepass")}
    if isinstance(value, (bytes, bytearray, memoryview)):
        return "bytes", bytes(value)
    if isinstance(value, Decimal):
        return "decimal", {"_type": "decimal", "value": str(value)}
    if isinstance(value, (PurePath, UUID)):
        return "string", str(value)
    return None


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _store_moment(value: Any) -> Stored | None:
    if isinstance(value, datetime):
        return "timestamp", {"_type": "timestamp", "value": value.isoformat(timespec="microseconds")}
    if isinstance(value, date):
        return "timestamp", {"_type": "timestamp", "value": value.isoformat()}
    if isinstance(value, timedelta):
        return "duration", {"_type": "duration", "seconds": value.total_seconds()}
    return None


def _store_array(value: Any, store_media: StoreMedia) -> Stored:
    """Store an array or tensor; one without dimensions is the number in it."""
    array = to_numpy(value, "A table cell that is an array")
    if array.dtype.kind in "mM":  # numpy's nanoseconds are whole numbers to Python, microseconds are times
        array = array.astype(f"{array.dtype.kind}8[us]")
    if array.ndim == 0 or array.dtype.kind in "OmM":
        plain = array.tolist()  # a long double stays one
        return store_cell(float(plain) if is_array(plain) else plain, store_media)
    if array.dtype.kind not in "biufcSU":
        raise TypeError(f"an array of {array.dtype} cannot be stored in a table")
    little = array.astype(array.dtype.newbyteorder("<"), copy=False)
    return "ndarray", {
        "_type": "ndarray",
        "dtype": little.dtype.str,
        "shape": list(array.shape),
        "data": little.tobytes(),
    }


def _key(name: Any) -> str:
    return name if type(name) is str and _is_unicode(name) else str(name).encode(errors="backslashreplace").decode()


def is_missing(value: Any) -> bool:
    """Tell whether a cell is empty, also in the way of pandas: a NaN between strings."""
    return value is None or (isinstance(value, float) and math.isnan(value))


def load_cell(stored: Any, load_media: Callable[[dict[str, Any]], Any]) -> Any:
    """Return what `store_cell` was given, or an equal value; media come from `load_media`."""
    if isinstance(stored, dict):
        name = stored.get("_type")
        if name in _LOADERS:
            return _LOADERS[name](stored)
        if isinstance(name, str):
            return load_media(stored)
        return {key: load_cell(part, load_media) for key, part in stored.items()}
    if isinstance(stored, list):
        return [load_cell(part, load_media) for part in stored]
    return stored


def load_moment(text: str) -> date:
    """Return the date or datetime that an ISO text names."""
    return date.fromisoformat(text) if len(text) == 10 else datetime.fromisoformat(text)


def load_array(stored: dict[str, Any]) -> Any:
    """Return a numpy array of its own."""
    from strobe.data.array import numpy

    flat = numpy("Reading an array").frombuffer(stored["data"], dtype=stored["dtype"])
    return flat.reshape(stored["shape"]).copy()


_LOADERS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "timestamp": lambda stored: load_moment(stored["value"]),
    "duration": lambda stored: timedelta(seconds=stored["seconds"]),
    "decimal": lambda stored: Decimal(stored["value"]),
    "int": lambda stored: int(stored["value"]),
    "str": lambda stored: stored["value"].decode("utf-8", "surrogatepass"),
    "ndarray": load_array,
}
