"""One column of a table: its kind is found out at a glance, its values are packed where they are alike.

Looking at `set(map(type, column))` costs microseconds per thousand cells; cells are visited one by one only where
the types are not the plain ones. A stored column is either bytes (packed, little-endian) or a list:

    float    8-byte floats
    int      signed integers of the smallest width that fits: 1, 2, 4 or 8 bytes, which is len(bytes) / rows
    boolean  one byte each
    others, and columns with missing cells: a list of cells (strobe.data.cell); timestamps as their ISO texts

This module knows neither tables nor files.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from strobe.data.cell import StoreMedia, is_missing, load_cell, load_moment, store_cell

_EXACT = {float: "float", int: "int", str: "string", bool: "boolean", type(None): "none"}
_EXACT_TYPES = frozenset(_EXACT)
_NUMBERS = frozenset({"int", "float", "number", "decimal"})


class Column(NamedTuple):
    """A column ready to be written: its kind, whether cells are missing, and the packed bytes or list of cells."""

    kind: str
    has_missing: bool
    cells: bytes | list[Any]


def join_kinds(kinds: Iterable[str]) -> str | None:
    """Return the kind of a column that holds all of `kinds`, None if they do not go together."""
    found = {kind for kind in kinds if kind != "none"}
    if len(found) <= 1:
        return found.pop() if found else "none"
    return "number" if found <= _NUMBERS else None


def store_column(values: Sequence[Any], store_media: StoreMedia, *, may_mix: bool = False) -> Column:
    """Return the stored form of a column.

    Raises TypeError, its message starting with the row, for a cell that cannot be stored or, unless `may_mix`, is of
    another kind than those above it.
    """
    types = set(map(type, values))
    if not types <= _EXACT_TYPES and _is_numpy(types):
        values = [value.item() for value in values]
        types = set(map(type, values))
    names: list[str] | None = None
    if types <= _EXACT_TYPES and _is_encodable(values, types):
        cells, kinds = values, {_EXACT[found] for found in types}
    else:
        names, cells = _store_each(values, store_media)
        kinds = set(names)
    kind, has_missing = join_kinds(kinds), "none" in kinds
    if kind is None:
        names = names or [_EXACT[type(value)] for value in values]
        kind = _join_mixed(names, values, may_mix)
        has_missing = any(map(is_missing, values))
    return Column(kind, has_missing, _pack(kind, kinds, cells))


def _is_numpy(types: Iterable[type]) -> bool:
    np: Any = sys.modules.get("numpy")
    return np is not None and all(issubclass(found, (np.number, np.bool_)) for found in types)


def _is_encodable(values: Sequence[Any], types: set[type]) -> bool:
    """Tell whether msgpack can hold all of it: no integers beyond 64 bits, no text with lone surrogates."""
    try:
        if int in types:
            array("q", values if len(types) == 1 else [value for value in values if type(value) is int])
        if str in types:
            "".join(values if len(types) == 1 else [value for value in values if type(value) is str]).encode()
    except (OverflowError, UnicodeEncodeError):
        return False
    return True


def _store_each(values: Sequence[Any], store_media: StoreMedia) -> tuple[list[str], list[Any]]:
    names, cells = [], []
    for row, value in enumerate(values):
        try:
            name, cell = store_cell(value, store_media)
        except TypeError as exc:
            raise TypeError(f"row {row}: {exc}") from exc
        names.append(name)
        cells.append(cell)
    return names, cells


def _join_mixed(names: list[str], values: Sequence[Any], may_mix: bool) -> str:
    """Find the kind of a column whose NaNs may stand for missing cells, as pandas has it between strings."""
    seen = "none"
    for row, (name, value) in enumerate(zip(names, values, strict=True)):
        if is_missing(value):
            continue
        joined = join_kinds((seen, name))
        if joined is None:
            if may_mix:
                return "any"
            raise TypeError(
                f"row {row}: holds {name} ({value!r:.60}) where the rows above hold {seen};"
                " make them alike, or pass allow_mixed_types=True"
            )
        seen = joined
    return seen


def _pack(kind: str, kinds: set[str], cells: Sequence[Any]) -> bytes | list[Any]:
    if kinds == {"float"}:
        return _little(array("d", cells))
    if kinds == {"boolean"}:
        return bytes(cells)
    if kinds == {"int"}:
        return _pack_int(cells)
    if kind == "timestamp":
        return [cell["value"] if isinstance(cell, dict) else cell for cell in cells]
    return list(cells)


def _pack_int(cells: Sequence[Any]) -> bytes | list[Any]:
    for code in "bhiq":
        try:
            return _little(array(code, cells))
        except OverflowError:  # mostly found within the first few
            continue
        except TypeError:  # tagged, because it is beyond 64 bits
            break
    return list(cells)


def _little(packed: array[Any]) -> bytes:
    if sys.byteorder == "big":
        packed.byteswap()
    return packed.tobytes()


def load_column(kind: str, cells: Any, num_rows: int, load_media: Callable[[dict[str, Any]], Any]) -> list[Any]:
    """Return the values of a stored column."""
    if isinstance(cells, (bytes, bytearray, memoryview)):
        return _unpack(kind, bytes(cells), num_rows)
    if kind == "timestamp":
        return [load_moment(cell) if isinstance(cell, str) else load_cell(cell, load_media) for cell in cells]
    if set(map(type, cells)) <= _EXACT_TYPES:
        return list(cells)
    return [load_cell(cell, load_media) for cell in cells]


def _unpack(kind: str, packed: bytes, num_rows: int) -> list[Any]:
    if kind == "boolean":
        return list(map(bool, packed))
    width = len(packed) // num_rows if num_rows else 8
    code = "d" if kind == "float" else {1: "b", 2: "h", 4: "i", 8: "q"}.get(width)
    if kind not in ("float", "int") or code is None or len(packed) != num_rows * width:
        raise ValueError(f"{len(packed)} bytes are not a packed {kind} column of {num_rows} rows; the file is damaged")
    values = array(code, packed)
    if sys.byteorder == "big":
        values.byteswap()
    return values.tolist()
