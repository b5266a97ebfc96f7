"""How a table is laid out in the columns that a terminal has.

Where there is no room, the columns that a reader misses least are left out first, then what names a row goes on a
line of its own, and only what may be cut is cut: half an id or a score without its sign is worse than none. Pure
functions over texts.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import NamedTuple

#: between two columns
_GAP = "  "
#: before what stands below the name of its row
_INDENT = "    "
#: no column is cut shorter than this: a very narrow screen wraps
_LEAST = 4


class Grid(NamedTuple):
    """The lines of a table, and the names of the columns that had no room."""

    head: list[str]
    body: list[str]
    left_out: tuple[str, ...] = ()


def lay_out(
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    right: Sequence[str] = (),
    width: int | None = None,
    whole: Sequence[str] = (),
    spare: Sequence[str] = (),
    lead: int = 0,
) -> Grid:
    """Return aligned lines of at most `width` columns, as far as that can be.

    Columns in `whole` are never cut, those in `spare` are left out in this order, and the first `lead` ones name the
    row: never cut either, they go on a line of their own when nothing else helps.
    """
    columns = [_Column(name, cells) for name, *cells in zip(header, *rows, strict=True)]
    for number, column in enumerate(columns):
        column.is_right = column.name in right
        column.is_whole = column.name in whole or number < lead
    shown, left_out = _without_spare(columns, spare, width)
    if width is None or _room(shown) <= width:
        return _as_lines(shown, left_out)
    if lead and len(columns) > lead:
        names = _as_lines(columns[:lead])
        others, left_out = _without_spare(columns[lead:], spare, width - len(_INDENT))
        _shrink(others, width - len(_INDENT))
        below = _as_lines(others, left_out)
        return Grid(_folded(names.head, below.head), _folded(names.body, below.body), left_out)
    _shrink(shown, width)
    return _as_lines(shown, left_out)


class _Column:
    def __init__(self, name: str, cells: Sequence[str]) -> None:
        self.name = name
        self.cells = [name, *map(_one_line, cells)]
        self.width = max(map(cell_width, self.cells))
        self.is_right = False
        self.is_whole = False

    def texts(self) -> list[str]:
        return [pad(cut(cell, self.width), self.width, right=self.is_right) for cell in self.cells]


def _room(columns: Sequence[_Column]) -> int:
    return sum(column.width for column in columns) + len(_GAP) * (len(columns) - 1)


def _without_spare(
    columns: Sequence[_Column], spare: Sequence[str], width: int | None
) -> tuple[list[_Column], tuple[str, ...]]:
    """Return the columns that are shown, and the names of the others in the order that a reader knows them in."""
    shown = list(columns)
    for name in spare:
        if width is None or _room(shown) <= width:
            break
        shown = [column for column in shown if column.name != name]
    return shown, tuple(column.name for column in columns if column not in shown)


def _shrink(columns: Sequence[_Column], width: int) -> None:
    """Take from the widest column that may be cut, until all fit."""
    while _room(columns) > width:
        can_shrink = [column for column in columns if not column.is_whole and column.width > _LEAST]
        if not can_shrink:
            return
        max(can_shrink, key=lambda column: column.width).width -= 1


def _as_lines(columns: Sequence[_Column], left_out: tuple[str, ...] = ()) -> Grid:
    head, *body = (_GAP.join(line).rstrip() for line in zip(*(column.texts() for column in columns), strict=True))
    return Grid([head], body, left_out)


def _folded(names: Sequence[str], below: Sequence[str]) -> list[str]:
    """Return each row below its name; rows of one name that follow each other share it."""
    lines = []
    for before, name, rest in zip([None, *names], names, below, strict=False):
        lines += [_INDENT + rest] if name == before else [name, _INDENT + rest]
    return lines


def _one_line(text: str) -> str:
    return "".join(char if char.isprintable() else "␤" if char == "\n" else " " for char in text)


def cell_width(text: str) -> int:
    """Return how many columns a terminal needs for `text`."""
    if text.isascii():
        return len(text)
    return sum(_char_width(char) for char in text)


def _char_width(char: str) -> int:
    if unicodedata.combining(char):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def cut(text: str, width: int) -> str:
    """Return `text`, its end replaced by … when it is wider than `width`."""
    if cell_width(text) <= width:
        return text
    kept, used = [], 1
    for char in text:
        used += _char_width(char)
        if used > width:
            break
        kept.append(char)
    return "".join(kept) + "…"


def pad(text: str, width: int, *, right: bool = False) -> str:
    """Return `text` filled with blanks to `width` columns."""
    blanks = " " * (width - cell_width(text))
    return blanks + text if right else text + blanks
