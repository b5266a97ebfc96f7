"""The tail of a run: batches that were taken in but not yet folded into pages.

Taking in a small batch is one inserted row. When the tail has grown, all of it is folded at once. A point that lies at
or below the folded end of its series makes the tail fold at once, so what is in the tail always follows what is in
pages.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec
import numpy as np

from strobe.journal.history import HISTORY_KINDS
from strobe.store.columns import read_points
from strobe.store.database import Cursor, in_parts, marks
from strobe.store.pages import Pages
from strobe.store.series import Points, fold
from strobe.store.series.column import Array
from strobe.store.series_table import HISTORY, SeriesRow, read_series
from strobe.wire.batch import Block

#: a tail of so many rows, batches or points is folded: four pages of each key at once cost half of one at a time, and
#: what a chart reads of a live run beside its pages stays some megabytes
MAX_ROWS = 16_384
MAX_BATCHES = 128
MAX_POINTS = 1_000_000

_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(list[Block]).decode


def append(cursor: Cursor, run_id: int, number: int, writer: int, attempt: int, blocks: list[Block]) -> None:
    """Add a batch's blocks, as far as points are made of them."""
    cursor.run("INSERT INTO tail VALUES (?, ?, ?, ?, ?)", run_id, number, writer, attempt, _encode(blocks))


#: (lane, attempt, key) → points
NamedPoints = Mapping[tuple[str, int, str], list[Points]]


def fold_tail(cursor: Cursor, run_id: int, more: NamedPoints) -> None:
    """Move all points of the tail, and `more` that came just now, into pages."""
    lanes, rank = _writers(cursor, [run_id])[run_id]
    found: dict[tuple[str, int, str], list[Points]] = {}
    for writer, attempt, body in cursor.all(
        "SELECT writer, attempt, body FROM tail WHERE run_id = ? ORDER BY number", run_id
    ):
        for key, parts in read_points(_decode(body), writer).items():
            found.setdefault((lanes[writer], attempt, key), []).extend(parts)
    for name, parts in more.items():
        if parts:
            found.setdefault(name, []).extend(parts)
    rows = read_series(cursor, [run_id], lane=None)[run_id] if found else []
    ids = {(row.lane, row.attempt, row.key): row.id for row in rows}
    pages = Pages(cursor)
    fold(pages, {ids[name]: points for name, points in _joined(found).items()}, rank)
    pages.note_counts()
    cursor.run("DELETE FROM tail WHERE run_id = ?", run_id)
    cursor.run("UPDATE run SET tail_rows = 0, tail_points = 0, tail_batches = 0 WHERE id = ?", run_id)


def _joined(found: NamedPoints) -> dict[tuple[str, int, str], Points]:
    """Return the parts of each as one; keys that were logged together go on sharing their steps and times."""
    shared: dict[tuple[int, ...], Array] = {}
    joined = {}
    for name, parts in found.items():
        same = tuple(id(points.ints) for points in parts)
        if same not in shared:
            shared[same] = np.concatenate([points.ints for points in parts], axis=1)
        joined[name] = Points(shared[same], np.concatenate([points.floats for points in parts], axis=1))
    return joined


def lane_of(kind: str, writer: str) -> str:
    """Return the lane that the rows of a writer belong to."""
    return HISTORY if kind in HISTORY_KINDS else writer


def tail_points(cursor: Cursor, run_ids: Sequence[int], rows: Iterable[SeriesRow]) -> dict[int, dict[int, Points]]:
    """Return for each run the points in its tail by series id, ordered, of the given rows."""
    wanted = {(row.run_id, row.lane, row.attempt, row.key): row.id for row in rows if row.has_points}
    if not wanted:
        return {}
    keys = {key for _, _, _, key in wanted}
    writers = _writers(cursor, run_ids)
    found: dict[int, dict[int, list[Points]]] = {}
    for part in in_parts(run_ids):
        # One at a time: of each only the wanted keys are kept, and there may be a hundred runs.
        for run_id, writer, attempt, body in cursor.stream(
            f"SELECT run_id, writer, attempt, body FROM tail WHERE run_id IN ({marks(len(part))}) ORDER BY number",
            *part,
        ):
            lanes, _ = writers[run_id]
            for key, parts in read_points(_decode(body), writer, keys).items():
                series = wanted.get((run_id, lanes[writer], attempt, key))
                if series is not None:
                    found.setdefault(run_id, {}).setdefault(series, []).extend(parts)
    return {
        run_id: {series: Points.concat(parts).ordered(writers[run_id][1]) for series, parts in by_series.items()}
        for run_id, by_series in found.items()
    }


def _writers(cursor: Cursor, run_ids: Sequence[int]) -> dict[int, tuple[dict[int, str], Array]]:
    """Return for each run the lane of each writer by its number, and each writer's place among the sorted names."""
    by_run: dict[int, list[tuple[str, int, str]]] = {}
    for part in in_parts(run_ids):
        for run_id, number, name, kind in cursor.all(
            f"SELECT run_id, number, name, kind FROM writer WHERE run_id IN ({marks(len(part))})", *part
        ):
            by_run.setdefault(run_id, []).append((name, number, kind))
    found = {}
    for run_id, writers in by_run.items():
        rank: Array = np.zeros(max(number for _, number, _ in writers) + 1, "<i8")
        for place, (_, number, _) in enumerate(sorted(writers)):
            rank[number] = place
        found[run_id] = ({number: lane_of(kind, name) for name, number, kind in writers}, rank)
    return found
