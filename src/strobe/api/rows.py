"""History rows: from what was logged to what a chart or a data frame wants.

A nested dict becomes dotted keys ("a.b"), as wandb shows it; a typed record (a dict with "_type": media, …)
stays one value. Pure functions over dicts; nothing here reads a file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from strobe.errors import UsageError

Row = dict[str, Any]

#: the columns that every row has, whatever was logged
STEP, TIMESTAMP, RUNTIME = "_step", "_timestamp", "_runtime"
AXES = (STEP, RUNTIME, TIMESTAMP)


def flatten(mapping: Mapping[str, Any]) -> Row:
    """Return `mapping` with nested dicts opened into dotted keys; typed records and empty dicts stay."""
    if dict not in set(map(type, mapping.values())):  # nearly every row; this way costs no Python per value
        return dict(mapping)
    flat: Row = {}
    for key, value in mapping.items():
        _flatten_into(flat, str(key), value)
    return flat


def _flatten_into(flat: Row, key: str, value: Any) -> None:
    if isinstance(value, dict) and value and "_type" not in value:
        for name, item in value.items():
            _flatten_into(flat, f"{key}.{name}", item)
    else:
        flat[key] = value


def select(rows: Iterable[Row], keys: Sequence[str] | None, *, every: bool, keep: str = STEP) -> Iterator[Row]:
    """Leave only `keys`, the axes and `keep` in the rows, and only rows that have one of the keys (all, if `every`)."""
    if keys is None:
        yield from rows
        return
    wanted = [key for key in keys if key not in AXES]
    shown = dict.fromkeys((*AXES, keep, *wanted))
    needed = all if every else any
    for row in rows:
        if not wanted or needed(key in row for key in wanted):
            yield {key: row[key] for key in shown if key in row}


def between(rows: Iterable[Row], min_step: int | None, max_step: int | None) -> Iterator[Row]:
    """Keep rows with min_step ≤ step < max_step (the upper end is open, as in wandb)."""
    for row in rows:
        step = row[STEP]
        if (min_step is None or step >= min_step) and (max_step is None or step < max_step):
            yield row


def sample(rows: Sequence[Row], count: int) -> list[Row]:
    """Take `count` rows spread evenly over all, the first and the last among them."""
    if count < 1:
        raise UsageError(f"samples must be at least 1, got {count}; leave it out to get all rows")
    if count >= len(rows):
        return list(rows)
    if count == 1:
        return [rows[-1]]
    last = len(rows) - 1
    return [rows[round(index * last / (count - 1))] for index in range(count)]


def order_by(rows: list[Row], axis: str) -> list[Row]:
    """Sort by another axis than the step; rows that lack it or have no number there are left out."""
    if axis == STEP:
        return rows
    placed = [row for row in rows if isinstance(row.get(axis), (int, float)) and row[axis] == row[axis]]
    return sorted(placed, key=lambda row: row[axis])


def columns(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return every key that occurs: the axes first, then in order of appearance."""
    seen: dict[str, None] = {}
    for row in rows:
        if not seen.keys() >= row.keys():
            seen.update(dict.fromkeys(row))
    return [*(axis for axis in AXES if axis in seen), *(key for key in seen if key not in AXES)]
