"""History rows: what `log()` was given, put together again by step from the series and the objects.

Read some thousand rows at a time, so that a long history costs no more memory than a short one. The same rows as
`strobe.journal.replay.Replay.rows` gives from the journals themselves.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from strobe.journal import value
from strobe.journal.entry import with_text_keys
from strobe.store.database import Cursor, Database, in_parts, marks
from strobe.store.lines import RunBook, read_book
from strobe.store.pages import Pages
from strobe.store.series import EVERYTHING, Line, Points, Window, read_points
from strobe.store.series.page import MAX_I64, MIN_I64
from strobe.store.series_table import HISTORY

_CELLS_AT_ONCE = 400_000
#: cells of a page; long texts count for more
MAX_CELLS = 400_000
_CELL_BYTES = 64
_MAX_ROWS, _MIN_ROWS = 2000, 16


@dataclass(slots=True)
class _Cell:
    """A value at a step, with what decides which of two counts."""

    time_ns: int
    order_ns: int
    value: Any
    #: of an object; attempts of points have been merged before
    attempt: int | None = None

    def yields_to(self, later: _Cell) -> bool:
        """Tell whether an object read later takes this value's place; of a big integer the exact form does."""
        if self.attempt is None or later.attempt is None:
            return self.order_ns <= later.order_ns
        return (self.attempt, self.order_ns) <= (later.attempt, later.order_ns)


class Histories:
    """History rows of a store's runs."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def page(
        self,
        run_id: int,
        keys: Sequence[str] | None = None,
        *,
        window: Window = EVERYTHING,
        attempt: int | None = None,
        limit: int = 1000,
    ) -> tuple[list[dict[str, Any]], int | None]:
        """Return the first rows in a window, and the step to go on from, None at the end.

        At most `limit`, and fewer where rows are so wide that their cells would be too many for one answer.
        """

        def ask(cursor: Cursor) -> tuple[list[dict[str, Any]], int | None]:
            book = read_book(cursor, run_id, keys)
            rows: list[dict[str, Any]] = []
            weight = 0
            for row in iter_history(cursor, book, keys, window=window, attempt=attempt):
                if len(rows) >= limit or weight > MAX_CELLS:
                    return rows, row["_step"]
                rows.append(row)
                weight += _weight(row)
            return rows, None

        return self._database.read(ask)

    def system_page(
        self,
        run_id: int,
        *,
        window: Window = EVERYTHING,
        limit: int = 1000,
    ) -> tuple[list[dict[str, Any]], int | None]:
        """Return samples of the system in the order of time, and the time to go on from, None at the end."""

        def ask(cursor: Cursor) -> tuple[list[dict[str, Any]], int | None]:
            rows: list[dict[str, Any]] = []
            latest_ns = MIN_I64
            for time_ns, row in _iter_system(cursor, read_book(cursor, run_id, lane=None), window):
                # Samples of one moment are not torn apart, for the next page begins at a moment.
                if len(rows) >= limit and time_ns > latest_ns:
                    return rows, time_ns
                rows.append(row)
                latest_ns = time_ns
            return rows, None

        return self._database.read(ask)


def _weight(row: dict[str, Any]) -> int:
    return sum(1 + (len(cell) // _CELL_BYTES if isinstance(cell, (str, bytes)) else 0) for cell in row.values())


def iter_history(
    cursor: Cursor,
    book: RunBook,
    keys: Sequence[str] | None = None,
    *,
    window: Window = EVERYTHING,
    attempt: int | None = None,
    rows_at_once: int | None = None,
) -> Iterator[dict[str, Any]]:
    """Yield the rows in step order, each with `_step`, `_timestamp` and `_runtime` (seconds)."""
    wanted = book.keys if keys is None else list(keys)
    at_once = rows_at_once or min(_MAX_ROWS, max(_MIN_ROWS, _CELLS_AT_ONCE // max(1, len(wanted))))
    start: int | None = window.first_step
    while start is not None:
        rows, start = _read_some(cursor, book, wanted, start, window.last_step, attempt, at_once)
        yield from rows


def _iter_system(cursor: Cursor, book: RunBook, window: Window) -> Iterator[tuple[int, dict[str, Any]]]:
    lanes = sorted({row.lane for row in book.rows if row.lane != HISTORY})
    samples = [_iter_lane(cursor, book, lane, window) for lane in lanes]
    for time_ns, _, values in heapq.merge(*samples, key=lambda sample: sample[:2]):
        yield time_ns, {"_timestamp": time_ns / 1e9, "_runtime": (time_ns - book.started_ns) / 1e9, **values}


def _iter_lane(cursor: Cursor, book: RunBook, lane: str, window: Window) -> Iterator[tuple[int, str, dict[str, Any]]]:
    """Yield the samples of one sampler, whose steps and times both rise."""
    samples: dict[int, tuple[int, dict[str, Any]]] = {}
    for key in sorted({row.key for row in book.rows if row.lane == lane}):
        for points in read_points(Pages(cursor), book.line(key, window, lane=lane)):
            for step, time_ns, number in zip(
                points.step.tolist(), points.time_ns.tolist(), points.plain_values(), strict=True
            ):
                samples.setdefault(step, (time_ns, {}))[1][key] = number
    for step in sorted(samples):
        time_ns, values = samples[step]
        yield time_ns, lane, values


def _read_some(
    cursor: Cursor, book: RunBook, keys: list[str], first: int, last: int, attempt: int | None, at_once: int
) -> tuple[list[dict[str, Any]], int | None]:
    """Return the rows from step `first` on, as far as all keys were read, and the step to go on from, or None."""
    cells: dict[int, dict[str, _Cell]] = {}
    horizon = last
    for key in keys:
        line = book.line(key, Window(first, last), attempt=attempt)
        found = list(_points(cursor, line, at_once))
        if sum(map(len, found)) >= at_once:
            horizon = min(horizon, int(found[-1].step[-1]))
        for points in found:
            moments = zip(points.time_ns.tolist(), points.order_ns.tolist(), points.plain_values(), strict=True)
            for step, moment in zip(points.step.tolist(), moments, strict=True):
                cells.setdefault(step, {})[key] = _Cell(*moment)
    for owner, bound in _owners(book, attempt):
        for name, step, cell in _objects(cursor, owner, keys, first, min(horizon, bound), attempt, at_once):
            if name is None:
                horizon = min(horizon, step)
                continue
            known = cells.setdefault(step, {}).get(name)
            if known is None or known.yields_to(cell):
                cells[step][name] = cell
    rows = [_row(step, cells[step], book) for step in sorted(cells) if step <= horizon]
    return rows, (None if horizon >= last else horizon + 1)


def _points(cursor: Cursor, line: Line, limit: int) -> Iterator[Points]:
    if line.parts:
        yield from read_points(Pages(cursor), line, limit)


def _owners(book: RunBook, attempt: int | None) -> Iterator[tuple[RunBook, int]]:
    """Yield the runs whose objects count, the one forked from first, each with the last step that counts."""
    chain: list[tuple[RunBook, int]] = []
    owner, bound = book, MAX_I64
    while True:
        chain.append((owner, bound))
        if owner.parent is None or attempt is not None:
            break
        bound = min(bound, owner.inherited_until)
        owner = owner.parent
    return iter(reversed(chain))


def _objects(
    cursor: Cursor, book: RunBook, keys: list[str], first: int, last: int, attempt: int | None, at_once: int
) -> Iterator[tuple[str | None, int, _Cell]]:
    rows = [row for row in book.rows if row.has_objects and (attempt is None or row.attempt == attempt)]
    named = sorted({row.key for row in rows}.intersection(keys))
    clips = {
        (row.attempt, row.key): math.inf if attempt is not None else _or_inf(book.clip(row.attempt, row.top))
        for row in rows
    }
    num_attempts = len({row.attempt for row in rows})
    for part in in_parts(named, 500):
        # As many as one step can have, and more: so there is at least one step that is complete.
        limit = at_once + len(part) * num_attempts
        found = cursor.all(
            "SELECT key, attempt, step, time_ns, order_ns, body FROM object"
            f" WHERE run_id = ? AND key IN ({marks(len(part))}) AND step BETWEEN ? AND ?"
            " ORDER BY step, attempt LIMIT ?",
            book.id,
            *part,
            max(first, MIN_I64),
            last,
            limit + 1,
        )
        if len(found) > limit:
            yield None, found[-1][2] - 1, _Cell(0, 0, None)  # the last step may not be complete: rows end before it
        for key, number, step, time_ns, order_ns, body in found:
            if step < clips.get((number, key), -math.inf):
                item = value.decode(body)
                yield key, step, _Cell(time_ns, order_ns, with_text_keys(item), number)


def _row(step: int, cells: dict[str, _Cell], book: RunBook) -> dict[str, Any]:
    latest = max(cells.values(), key=lambda cell: cell.order_ns)
    # What was taken over counts from the start of the run that logged it.
    owner = book
    while owner.parent is not None and step <= owner.inherited_until and latest.time_ns < owner.started_ns:
        owner = owner.parent
    row = {key: cell.value for key, cell in cells.items()}
    row["_step"] = step
    row["_timestamp"] = latest.time_ns / 1e9
    row["_runtime"] = max(0.0, (latest.time_ns - owner.started_ns) / 1e9)
    return row


def _or_inf(step: int | None) -> float:
    return math.inf if step is None else step
