"""The screen: what console text looks like once carriage returns, backspaces and cursor moves have done their work.

A progress bar is thousands of writes and one line in the end. `render` gives the final lines of one stream's text; a
`Screen` does the same piece by piece. The screen is endlessly wide, and what scrolled up more than `MAX_HEIGHT` rows
is out of the cursor's reach, as on a terminal. Clearing loses nothing: the new screen begins below the old one.
This module knows text only: no files, no journals, no clocks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import msgspec

from strobe.journal import cell
from strobe.journal.cell import BLANK, Cell

MAX_HEIGHT = 100
# A stray sequence may send the cursor anywhere; the screen follows so far.
MAX_COLUMN = 10_000

_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]")
_TOKEN = re.compile(
    r"(?P<text>[^\x00-\x1f\x7f-\x9f]+)"
    r"|\x1b\[(?P<arguments>[0-?]{0,64})[ -/]{0,4}(?P<final>[@-~])"
    r"|\x1b[\]PX^_][^\x07\x1b]{0,4096}(?:\x07|\x1b\\)"  # titles and links, up to their terminator
    r"|\x1b(?P<escape>[0-OQ-WYZ\\`-~])"
    r"|\x1b[ -/]{1,4}[0-~]"
    r"|(?P<control>.)",
    re.DOTALL,
)
# What may still become one of the sequences above when more text comes. Bounded, so that nothing is held for ever.
_UNFINISHED = re.compile(r"\x1b(?:\[[0-?]{0,64}[ -/]{0,4}|[\]PX^_][^\x07\x1b]{0,4096}\x1b?|[ -/]{0,4})\Z")


class FrozenScreen(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """All there is to know of a screen, as a value that can be kept and gone on from."""

    rows: list[str]
    marks: list[int]
    row: int
    column: int
    style: str
    #: the cursor's row, if it is taken apart: characters, and the styles of as many
    cells: tuple[list[str], list[str]] | None
    is_overwritten: bool
    saved: tuple[int, int]
    top: int
    home: int
    has_viewport: bool
    held: str


class Screen:
    """Rows of text and a cursor. Rows are strings with their colours; only the cursor's row is taken apart."""

    def __init__(self) -> None:
        self.rows: list[str] = [""]
        #: what `feed` was told when each row came into being
        self.marks: list[int] = [0]
        self.row = 0
        self.column = 0
        #: the colour sequence that holds at the cursor
        self.style = ""
        self._cells: list[Cell] | None = None
        self._is_overwritten = False
        self._saved = (0, 0)
        # The highest row that the cursor may reach; it only ever goes down.
        self._top = 0
        self._home = 0
        self._has_viewport = False
        self._held = ""

    @property
    def is_inside_sequence(self) -> bool:
        """Whether the text so far ends within a control sequence, whose rest is yet to come."""
        return bool(self._held)

    def feed(self, text: str, mark: int = 0) -> None:
        """Take in more text; where it was cut into pieces makes no difference. New rows remember `mark`."""
        if self._held:
            text, self._held = self._held + text, ""
        if self._is_at_end and not _CONTROL.search(text):
            self._append_plain(text, mark)
            return
        if unfinished := _UNFINISHED.search(text):
            text, self._held = text[: unfinished.start()], unfinished.group()
        for token in _TOKEN.finditer(text):
            if (run := token["text"]) is not None:
                self._put(run)
            elif (control := token["control"]) is not None:
                self._control(control, mark)
            elif (final := token["final"]) is not None:
                self._sequence(token["arguments"], final, mark)
            elif (escape := token["escape"]) is not None:
                self._escape(escape, mark)

    def lines(self, *, styles: bool = False) -> list[str]:
        """Return the rows as they stand, without a last empty one; with `styles`, colour sequences are kept."""
        self._close_row()
        rows = self.rows if self.rows[-1] else self.rows[:-1]
        return list(rows) if styles else [cell.STYLE.sub("", row) for row in rows]

    def row_text(self, row: int) -> str:
        """Return one row with its colours."""
        if row == self.row:
            self._close_row()
        return self.rows[row]

    def forget_above(self, row: int) -> None:
        """Drop the rows above `row`, which must not be below the cursor; the others count from 0 again."""
        del self.rows[:row], self.marks[:row]
        self.row -= row
        self._top = max(0, self._top - row)
        self._home -= row
        self._saved = (max(0, self._saved[0] - row), self._saved[1])

    @property
    def reach(self) -> int:
        """The highest row that the cursor can still get to; those above it are final."""
        return max(self._top, len(self.rows) - MAX_HEIGHT)

    def begin(self, mark: int) -> None:
        """Say when the text comes that follows: a line begins with its first text, not with the newline before it."""
        is_fresh = self.column == 0 and self.row == len(self.rows) - 1 and not self.rows[-1] and not self._cells
        if is_fresh:
            self.marks[-1] = mark

    def break_row(self, mark: int = 0) -> None:
        """Go on in the next row, as a terminal does at its right edge."""
        self._move(self.row + 1, 0, mark)

    def freeze(self) -> FrozenScreen:
        """Return the state; unlike `lines`, this does not settle the row under the cursor."""
        cells = None if self._cells is None else ([pair[0] for pair in self._cells], [pair[1] for pair in self._cells])
        return FrozenScreen(
            list(self.rows), list(self.marks), self.row, self.column, self.style, cells, self._is_overwritten,
            self._saved, self._top, self._home, self._has_viewport, self._held,
        )  # fmt: skip

    @classmethod
    def thaw(cls, frozen: FrozenScreen) -> Screen:
        """Return a screen that goes on where the frozen one stopped."""
        screen = cls()
        screen.rows, screen.marks = list(frozen.rows), list(frozen.marks)
        screen.row, screen.column, screen.style = frozen.row, frozen.column, frozen.style
        screen._cells = None if frozen.cells is None else list(zip(*frozen.cells, strict=True))
        screen._is_overwritten = frozen.is_overwritten
        screen._saved, screen._top, screen._home = frozen.saved, frozen.top, frozen.home
        screen._has_viewport, screen._held = frozen.has_viewport, frozen.held
        return screen

    # -- the row under the cursor ------------------------------------------------------------------------------------

    @property
    def _is_at_end(self) -> bool:
        last = self.rows[-1]
        return (
            self._cells is None
            and self.row == len(self.rows) - 1
            and self.column == len(last)
            and not self.style
            and last.isascii()
            and last.isprintable()  # neither tabs nor colours: its length is its width
        )

    def _append_plain(self, text: str, mark: int) -> None:
        first, *others = text.split("\n")
        self.rows[-1] += first
        self.rows += others
        self.marks += [mark] * len(others)
        last = self.rows[-1]
        self.row = len(self.rows) - 1
        self.column = len(last) if last.isascii() else len(cell.to_cells(last))

    def _open_row(self) -> list[Cell]:
        if self._cells is None:
            self._cells = cell.to_cells(self.rows[self.row])
            self._is_overwritten = False
        return self._cells

    def _close_row(self) -> None:
        if self._cells is None:
            return
        if self._is_overwritten:
            # A bar pads with blanks what it no longer needs; a line that was only appended to keeps its own.
            while self._cells and self._cells[-1] == BLANK:
                self._cells.pop()
        self.rows[self.row] = cell.to_text(self._cells)
        self._cells = None

    def _put(self, run: str) -> None:
        cells = self._open_row()
        self._is_overwritten |= self.column < len(cells)
        self.column = cell.put(cells, self.column, run, self.style)

    def _move(self, row: int, column: int, mark: int = 0) -> None:
        self._top = max(self._top, len(self.rows) - MAX_HEIGHT)
        row = max(row, self._top)
        row = min(row, len(self.rows) - 1 + MAX_HEIGHT)
        if row != self.row:
            self._close_row()
            missing = row + 1 - len(self.rows)
            if missing > 0:
                self.rows += [""] * missing
                self.marks += [mark] * missing
            self.row = row
        self.column = max(0, min(column, MAX_COLUMN))

    # -- controls ----------------------------------------------------------------------------------------------------

    def _control(self, control: str, mark: int) -> None:
        if control in "\n\x0b\x0c\x85":
            self._move(self.row + 1, 0, mark)
        elif control == "\r":
            self.column = 0
        elif control == "\b":
            self.column = max(0, self.column - 1)
        elif control == "\t":
            self.column = cell.put_tab(self._open_row(), self.column, self.style)

    def _escape(self, escape: str, mark: int) -> None:
        if escape == "7":
            self._saved = (self.row, self.column)
        elif escape == "8":
            self._move(*self._saved, mark)
        elif escape == "M":
            self._move(self.row - 1, self.column, mark)
        elif escape in "DE":
            self._move(self.row + 1, 0 if escape == "E" else self.column, mark)
        elif escape == "c":
            self._clear_all(mark)

    def _sequence(self, arguments: str, final: str, mark: int) -> None:
        if arguments[:1] in ("<", "=", ">", "?"):
            return
        if final == "m":
            self.style = cell.restyle(self.style, arguments)
            return
        numbers = [int(part[:6]) if part.isdigit() else 0 for part in arguments.split(";")]
        count = max(1, numbers[0])
        if final in "AF":
            self._move(self.row - count, 0 if final == "F" else self.column, mark)
        elif final in "BE":
            self._move(self.row + count, 0 if final == "E" else self.column, mark)
        elif final in "CD":
            self._move(self.row, self.column + (count if final == "C" else -count))
        elif final in "G`":
            self._move(self.row, count - 1)
        elif final in "Hfd":
            self._move_in_viewport(count, numbers, final, mark)
        elif final in "KJP":
            self._erase(final, numbers[0], mark)
        elif final == "s":
            self._saved = (self.row, self.column)
        elif final == "u":
            self._move(*self._saved, mark)

    def _move_in_viewport(self, line: int, numbers: list[int], final: str, mark: int) -> None:
        if not self._has_viewport:
            # Where the visible part of the real terminal began is not known: draw below what was printed.
            self._clear_all(mark)
        column = self.column if final == "d" else max(1, numbers[1] if len(numbers) > 1 else 1) - 1
        self._move(self._home + line - 1, column, mark)

    def _erase(self, final: str, which: int, mark: int) -> None:
        if final == "J" and which in (2, 3):
            self._clear_all(mark)
            return
        cells = self._open_row()
        self._is_overwritten = True
        if final == "P":
            stop = self.column + max(1, which)
            cell.split(cells, self.column)
            cell.split(cells, stop)
            del cells[self.column : stop]
        elif which == 0:
            cell.split(cells, self.column)
            del cells[self.column :]
        elif which == 1 and final == "K":
            stop = min(self.column + 1, len(cells))
            cell.split(cells, stop)
            cells[:stop] = [BLANK] * stop
        elif which == 2 and final == "K":
            cells.clear()
        self._is_overwritten = bool(cells)
        if final == "J" and which == 0:
            del self.rows[self.row + 1 :], self.marks[self.row + 1 :]

    def _clear_all(self, mark: int) -> None:
        self._close_row()
        below = len(self.rows) if self.rows[-1] else len(self.rows) - 1
        self._move(below, self.column, mark)
        self._top = self._home = self.row
        self._has_viewport = True


def render(chunks: Iterable[str], *, styles: bool = False) -> list[str]:
    """Return the final lines of one stream's text, given in any pieces; with `styles`, colours are kept."""
    screen = Screen()
    for chunk in chunks:
        screen.feed(chunk)
    return screen.lines(styles=styles)


def render_streams(chunks: Iterable[tuple[str, str, int]], *, styles: bool = False) -> list[tuple[int, str, str]]:
    """Return the final lines of several streams as (mark, stream, line), in the order in which they began.

    Takes (stream, text, mark), where a mark is a rising number such as a time.
    """
    screens: dict[str, Screen] = {}
    for stream, text, mark in chunks:
        if stream not in screens:
            screens[stream] = Screen()
        screen = screens[stream]
        screen.begin(mark)
        screen.feed(text, mark)
    found = [
        (screen.marks[number], stream, line)
        for stream, screen in screens.items()
        for number, line in enumerate(screen.lines(styles=styles))
    ]
    return sorted(found, key=lambda entry: entry[0])
