"""Lanes: the console of one (attempt, writer, stream), and reading lines of it by number."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from strobe.store.console.append import LaneEnd
from strobe.store.console.page import Lines, decode_open, decode_page
from strobe.store.database import Cursor


class Lane(msgspec.Struct, frozen=True, kw_only=True):
    """Which lines these are, and how many."""

    id: int
    attempt: int
    writer: str
    stream: str
    #: the writer's kind (main, rank, …), rank and host, for a label
    kind: str
    rank: int | None
    host: str
    lines: int
    #: lines that nothing can change any more; the others may still be drawn over
    settled: int
    #: lines in pages, and the time of the first one behind them
    paged: int
    open_ns: int
    last_ns: int


_COLUMNS = (
    "c.id, c.attempt, c.writer, c.stream, coalesce(w.kind, 'main'), w.rank, coalesce(w.host, ''),"
    " c.lines, c.settled, c.paged, c.open_ns, c.last_ns"
)


def list_lanes(
    cursor: Cursor, run_id: int, *, attempt: int | None = None, writer: str | None = None, stream: str | None = None
) -> list[Lane]:
    """Return the lanes of a run, in the order in which lines of the same time are shown."""
    chosen = {"c.attempt": attempt, "c.writer": writer, "c.stream": stream}
    asked = {name: wanted for name, wanted in chosen.items() if wanted is not None}
    rows = cursor.all(
        f"SELECT {_COLUMNS} FROM console c LEFT JOIN writer w ON w.run_id = c.run_id AND w.name = c.writer"
        f" WHERE c.run_id = ?{''.join(f' AND {name} = ?' for name in asked)} ORDER BY c.attempt, c.writer, c.stream",
        run_id,
        *asked.values(),
    )
    return [Lane(**dict(zip(Lane.__struct_fields__, row, strict=True))) for row in rows]


def read_open(cursor: Cursor, lane: Lane) -> Lines:
    """Return the lines behind the last page."""
    row = cursor.one("SELECT body FROM console_open WHERE console_id = ?", lane.id)
    assert row is not None
    return LaneEnd(lane.paged, decode_open(row[0])).lines()


def read_page(cursor: Cursor, lane: Lane, line: int) -> tuple[int, Lines]:
    """Return the page that holds `line` (or the open end), and the number of its first line."""
    if line < lane.paged:
        row = cursor.one(
            "SELECT first_line, body FROM console_page WHERE console_id = ? AND first_line <= ?"
            " ORDER BY first_line DESC LIMIT 1",
            lane.id,
            line,
        )
        assert row is not None
        return int(row[0]), decode_page(row[1])
    return lane.paged, read_open(cursor, lane)


def iter_pages(cursor: Cursor, lane: Lane, start: int = 0) -> Iterator[tuple[int, Lines]]:
    """Yield (number of the first line, lines) from the page that holds `start` on, each read when it is asked for."""
    while start < lane.lines:
        first_line, lines = read_page(cursor, lane, start)
        yield first_line, lines
        start = first_line + len(lines)


def page_starts(cursor: Cursor, lanes: Sequence[Lane]) -> dict[int, tuple[list[int], list[int]]]:
    """Return for each lane (by id) the first lines and times of its pages, the open end among them."""
    found: dict[int, tuple[list[int], list[int]]] = {}
    for lane in lanes:
        rows = cursor.all(
            "SELECT first_line, first_ns FROM console_page WHERE console_id = ? ORDER BY first_line", lane.id
        )
        found[lane.id] = ([*(row[0] for row in rows), lane.paged], [*(row[1] for row in rows), lane.open_ns])
    return found
