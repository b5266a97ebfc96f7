"""What `log()` accepts: every value has a fate, none is dropped in silence (docs/logging.md has the table).

Two ways lead into a row. Numbers, strings and plain containers are encoded by msgspec as they are; its hook turns
numpy and torch scalars into numbers. Whatever the hook refuses sends the row to `Preparer`, which looks at each value:
media write their files, arrays keep dtype and shape, lazily computed ones become holes to be filled later.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from typing import TYPE_CHECKING, Any

import msgspec

from strobe.data.media import INLINE_LIMIT, Media, MediaFiles
from strobe.journal.value import HOLE_VALUE, Array, Hole, bigint, encode, extension
from strobe.sdk.outside import is_from_outside
from strobe.sdk.pending import find_pending, has_pending
from strobe.sdk.tensor import is_array, local_part, plain_array

if TYPE_CHECKING:
    from decimal import Decimal

_MAX_DEPTH = 64


class Unusual(Exception):
    """The fast way does not take this value."""


#: kinds of numpy whose `item()` is no number, or not the whole of it
_NOT_NUMBERS = {"ndarray", "longdouble", "memmap", "datetime64", "timedelta64"}

# -- the fast way ------------------------------------------------------------------------------------------------------

_converters: dict[type, Callable[[Any], Any]] = {}


def fast_hook(value: Any) -> Any:
    """Turn a scalar of numpy, torch or JAX into a number; raise Unusual for everything else."""
    convert = _converters.get(type(value))
    if convert is None:
        convert = _converters[type(value)] = _find_converter(type(value))
    return convert(value)


def _find_converter(kind: type) -> Callable[[Any], Any]:
    if kind is Array or kind is Hole:
        return extension
    for base, convert in ((int, int), (float, float), (str, str)):
        if issubclass(kind, base):
            return convert
    module = kind.__module__.partition(".")[0]
    if module == "numpy" and hasattr(kind, "item") and kind.__name__ not in _NOT_NUMBERS:
        return _numpy_scalar
    if module == "torch" and hasattr(kind, "numel") and not hasattr(kind, "to_local"):
        return _torch_scalar
    if module == "jaxlib" and hasattr(kind, "is_ready"):
        return _jax_scalar
    return _refuse


def _numpy_scalar(value: Any) -> Any:
    number = value.item()
    if isinstance(number, (float, int, str, bytes)):
        return number
    raise Unusual


def _torch_scalar(value: Any) -> Any:
    if value.numel() == 1 and not value.is_cuda:
        number = value.item()
        if not isinstance(number, complex):
            return number
    raise Unusual


def _jax_scalar(value: Any) -> Any:
    if value.ndim == 0 and not value.is_deleted() and value.is_ready():
        number = value.item()
        if not isinstance(number, complex):
            return number
    raise Unusual


def _refuse(value: Any) -> Any:
    raise Unusual


#: encodes rows on the fast way
encode_row = msgspec.msgpack.Encoder(enc_hook=fast_hook, decimal_format="number").encode


def is_encodable(data: Mapping[str, Any]) -> bool:
    """Tell whether the fast way takes all values of a row."""
    try:
        encode_row(tuple(data.values()))
    except Exception:  # noqa: BLE001  # a value of any library may raise anything, and each is an answer
        return False
    return True


# -- the careful way ---------------------------------------------------------------------------------------------------


class PreparedRow(msgspec.Struct):
    """A row made storable, what of it follows later, and what cannot be stored."""

    values: dict[str, Any]
    pending: dict[str, Any]
    faults: dict[str, Exception]


class Preparer:
    """Makes values storable one by one; `files` takes what is too big for a row."""

    def __init__(self, files: MediaFiles, *, note_big: Callable[[str, int], None] | None = None) -> None:
        self._files = files
        self._note_big = note_big

    def prepare(self, data: Mapping[str, Any], step: int) -> PreparedRow:
        """Return the row with every value plain; faults of single keys do not touch the others."""
        row = PreparedRow({}, {}, {})
        for name, value in data.items():
            key = str.__str__(name) if isinstance(name, str) else str(name)  # the text of numpy's strings and of enums
            try:
                if not isinstance(name, str):
                    raise TypeError(f"log() needs strings as keys, got {name!r} of type {type(name).__name__}")
                plain = self._plain(value, key, step, 0)
                if has_pending(plain):
                    row.pending[key] = plain
                    row.values[key] = HOLE_VALUE
                else:
                    row.values[key] = self._fit(plain, key, step)
            except (TypeError, ValueError, OverflowError, RuntimeError, OSError, ImportError) as error:
                if is_from_outside(error):
                    raise
                row.faults[key] = error
        return row

    def fit(self, resolved: Any, key: str, step: int) -> Any:
        """Return a value that came late in its storable form."""
        return self._fit(self._plain(resolved, key, step, 0), key, step)

    def _fit(self, plain: Any, key: str, step: int) -> Any:
        """Put a value that is too big for a row into a file."""
        if isinstance(plain, (int, float)) or plain is None:
            return plain
        encoded = encode(plain)
        if len(encoded) <= INLINE_LIMIT:
            return plain
        if self._note_big is not None:
            self._note_big(key, len(encoded))
        path = self._files.write("value", key, step, "msgpack", encoded)
        return {"_type": "value-file", "path": path, "size": len(encoded)}

    def _plain(self, value: Any, key: str, step: int, depth: int) -> Any:
        if depth > _MAX_DEPTH:
            raise TypeError(f"log(): {key!r} is nested deeper than {_MAX_DEPTH} levels (or contains itself)")
        if value is None or type(value) in {float, bool}:
            return value
        if isinstance(value, int):
            number = int(value)
            return number if -(2**63) <= number < 2**64 else bigint(number)
        if isinstance(value, float):
            return float(value)
        if isinstance(value, str):
            return _storable_text(str(value))
        if isinstance(value, Media):
            return value.record(self._files, key, step)
        if isinstance(value, Mapping):
            return {_map_key(name): self._plain(item, f"{key}.{name}", step, depth + 1) for name, item in value.items()}
        if isinstance(value, (list, tuple, set, frozenset)):
            return self._plain_list(list(value), key, step, depth)
        return self._plain_object(value, key, step, depth)

    def _plain_list(self, values: list[Any], key: str, step: int, depth: int) -> Any:
        if values and all(isinstance(item, Media) for item in values):
            from strobe.data import record_list

            return record_list(values, self._files, key, step)
        return [self._plain(item, key, step, depth + 1) for item in values]

    def _plain_object(self, value: Any, key: str, step: int, depth: int) -> Any:
        if isinstance(value, (bytes, bytearray, memoryview)):
            return bytes(value)
        if hasattr(value, "to_local") and hasattr(value, "placements"):
            value = local_part(value)
        if (pending := find_pending(value)) is not None:
            return pending
        if is_array(value):
            return plain_array(value, key)
        if isinstance(value, complex):
            return {"real": value.real, "imag": value.imag}
        if extension(value) is not None or isinstance(value, msgspec.msgpack.Ext):
            return value
        from strobe.data import coerce

        media = coerce(value)
        if media is not None:
            return media.record(self._files, key, step)
        if isinstance(value, (Sequence, Set)):
            return self._plain_list(list(value), key, step, depth)
        try:
            # Dates, Decimals, UUIDs, enums, dataclasses and structs: what msgspec knows without our help.
            return _builtins(value)
        except TypeError:
            raise TypeError(
                f"log(): {key!r} has a value of type {_type_name(value)}, which cannot be stored; give a number, "
                "string, list, dict, array or one of strobe's data types"
            ) from None


def _builtins(value: Any) -> Any:
    import datetime as dt
    from decimal import Decimal
    from numbers import Rational

    if isinstance(value, Decimal):
        return _decimal(value)
    if isinstance(value, dt.datetime) and type(value) is not dt.datetime:
        return _plain_time(value)
    if isinstance(value, dt.timedelta):
        return dt.timedelta(days=value.days, seconds=value.seconds, microseconds=value.microseconds)
    if isinstance(value, (dt.date, dt.time)):
        return value
    if isinstance(value, os.PathLike):
        return _storable_text(os.fsdecode(value))
    if isinstance(value, Rational):
        return float(value)
    return msgspec.to_builtins(value, builtin_types=(bytes, dt.datetime), enc_hook=_no_hook)


def _plain_time(value: Any) -> Any:
    """Return a time of a kind that msgspec does not know (pandas) as an ordinary one; None for what is no time."""
    import datetime as dt

    if value != value:
        return None
    return dt.datetime.combine(value.date(), value.timetz())


def _decimal(value: Decimal) -> Any:
    return (
        int(value) if value == value.to_integral_value() and abs(value) < 2**63 and value.is_finite() else float(value)
    )


def _no_hook(value: Any) -> Any:
    raise TypeError(type(value))


def _storable_text(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        # A lone surrogate (an undecodable file name, say) is spelled out rather than lost.
        return text.encode("utf-8", "backslashreplace").decode()
    return text


def _map_key(name: Any) -> str:
    return _storable_text(name if type(name) is str else str(name))


def _type_name(value: Any) -> str:
    kind = type(value)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def describe_faults(faults: Mapping[str, Exception], kept: Iterable[str]) -> str:
    """Return one line for all values of a row that could not be stored."""
    reasons = (
        str(error) if str(error).startswith("log()") else f"log(): {key!r} cannot be stored: {error}"
        for key, error in faults.items()
    )
    return "; ".join(reasons) + f" (the other {len(list(kept))} keys of the row were recorded)"
