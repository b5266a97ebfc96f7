"""The history of a run in the forms that people ask for: rows, a data frame, a scan.

Full by default: what was logged is what comes back. Knows records and rows, never directories.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from strobe.api import rows as row_tools
from strobe.api.rows import Row
from strobe.errors import UsageError
from strobe.journal.value import Array

if TYPE_CHECKING:
    from strobe.api.record import Record

_PLAIN = {bool, int, float, str, type(None)}
_MIN, _MAX = -(2**63), 2**63 - 1


def read_rows(
    record: Record,
    *,
    keys: Sequence[str] | None = None,
    keep: str = row_tools.STEP,
    every: bool = False,
    attempt: int | None = None,
    stream: str = "default",
    first: int | None = None,
    last: int | None = None,
    page_size: int = 1000,
) -> Iterator[Row]:
    """Yield flattened rows by rising step; with `keys`, those that have one of them (all, if `every`).

    `first` and `last` spare reading other steps where that is possible; what comes may lie outside of them.
    """
    if isinstance(keys, str):
        raise UsageError(f"keys must be a list of names, got the string {keys!r}; write [{keys!r}]")
    if stream in ("system", "events"):
        found = (row_tools.flatten(row) for row in record.system_rows())
    elif stream == "default":
        if attempt is not None and attempt not in (known := [each.number for each in record.facts.attempts]):
            raise UsageError(f"the run has no attempt {attempt}; it has {known}")
        rows = record.rows(top_level(keys, keep), attempt=attempt, first=first, last=last, page_size=page_size)
        found = (row_tools.flatten(row) for row in rows)
    else:
        raise UsageError(f"stream must be 'default' or 'system', got {stream!r}")
    return row_tools.select(found, keys, keep=keep, every=every)


def thin(found: Iterator[Row], *, samples: int | None, x_axis: str) -> list[Row]:
    """Order by `x_axis` and take `samples` rows evenly; all when None."""
    ordered = row_tools.order_by(list(found), x_axis)
    return ordered if samples is None else row_tools.sample(ordered, samples)


def top_level(keys: Sequence[str] | None, keep: str) -> list[str] | None:
    """Return the logged keys that these, perhaps dotted, may lie under; None for all. The rest need not be merged."""
    if keys is None or all(key in row_tools.AXES for key in keys):
        return None
    named = [*keys, keep]
    prefixes = [key[:at] for key in named for at, char in enumerate(key) if char == "."]
    return list(dict.fromkeys([*named, *prefixes]))


def has_pandas() -> bool:
    return find_spec("pandas") is not None


def data_frame(found: Sequence[Row], *, keys: Sequence[str] | None = None) -> Any:
    """Return a pandas DataFrame; keys that were asked for are there even if no row has them."""
    import pandas as pd

    names = row_tools.columns(found)
    names += [key for key in keys or () if key not in names]
    return pd.DataFrame({name: _series(pd, [row.get(name) for row in found]) for name in names}, columns=names)


def _series(pd: Any, cells: list[Any]) -> Any:
    # Arrays and media records must stay one cell each, and so must integers that no column type holds; numbers with
    # gaps become floats with NaN, as people expect.
    kinds = set(map(type, cells))
    if Array in kinds:
        cells = [_as_numpy(cell) for cell in cells]
    is_plain = kinds <= _PLAIN and not (int in kinds and any(type(c) is int and not _MIN <= c <= _MAX for c in cells))
    return pd.Series(cells) if is_plain else pd.Series(cells, dtype=object)


def _as_numpy(cell: Any) -> Any:
    try:
        return cell.numpy() if isinstance(cell, Array) else cell
    except TypeError:  # a type that numpy does not have, such as bfloat16
        return cell
