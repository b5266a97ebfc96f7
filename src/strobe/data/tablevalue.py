"""Hand a table's cells to other libraries, and compare them: the parts of Table that need numpy or pandas."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from strobe.data.array import is_array, numpy
from strobe.data.media import Media
from strobe.errors import MissingExtra


def to_array(values: list[Any]) -> Any:
    """Return a column as an array: of numbers or texts where they are alike, else of objects."""
    np = numpy("get_column(convert_to='numpy')")
    shapes = {value.shape if is_array(value) else None for value in values}
    is_ragged = any(isinstance(value, (Media, list, dict)) for value in values) or len(shapes) > 1
    if not is_ragged:
        return np.array(values)
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def to_dataframe(columns: Sequence[Any], rows: list[list[Any]]) -> Any:
    """Return rows as a pandas DataFrame."""
    try:
        import pandas as pd
    except ImportError as exc:
        raise MissingExtra("get_dataframe needs pandas; run: pip install pandas") from exc
    return pd.DataFrame(rows, columns=list(columns))


def are_equal(left: Any, right: Any) -> bool:
    """Compare cells, rows or tables of them; NaN equals NaN here, and arrays are equal when all of them is."""
    if left is right:
        return True
    if isinstance(left, (list, tuple)) and isinstance(right, (list, tuple)):
        return len(left) == len(right) and all(map(are_equal, left, right))
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(are_equal(left[key], right[key]) for key in left)
    if is_array(left) or is_array(right):
        np = numpy("Comparing arrays")
        first, second = np.asarray(left), np.asarray(right)
        return bool(np.array_equal(first, second, equal_nan=first.dtype.kind in "fc" and second.dtype.kind in "fc"))
    if left != left and right != right:
        return True
    return bool(left == right)
