"""What a table column was declared to hold: a kind, whether cells may be missing, the classes of its numbers."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta
from decimal import Decimal
from typing import Any, NamedTuple

from strobe.data.cell import store_cell
from strobe.data.classes import Classes
from strobe.data.column import Column, join_kinds
from strobe.data.media import Media

_KINDS: tuple[tuple[type, str], ...] = (
    (bool, "boolean"),  # before int, which it is a kind of
    (int, "number"),
    (float, "number"),
    (str, "string"),
    (bytes, "bytes"),
    (list, "list"),
    (tuple, "list"),
    (set, "list"),
    (dict, "dict"),
    (date, "timestamp"),
    (timedelta, "duration"),
    (Decimal, "decimal"),
)
_NAMES = frozenset({kind for _, kind in _KINDS} | {"any", "int", "float", "ndarray"})
_NUMPY_KINDS = {
    "b": "boolean",
    "i": "number",
    "u": "number",
    "f": "number",
    "U": "string",
    "M": "timestamp",
    "O": "any",
}


class Rule(NamedTuple):
    """What was declared; a `kind` of None is found from the values."""

    kind: str | None = None
    is_optional: bool = True
    classes: Classes | None = None

    @property
    def may_mix(self) -> bool:
        return self.kind == "any"

    def check(self, column: Column, values: Sequence[Any]) -> None:
        """Raise TypeError or ValueError if a column is not what was declared."""
        if not self.is_optional and column.has_missing:
            row = next(row for row, value in enumerate(values) if value is None or value != value)
            raise TypeError(f"row {row}: is missing, but the column was declared with optional=False")
        if self.kind not in (None, "any") and join_kinds((str(self.kind), column.kind)) is None:
            raise TypeError(f"holds {column.kind} cells, but was declared as {self.kind}")
        if self.classes is not None:
            names = self.classes.names
            for row, value in enumerate(values):
                if value is not None and value not in names:
                    raise ValueError(f"row {row}: {value!r} is not one of the class ids {sorted(names)}")


def rule(dtype: Any, is_optional: bool) -> Rule:
    """Return the rule that a `dtype` argument stands for: a type, the name of a kind, or an example of a value."""
    if dtype is None:
        return Rule(None, is_optional)
    if isinstance(dtype, Classes):
        return Rule("number", is_optional, dtype)
    return Rule(_kind(dtype), is_optional)


def _kind(dtype: Any) -> str:
    if isinstance(dtype, str) and dtype in _NAMES:
        return dtype
    if dtype is object or dtype is Any:
        return "any"
    if isinstance(dtype, type):
        if issubclass(dtype, Media):
            return dtype._log_type
        for base, kind in _KINDS:
            if issubclass(dtype, base):
                return kind
        if dtype.__name__ == "ndarray":
            return "ndarray"
    if type(dtype).__module__.startswith("numpy") and hasattr(dtype, "kind"):
        return _NUMPY_KINDS.get(dtype.kind, "any")
    if isinstance(dtype, type):
        if hasattr(dtype, "dtype") and hasattr(dtype, "item"):  # numpy.float32 and its like
            return _kind(dtype().dtype)
        raise TypeError(
            f"a table column cannot be declared as {dtype.__qualname__}; see docs/data-types.md for the kinds"
        )
    kind, _ = store_cell(dtype, lambda media: {"_type": media._log_type})
    return "number" if kind in ("int", "float") else kind
