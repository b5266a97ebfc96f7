"""Tables as files, written as their rows come: CSV, JSON lines, Parquet.

Columns and their kinds are known before the first row; never more than one portion of rows is held.
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from strobe.api.jsonable import float_name, jsonable
from strobe.errors import MissingExtra

Format = Literal["csv", "jsonl", "parquet"]
MEDIA_TYPES: dict[Format, str] = {
    "csv": "text/csv; charset=utf-8",
    "jsonl": "application/x-ndjson",
    "parquet": "application/vnd.apache.parquet",
}
#: what a column of a Parquet file is; anything that is not plain is JSON text there
ColumnKind = Literal["number", "integer", "bool", "text", "json"]
Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class TableColumn:
    """A column of a file."""

    name: str
    kind: ColumnKind


def write_table(form: Format, columns: Sequence[TableColumn], portions: Iterable[Sequence[Row]]) -> Iterator[bytes]:
    """Yield the bytes of a file, portion by portion of rows."""
    if form == "csv":
        return _csv(columns, portions)
    return _jsonl(columns, portions) if form == "jsonl" else _parquet(columns, portions)


def _csv(columns: Sequence[TableColumn], portions: Iterable[Sequence[Row]]) -> Iterator[bytes]:
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow([column.name for column in columns])
    for rows in portions:
        writer.writerows([[_cell(row.get(column.name)) for column in columns] for row in rows])
        yield buffer.getvalue().encode("utf-8", "replace")
        buffer.seek(0)
        buffer.truncate()
    yield buffer.getvalue().encode("utf-8", "replace")


def _cell(value: Any) -> Any:
    """Numbers as numbers, text as text, what has structure as JSON; nothing for None."""
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "inf" if value > 0 else "-inf"  # what pandas and numpy read back
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    plain = jsonable(value)
    return plain if isinstance(plain, str) else json.dumps(plain, ensure_ascii=False)


def _jsonl(columns: Sequence[TableColumn], portions: Iterable[Sequence[Row]]) -> Iterator[bytes]:
    for rows in portions:
        lines = (
            json.dumps(jsonable({column.name: row.get(column.name) for column in columns}), ensure_ascii=False)
            for row in rows
        )
        yield "".join(f"{line}\n" for line in lines).encode("utf-8", "replace")


class _Sink(io.RawIOBase):
    """A file that is only written to, and hands out what was written."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._position = 0

    def writable(self) -> bool:
        return True

    def write(self, piece: Any) -> int:
        taken = bytes(piece)
        self._pieces.append(taken)
        self._position += len(taken)
        return len(taken)

    def tell(self) -> int:
        return self._position

    def take(self) -> bytes:
        taken, self._pieces = b"".join(self._pieces), []
        return taken


def check_parquet() -> None:
    """Raise MissingExtra, before an answer is begun, if Parquet cannot be written here."""
    try:
        import pyarrow.parquet  # noqa: F401 - only asked for
    except ImportError as error:
        raise MissingExtra("Parquet needs pyarrow on the server: pip install 'strobe[parquet]'") from error


def _parquet(columns: Sequence[TableColumn], portions: Iterable[Sequence[Row]]) -> Iterator[bytes]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    kinds = {"number": pa.float64(), "integer": pa.int64(), "bool": pa.bool_()}
    schema = pa.schema([(column.name, kinds.get(column.kind, pa.string())) for column in columns])
    sink = _Sink()
    with pq.ParquetWriter(sink, schema) as writer:
        for rows in portions:
            if rows:
                arrays = [
                    pa.array([_typed(row.get(column.name), column.kind) for row in rows], schema.field(index).type)
                    for index, column in enumerate(columns)
                ]
                writer.write_table(pa.Table.from_arrays(arrays, schema=schema))
            yield sink.take()
    yield sink.take()


def _typed(value: Any, kind: ColumnKind) -> Any:
    """Return a value that the column takes; what a run has that is of another kind is left out or written as JSON."""
    if value is None:
        return None
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if kind == "number":
        return _double(value) if is_number or isinstance(value, bool) else None
    if kind == "integer":
        return value if is_number and isinstance(value, int) and -(2**63) <= value < 2**63 else None
    if kind == "bool":
        return value if isinstance(value, bool) else None
    if kind == "text" and isinstance(value, str):
        return value
    if isinstance(value, float) and not math.isfinite(value):
        return float_name(value)
    plain = jsonable(value)
    return plain if isinstance(plain, str) and kind == "text" else json.dumps(plain, ensure_ascii=False)


def _double(value: float) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
