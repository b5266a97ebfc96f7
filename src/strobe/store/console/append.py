"""Taking in console text: each piece is drawn on its lane's screen once, and lines out of the cursor's reach leave it.

What a call reads and writes is bounded by the screen's height and a page, whatever the console's length. The result
does not depend on how pieces were divided among calls. A line of more than `MAX_LINE` columns is broken, as a terminal
does at its right edge: otherwise text without a newline would be read and written again with every call.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from strobe.journal.screen import MAX_HEIGHT, Screen
from strobe.store.console.page import Lines, Open, decode_open, encode_open, encode_page
from strobe.store.database import Cursor

PAGE_LINES = 512
PAGE_CHARACTERS = 64 << 10
MAX_LINE = 64 << 10
# Where a long line is broken must not depend on how its text was divided: it is looked at whenever this many
# characters have been fed since the lane began.
_STRIDE = 16 << 10


class Piece(NamedTuple):
    """Text that a writer printed: a `Console` event and its place in time."""

    order_ns: int
    stream: str
    text: str


def add(cursor: Cursor, run_id: int, attempt: int, writer: str, pieces: Iterable[Piece]) -> None:
    """Append to the lanes of a writer. Its pieces must come in their order, each once."""
    by_stream: dict[str, list[Piece]] = {}
    for piece in pieces:
        if piece.text:
            by_stream.setdefault(piece.stream, []).append(piece)
    for stream, found in by_stream.items():
        # PostgreSQL's text cannot hold that character; no stream is called so on purpose.
        _append(cursor, (run_id, attempt, writer, stream.replace("\0", "\ufffd")), found)


def _append(cursor: Cursor, name: tuple[int, int, str, str], pieces: list[Piece]) -> None:
    row = cursor.one(
        "SELECT id, paged, body FROM console JOIN console_open ON console_id = id"
        " WHERE run_id = ? AND attempt = ? AND writer = ? AND stream = ?" + cursor.dialect.for_update,
        *name,
    )
    if row is None:
        made = cursor.one(
            "INSERT INTO console (run_id, attempt, writer, stream, lines, settled, paged, open_ns, last_ns)"
            " VALUES (?, ?, ?, ?, 0, 0, 0, 0, 0) RETURNING id",
            *name,
        )
        assert made is not None
        console_id, end = int(made[0]), LaneEnd(0, None)
        cursor.run("INSERT INTO console_open (console_id, body) VALUES (?, ?)", console_id, b"")
    else:
        console_id, end = int(row[0]), LaneEnd(int(row[1]), decode_open(row[2]))
    for piece in pieces:
        end.feed(piece.text, piece.order_ns)
    pages = [(console_id, first_line, lines.times_ns[0], encode_page(lines)) for first_line, lines in end.take_pages()]
    if pages:
        cursor.many("INSERT INTO console_page (console_id, first_line, first_ns, body) VALUES (?, ?, ?, ?)", pages)
    open_end = end.freeze()
    cursor.run("UPDATE console_open SET body = ? WHERE console_id = ?", encode_open(open_end), console_id)
    times = end.times_ns
    cursor.run(
        "UPDATE console SET lines = ?, settled = ?, paged = ?, open_ns = ?, last_ns = ? WHERE id = ?",
        end.num_lines,
        end.num_settled,
        end.paged,
        times[0],
        times[-1],
        console_id,
    )


class LaneEnd:
    """The open end of a lane while text is drawn on it."""

    def __init__(self, paged: int, kept: Open | None) -> None:
        self.paged = paged
        self._times: list[int] = kept.times_ns if kept else []
        self._texts: list[str] = kept.texts if kept else []
        self._screen = Screen.thaw(kept.screen) if kept else Screen()
        self._num_fed = kept.num_fed if kept else 0
        self._pages: list[tuple[int, Lines]] = []

    def feed(self, text: str, time_ns: int) -> None:
        """Draw text that was printed at that time; times never go down, or lines could not be found by them."""
        time_ns = max(time_ns, self._screen.marks[-1])
        self._screen.begin(time_ns)
        while text:
            piece = text[: _STRIDE - self._num_fed % _STRIDE]
            text = text[len(piece) :]
            self._screen.feed(piece, time_ns)
            self._num_fed += len(piece)
            if self._num_fed % _STRIDE == 0 and self._screen.column > MAX_LINE:
                self._screen.break_row(time_ns)
            if len(self._screen.rows) > 2 * MAX_HEIGHT:
                self._settle()

    def take_pages(self) -> list[tuple[int, Lines]]:
        """Return (number of the first line, lines) of the pages that have become full."""
        self._settle()
        pages, self._pages = self._pages, []
        return pages

    def freeze(self) -> Open:
        return Open(self._times, self._texts, self._screen.freeze(), self._num_fed)

    @property
    def num_settled(self) -> int:
        return self.paged + len(self._times)

    @property
    def num_lines(self) -> int:
        """Lines in all. Settles the row under the cursor: freeze before you ask."""
        return self.num_settled + len(self._screen.lines(styles=True))

    @property
    def times_ns(self) -> list[int]:
        return self._times + self._screen.marks

    def lines(self) -> Lines:
        """Return the lines that are not in pages, as they stand."""
        shown = self._screen.lines(styles=True)
        return Lines.of(self._times + self._screen.marks[: len(shown)], self._texts + shown)

    def _settle(self) -> None:
        """Move lines that are out of the cursor's reach to where they wait for a page, and cut pages off there."""
        screen, reach = self._screen, self._screen.reach
        self._times += screen.marks[:reach]
        self._texts += screen.rows[:reach]
        screen.forget_above(reach)
        while stop := _full_page(self._texts):
            self._pages.append((self.paged, Lines.of(self._times[:stop], self._texts[:stop])))
            self.paged += stop
            del self._times[:stop], self._texts[:stop]


def _full_page(texts: list[str]) -> int:
    """Return how many lines make up a page; 0 while there are too few."""
    size = 0
    for number, text in enumerate(texts[:PAGE_LINES], 1):
        size += len(text) + 1
        if number == PAGE_LINES or size >= PAGE_CHARACTERS:
            return number
    return 0
