"""Tables: rows in memory, columns on disk.

Rows are kept as they were given, so `add_data` is an append and `data` a plain list. Kinds are checked column by
column when the table is logged, which is a hundred times cheaper than checking each row as it comes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from strobe.data import tablefile
from strobe.data.array import is_array
from strobe.data.classes import Classes
from strobe.data.increment import Increments
from strobe.data.media import Media, MediaFiles
from strobe.data.rule import Rule, rule
from strobe.data.tablefile import ColumnName
from strobe.data.tableinput import check_row, columns_of, rows_of
from strobe.data.tablerows import TableRows
from strobe.data.tablevalue import are_equal, to_array, to_dataframe

LOG_MODES = ("IMMUTABLE", "MUTABLE", "INCREMENTAL")


class Table(Media):
    """Rows and named columns; cells may be numbers, text, times, arrays, lists, dicts and media.

    Every log() records what the table holds then. With `log_mode="INCREMENTAL"` it writes only the rows added since.
    """

    _log_type = "table"
    #: wandb's limits, for code that reads them; nothing is ever cut off here
    MAX_ROWS = 10_000
    MAX_ARTIFACT_ROWS = 200_000

    def __init__(
        self,
        columns: Sequence[ColumnName] | None = None,
        data: Any = None,
        rows: Any = None,
        dataframe: Any = None,
        dtype: Any = None,
        optional: bool | Sequence[bool] = True,
        allow_mixed_types: bool = False,
        log_mode: str | None = "IMMUTABLE",
    ) -> None:
        self.log_mode = log_mode or "IMMUTABLE"
        if self.log_mode not in LOG_MODES:
            raise ValueError(f"log_mode must be one of {', '.join(LOG_MODES)}, got {log_mode!r}")
        source = next((given for given in (dataframe, data, rows) if given is not None), None)
        self.columns: list[ColumnName] = columns_of(columns, source)
        self._cells = rows_of(source, self.columns)
        self._has_default_columns = columns is None and source is None
        self._rules: dict[ColumnName, Rule] = {}
        self._declare(object if allow_mixed_types else dtype, optional)
        self._keys: dict[ColumnName, dict[str, Any]] = {}
        self._increments = Increments()
        self._last_key: str | None = None

    def _declare(self, dtype: Any, optional: bool | Sequence[bool]) -> None:
        dtypes = list(dtype) if isinstance(dtype, list) else [dtype] * len(self.columns)
        optionals = [optional] * len(self.columns) if isinstance(optional, bool) else list(optional)
        for argument, given in (("dtype", dtypes), ("optional", optionals)):
            if len(given) != len(self.columns):
                raise ValueError(f"{argument} has {len(given)} entries for {len(self.columns)} columns")
        for name, declared, is_optional in zip(self.columns, dtypes, optionals, strict=True):
            if declared is not None or not is_optional:
                self._rules[name] = rule(declared, bool(is_optional))

    @classmethod
    def from_rows(cls, columns: Sequence[ColumnName], rows: list[list[Any]], record: Mapping[str, Any]) -> Table:
        """Return the table of a record, whose rows were read; kinds were checked when it was written."""
        table = cls(columns, rows, log_mode=record.get("log_mode"))
        for name, kind in zip(columns, record.get("types", ()), strict=False):
            if kind == "any":
                table._rules[name] = Rule(kind)
        for name in columns:
            note = record.get("keys", {}).get(str(name), {})
            if note.get("kind") == "primary":
                table._keys[name] = dict(note)
            if labels := record.get("classes", {}).get(str(name)):
                class_set = [{"id": int(number), "name": label} for number, label in labels.items()]
                table._rules[name] = rule(Classes(class_set), True)
        return table

    @property
    def data(self) -> list[list[Any]]:
        """The rows; changing them in place is allowed."""
        return self._cells.rows()

    @data.setter
    def data(self, rows: Any) -> None:
        self._cells = rows_of(rows, self.columns)

    def add_data(self, *data: Any) -> None:
        """Add one row, a cell for each column."""
        self._cells.rows().append(check_row(list(data), self.columns))

    add_row = add_data

    def add_column(self, name: ColumnName, data: Any, optional: bool = False) -> None:
        """Add a column with a value for each row; without rows yet, it makes them."""
        values = list(data.tolist() if is_array(data) and data.ndim == 1 else data)
        if name in self.columns and not self._has_default_columns:
            raise ValueError(f"the table has a column {name!r} already")
        if self.log_mode == "INCREMENTAL" and self._last_key is not None:
            raise ValueError(f"column {name!r} comes too late: rows of this INCREMENTAL table were logged without it")
        if self._has_default_columns and not len(self):
            self.columns, self._has_default_columns = [], False
        if not self.columns:
            self._cells = TableRows(0, [()] * len(values))
        if len(values) != len(self):
            raise ValueError(f"column {name!r} has {len(values)} values for {len(self)} rows")
        self.columns.append(name)
        self._rules[name] = Rule(None, optional)
        self._cells.add_column(values)

    def add_computed_columns(self, fn: Callable[[int, dict[ColumnName, Any]], dict[str, Any]]) -> None:
        """Add the columns that `fn(index, row as dict)` returns; it must return the same names for each row."""
        added: dict[str, list[Any]] = {}
        for index, row in self.iterrows():
            computed = fn(index, dict(zip(self.columns, row, strict=True)))
            if index and set(computed) != set(added):
                raise ValueError(f"row {index}: fn returned {sorted(computed)}, for the rows above {sorted(added)}")
            for name, value in computed.items():
                added.setdefault(name, []).append(value)
        for name, values in added.items():
            self.add_column(name, values, optional=True)

    def _position(self, name: ColumnName) -> int:
        if name not in self.columns:
            raise ValueError(f"the table has no column {name!r}; it has {', '.join(map(repr, self.columns))}")
        return self.columns.index(name)

    def get_column(self, name: ColumnName, convert_to: str | None = None) -> Any:
        """Return the values of a column as a list, or as a numpy array with `convert_to="numpy"`."""
        if convert_to not in (None, "numpy"):
            raise ValueError(f"convert_to must be None or 'numpy', got {convert_to!r}")
        position = self._position(name)
        values = list(self._cells.columns(len(self.columns))[position])
        return to_array(values) if convert_to == "numpy" else values

    def get_index(self) -> list[int]:
        """Return the numbers of the rows."""
        return list(range(len(self)))

    def get_dataframe(self) -> Any:
        """Return the table as a pandas DataFrame."""
        return to_dataframe(self.columns, self.data)

    def iterrows(self) -> Iterator[tuple[int, list[Any]]]:
        """Yield the number of each row and its cells."""
        yield from enumerate(self.data)

    def cast(self, col_name: ColumnName, dtype: Any, optional: bool = False) -> None:
        """Declare what a column holds, and check that it does; see docs/data-types.md for what `dtype` may be."""
        declared = rule(dtype, optional)
        values = self.get_column(col_name)
        tablefile.pack([col_name], [values], {col_name: declared}, lambda _, media: {"_type": media._log_type})
        self._rules[col_name] = declared

    def set_pk(self, col_name: ColumnName) -> None:
        """Say that the values of a column name its rows: text, and each only once."""
        values = self.get_column(col_name)
        if any(not isinstance(value, str) for value in values) or len(set(values)) != len(values):
            raise ValueError(f"column {col_name!r} cannot be the primary key: its values must be texts, each one once")
        self._keys[col_name] = {"kind": "primary"}

    def set_fk(self, col_name: ColumnName, table: Table, table_col: ColumnName) -> None:
        """Say that the values of a column name rows of another table by its column `table_col`."""
        self._position(col_name)
        table._position(table_col)
        self._keys[col_name] = {"kind": "foreign", "table": table, "column": table_col}

    def record(self, files: MediaFiles, key: str, step: int) -> dict[str, Any]:
        def store_media(column: ColumnName, media: Media) -> dict[str, Any]:
            return media.record(files, f"{key}.{column}", step)

        def pack(start: int) -> dict[str, Any]:
            values_of = self._cells.columns(len(self.columns), start)
            return {**tablefile.pack(self.columns, values_of, self._rules, store_media), **self._notes()}

        if self.log_mode == "INCREMENTAL":
            mixed = {name for name, declared in self._rules.items() if declared.may_mix}
            record = self._increments.record(len(self), pack, mixed, files, key, step)
        else:
            record = tablefile.store(pack(0), files, key, step, self.log_mode)
        self._last_key = key
        return record

    def _notes(self) -> dict[str, Any]:
        """What else a record says: keys and classes of columns, where there are any."""
        notes: dict[str, Any] = {}
        if self._keys:
            notes["keys"] = {
                str(name): {**note, "table": note["table"]._last_key} if "table" in note else note
                for name, note in self._keys.items()
            }
        classes = {str(name): declared.classes for name, declared in self._rules.items() if declared.classes}
        if classes:
            notes["classes"] = {
                name: {str(number): label for number, label in found.names.items()} for name, found in classes.items()
            }
        return notes

    def __len__(self) -> int:
        return len(self._cells)

    def __bool__(self) -> bool:
        return True  # an empty table is still a table

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Table):
            return NotImplemented
        return self.columns == other.columns and are_equal(self.data, other.data)

    __hash__ = None  # type: ignore[assignment]  # rows change, so it can be no key of a dict

    def __repr__(self) -> str:
        return f"Table({len(self)} rows × {len(self.columns)} columns)"
