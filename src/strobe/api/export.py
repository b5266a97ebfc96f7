"""Histories written out whole: CSV, JSON lines, Parquet; and drawn: SVG.

One table for all runs that are asked for, with their path in the first column when there are several. The file appears
under its name only when it is complete. Rows are streamed; only one run's rows are held at a time.
"""

from __future__ import annotations

import csv
import json
import math
import os
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, TextIO

from strobe.api.jsonable import float_name, jsonable
from strobe.api.rows import Row, columns
from strobe.api.run import Run
from strobe.errors import MissingExtra, UsageError

FORMATS = ("csv", "jsonl", "parquet", "svg")
RUN_COLUMN = "run"
_BATCH_ROWS = 65536


def export(
    runs: Sequence[Run], form: str, *, output: Path | None, stdout: TextIO, keys: Sequence[str] | None = None
) -> int:
    """Write the histories to `output`, or to `stdout` when None; return how many rows or, of a chart, points."""
    if form == "parquet":
        if output is None:
            raise UsageError("Parquet is binary: name a file with -o")
        with _Replacing(output) as partial:
            return _write_parquet(runs, partial, keys)
    write = {"csv": _write_csv, "jsonl": _write_jsonl, "svg": _write_svg}.get(form)
    if write is None:
        raise UsageError(f"format {form!r} is not one of {', '.join(FORMATS)}")
    if output is None:
        return write(runs, stdout, keys)
    with _Replacing(output) as partial, open(partial, "w", encoding="utf-8", newline="") as stream:
        return write(runs, stream, keys)


class _Replacing:
    """A file beside `target` that takes its place when all went well."""

    def __init__(self, target: Path) -> None:
        self._target = target
        self._partial = target.with_name(f".{target.name}.{os.getpid()}.part")

    def __enter__(self) -> Path:
        if not self._target.parent.is_dir():
            raise UsageError(f"there is no directory {self._target.parent}; make it first")
        return self._partial

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            os.replace(self._partial, self._target)
        else:
            self._partial.unlink(missing_ok=True)


def _rows(runs: Sequence[Run], keys: Sequence[str] | None) -> Iterator[Row]:
    for run in runs:
        label = {RUN_COLUMN: "/".join(run.path)} if len(runs) > 1 else {}
        for row in run.scan_history(keys, any_key=True):
            yield {**label, **row}


def _write_csv(runs: Sequence[Run], stream: TextIO, keys: Sequence[str] | None) -> int:
    names = _ordered(columns(_rows(runs, keys)))
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(names)
    count = 0
    for row in _rows(runs, keys):
        writer.writerow([_cell(row.get(name)) for name in names])
        count += 1
    return count


def _cell(value: Any) -> Any:
    """Numbers as numbers, text as text, what has structure as JSON; nothing for None."""
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "inf" if value > 0 else "-inf"  # what pandas and numpy read back
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    plain = jsonable(value)
    return plain if isinstance(plain, str) else json.dumps(plain, ensure_ascii=False)


def _write_jsonl(runs: Sequence[Run], stream: TextIO, keys: Sequence[str] | None) -> int:
    count = 0
    for row in _rows(runs, keys):
        stream.write(json.dumps(jsonable(row), ensure_ascii=False, allow_nan=False) + "\n")
        count += 1
    return count


def _write_svg(runs: Sequence[Run], stream: TextIO, keys: Sequence[str] | None) -> int:
    from strobe.api.plot import plot

    svg, count = plot(runs, keys)
    stream.write(svg)
    return count


def _write_parquet(runs: Sequence[Run], path: Path, keys: Sequence[str] | None) -> int:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as exc:
        raise MissingExtra("exporting Parquet needs pyarrow: pip install 'strobe[parquet]'") from exc
    kinds = _column_kinds(_rows(runs, keys))
    arrow = {"bool": pa.bool_(), "int": pa.int64(), "float": pa.float64(), "time": pa.timestamp("us", tz="UTC")}
    names = _ordered(list(kinds))
    schema = pa.schema([(name, arrow.get(kinds[name], pa.string())) for name in names])
    count = 0
    with pq.ParquetWriter(path, schema) as writer:
        for batch in _batches(_rows(runs, keys)):
            cells = {name: [_convert(row.get(name), kinds[name]) for row in batch] for name in names}
            writer.write_table(pa.table(cells, schema=schema))
            count += len(batch)
    return count


def _column_kinds(rows: Iterator[Row]) -> dict[str, str]:
    """Return per column the narrowest kind that holds all its values: bool, int, float, time, text or json."""
    kinds: dict[str, str] = {}
    for row in rows:
        for name, value in row.items():
            kind = _kind(value)
            known = kinds.get(name, "")
            kinds[name] = kind if known in ("", kind) else known if not kind else _wider(known, kind)
    return kinds


def _kind(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int):
        return "int" if -(2**63) <= value < 2**63 else "json"
    if isinstance(value, float):
        return "float"
    if isinstance(value, str):
        return "text"
    return "time" if isinstance(value, datetime) and value.tzinfo is not None else "json"


def _wider(left: str, right: str) -> str:
    return "float" if {left, right} == {"int", "float"} else "json"


def _convert(value: Any, kind: str) -> Any:
    if value is None or kind in ("bool", "int", "text", "time"):
        return value
    if kind == "float":
        return float(value)
    if isinstance(value, float) and not math.isfinite(value):
        return float_name(value)
    return json.dumps(jsonable(value), ensure_ascii=False)


def _batches(rows: Iterator[Row]) -> Iterator[list[Row]]:
    batch: list[Row] = []
    for row in rows:
        batch.append(row)
        if len(batch) == _BATCH_ROWS:
            yield batch
            batch = []
    if batch:
        yield batch


def _ordered(names: list[str]) -> list[str]:
    return [RUN_COLUMN, *(name for name in names if name != RUN_COLUMN)] if RUN_COLUMN in names else names
