"""The tail of a run: batches that were taken in but not yet folded into pages.

Taking in a small batch is one inserted row. When the tail has grown, all of it is folded at once. A point that lies at
or below the folded end of its series makes the tail fold at once, so what is in the tail always follows what is in
pages.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec
import numpy as np

from strobe.journal.history import HISTORY_KINDS
from strobe.store.columns import read_blocks, read_points
from strobe.store.database import Cursor
from strobe.store.pages import Pages
from strobe.store.series import Points, fold
from strobe.store.series.column import Array
from strobe.store.series_table import HISTORY, SeriesRow, read_series
from strobe.wire.batch import Block

#: a tail of so many rows or batches is folded
MAX_ROWS = 4096
MAX_BATCHES = 128

_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(list[Block]).decode


def append(cursor: Cursor, run_id: int, number: int, writer: int, attempt: int, blocks: list[Block]) -> None:
    """Add a batch's blocks."""
    cursor.run("INSERT INTO tail VALUES (?, ?, ?, ?, ?)", run_id, number, writer, attempt, _encode(blocks))


#: (lane, attempt, key) → points
NamedPoints = Mapping[tuple[str, int, str], list[Points]]


def fold_tail(cursor: Cursor, run_id: int, more: NamedPoints) -> None:
    """Move all points of the tail, and `more` that came just now, into pages."""
    lanes, rank = writer_ranks(cursor, run_id)
    found: dict[tuple[str, int, str], list[Points]] = {}
    for writer, attempt, body in cursor.all(
        "SELECT writer, attempt, body FROM tail WHERE run_id = ? ORDER BY number", run_id
    ):
        for key, news in read_blocks(_decode(body), writer).keys.items():
            if news.points:
                found.setdefault((lanes[writer], attempt, key), []).extend(news.points)
    for name, parts in more.items():
        if parts:
            found.setdefault(name, []).extend(parts)
    ids = {(row.lane, row.attempt, row.key): row.id for row in read_series(cursor, run_id, lane=None)}
    pages = Pages(cursor)
    fold(pages, {ids[name]: Points.concat(parts) for name, parts in found.items()}, rank)
    pages.note_counts()
    cursor.run("DELETE FROM tail WHERE run_id = ?", run_id)
    cursor.run("UPDATE run SET tail_rows = 0, tail_batches = 0 WHERE id = ?", run_id)


def writer_ranks(cursor: Cursor, run_id: int) -> tuple[dict[int, str], Array]:
    """Return the lane of each writer by its number, and the place of each among the sorted names."""
    rows = cursor.all("SELECT number, name, kind FROM writer WHERE run_id = ?", run_id)
    rank: Array = np.zeros(max((number for number, _, _ in rows), default=-1) + 1, "<i8")
    for place, (number, _, _) in enumerate(sorted(rows, key=lambda row: row[1])):
        rank[number] = place
    return {number: lane_of(kind, name) for number, name, kind in rows}, rank


def lane_of(kind: str, writer: str) -> str:
    """Return the lane that the rows of a writer belong to."""
    return HISTORY if kind in HISTORY_KINDS else writer


def tail_points(cursor: Cursor, run_id: int, rows: Iterable[SeriesRow]) -> dict[int, Points]:
    """Return the points in the tail by series id, ordered, of the given keys."""
    wanted = {(row.lane, row.attempt, row.key): row.id for row in rows if row.has_points}
    if not wanted:
        return {}
    keys = {key for _, _, key in wanted}
    batches = cursor.all("SELECT writer, attempt, body FROM tail WHERE run_id = ? ORDER BY number", run_id)
    if not batches:
        return {}
    lanes, rank = writer_ranks(cursor, run_id)
    found: dict[int, list[Points]] = {}
    for writer, attempt, body in batches:
        for key, parts in read_points(_decode(body), writer, keys).items():
            series = wanted.get((lanes[writer], attempt, key))
            if series is not None:
                found.setdefault(series, []).extend(parts)
    return {series: Points.concat(parts).ordered(rank) for series, parts in found.items()}
