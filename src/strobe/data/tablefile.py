"""The stored form of a table: columns, in a row of the journal when small, in a file of the run when not.

    {"_type": "table", "columns": [name, …], "nrows": n, "ncols": m, "types": [kind, …], "data": [column, …]}

A file holds that map as msgpack. A column is packed bytes or a list (strobe.data.column). This module knows rows
and names; what a Table does with them is its own affair.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import msgspec

from strobe.data.column import load_column, store_column
from strobe.data.media import INLINE_LIMIT, Media, MediaFiles
from strobe.data.rule import Rule

_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(strict=False).decode

ColumnName = str | int


def pack(
    columns: Sequence[ColumnName],
    values_of: Sequence[Sequence[Any]],
    rules: Mapping[ColumnName, Rule],
    store_media: Callable[[ColumnName, Media], dict[str, Any]],
) -> dict[str, Any]:
    """Return the stored form of columns of cells; raises TypeError or ValueError naming column, row and value."""
    types, stored = [], []
    for name, values in zip(columns, values_of, strict=True):
        rule = rules.get(name, Rule())
        try:
            column = store_column(values, partial(store_media, name), may_mix=rule.may_mix)
            rule.check(column, values)
        except TypeError as exc:
            raise TypeError(f"table column {name!r}: {exc}") from exc
        except ValueError as exc:
            raise ValueError(f"table column {name!r}: {exc}") from exc
        types.append(column.kind)
        stored.append(column.cells)
    return {
        "_type": "table",
        "columns": list(columns),
        "nrows": len(values_of[0]) if values_of else 0,
        "ncols": len(columns),
        "types": types,
        "data": stored,
    }


def store(body: dict[str, Any], files: MediaFiles, key: str, step: int, log_mode: str) -> dict[str, Any]:
    """Return the record of a packed table: itself if it is small, else the file it was written to."""
    content = _encode(body)
    if len(content) <= INLINE_LIMIT:
        return body
    path = files.write("table", key, step, "table", content)
    return {
        "_type": "table-file",
        "path": path,
        "size": len(content),
        "nrows": body["nrows"],
        "ncols": body["ncols"],
        "log_mode": log_mode,
    }


def write(body: dict[str, Any], files: MediaFiles, key: str, step: int) -> tuple[str, int]:
    """Write a packed table to a file, however small; return its path and size."""
    content = _encode(body)
    return files.write("table", key, step, "table", content), len(content)


def parse(content: bytes) -> dict[str, Any]:
    """Return the packed table that a file holds."""
    try:
        body = _decode(content)
    except msgspec.MsgspecError as exc:
        raise ValueError(f"this is not a table file: {exc}") from exc
    if not isinstance(body, dict) or body.get("_type") != "table":
        raise ValueError("this is not a table file: it holds something else")
    return body


def unpack(body: Mapping[str, Any], load_media: Callable[[dict[str, Any]], Any]) -> list[list[Any]]:
    """Return the rows of a packed table."""
    num_rows = body["nrows"]
    columns = [
        load_column(kind, cells, num_rows, load_media) for kind, cells in zip(body["types"], body["data"], strict=True)
    ]
    if not columns:
        return [[] for _ in range(num_rows)]
    return [list(row) for row in zip(*columns, strict=True)]
