"""The cells of a table, by column as long as nobody asks for rows.

A table made from a list of rows and logged at once never needs rows of its own: taking its columns is a snapshot,
and makes ten lists instead of ten thousand (which would set the garbage collector to work). The first `rows()` or
`append()` turns it round for good, because from then on the rows are the user's to change.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter
from typing import Any


class TableRows:
    """Cells in `num_columns` columns; either `_columns` or `_rows` is what counts, the other is None."""

    def __init__(self, num_columns: int, rows: Sequence[Sequence[Any]] = ()) -> None:
        self._columns: list[list[Any]] | None = None
        self._rows: list[list[Any]] | None = None
        if rows and num_columns:
            self._columns = _transpose(rows, num_columns)
        else:
            self._rows = [list(row) for row in rows]

    @classmethod
    def from_columns(cls, columns: list[list[Any]]) -> TableRows:
        """Take over columns of equal length."""
        made = cls(0)
        if columns:
            made._columns, made._rows = columns, None
        return made

    def rows(self) -> list[list[Any]]:
        """Return the rows themselves: what is done to them is done to the table."""
        if self._rows is None:
            self._rows = [list(row) for row in zip(*(self._columns or []), strict=True)]
            self._columns = None
        return self._rows

    def columns(self, num_columns: int, start: int = 0) -> list[list[Any]]:
        """Return the cells by column, from row `start` on; raises ValueError if a row has other than `num_columns`."""
        if self._columns is not None:
            return [column[start:] if start else column for column in self._columns]
        rows = self.rows()[start:]
        if not set(map(len, rows)) <= {num_columns}:
            row = next(row for row, cells in enumerate(rows, start) if len(cells) != num_columns)
            raise ValueError(f"row {row} has {len(self.rows()[row])} cells for {num_columns} columns")
        return _transpose(rows, num_columns)

    def add_column(self, values: list[Any]) -> None:
        """Add a cell to each row."""
        if self._columns is not None:
            self._columns.append(values)
            return
        for row, value in zip(self.rows(), values, strict=True):
            row.append(value)

    def __len__(self) -> int:
        return len(self._columns[0]) if self._columns else len(self._rows or ())


def _transpose(rows: Sequence[Sequence[Any]], num_columns: int) -> list[list[Any]]:
    # not zip(*rows): that makes an iterator per row, each of them known to the garbage collector
    return [list(map(itemgetter(position), rows)) for position in range(num_columns)]
