"""Turn what a Table is made from (lists, arrays, DataFrames) into column names and cells of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from strobe.data.array import is_array, library, to_numpy
from strobe.data.tablefile import ColumnName
from strobe.data.tablerows import TableRows

DEFAULT_COLUMNS: tuple[ColumnName, ...] = ("Input", "Output", "Expected")


def is_dataframe(source: object) -> bool:
    """Tell whether it is a DataFrame of pandas or polars."""
    return library(source) in ("pandas", "polars") and hasattr(source, "columns")


def columns_of(columns: Any, source: Any) -> list[ColumnName]:
    """Return the names of the columns: those given, a DataFrame's own, else wandb's three."""
    if is_dataframe(source):
        return [name if type(name) in (str, int) else str(name) for name in source.columns]
    if columns is None:
        return list(DEFAULT_COLUMNS)
    if isinstance(columns, (str, bytes, Mapping)) or not hasattr(columns, "__iter__"):
        raise TypeError(f"columns must be a list of names, got {columns!r:.80}")
    names = list(columns)
    for name in names:
        if not isinstance(name, (str, int)) or isinstance(name, bool):
            raise TypeError(f"a column's name must be text or a whole number, got {name!r}")
    return names


def rows_of(source: Any, columns: Sequence[ColumnName]) -> TableRows:
    """Return the cells of a source; raises if a row has not a cell for each column."""
    if source is None:
        return TableRows(len(columns))
    if is_dataframe(source):
        return _from_dataframe(source)
    if is_array(source):
        array = to_numpy(source, "A table from an array")
        if array.ndim != 2:
            raise ValueError(f"a table needs an array of 2 dimensions, rows and columns, got shape {array.shape}")
        source = array.tolist()
    if isinstance(source, (str, bytes, Mapping)) or not hasattr(source, "__iter__"):
        raise TypeError(f"data must be a list of rows, an array or a DataFrame, got {type(source).__name__}")
    rows = source if type(source) is list else list(source)
    if not set(map(type, rows)) <= {list, tuple}:
        rows = [_row(row, index) for index, row in enumerate(rows)]
    if not set(map(len, rows)) <= {len(columns)}:
        for index, row in enumerate(rows):
            check_row(row, columns, index)
    return TableRows(len(columns), rows)


def _row(row: Any, index: int) -> list[Any]:
    if is_array(row):
        listed: list[Any] = to_numpy(row, "A table from arrays").tolist()
        return listed
    if isinstance(row, (str, bytes, Mapping)) or not hasattr(row, "__iter__"):
        raise TypeError(f"row {index} must be a list of cells, got {row!r:.60}")
    return list(row)


def check_row(row: Any, columns: Sequence[ColumnName], index: int | None = None) -> Any:
    """Return `row` if it has a cell for each column, else raise ValueError."""
    if len(row) != len(columns):
        where = "the row" if index is None else f"row {index}"
        names = ", ".join(map(repr, columns[:8]))
        raise ValueError(f"{where} has {len(row)} cells for {len(columns)} columns ({names}); columns= names them")
    return row


def _from_dataframe(frame: Any) -> TableRows:
    if library(frame) == "polars":
        return TableRows.from_columns([column.to_list() for column in frame.get_columns()])
    # by position: two columns may have one name. tolist() gives Python's own numbers, at C speed
    return TableRows.from_columns([frame.iloc[:, position].tolist() for position in range(len(frame.columns))])
