"""Cells: one row of a screen taken apart into columns, each a character and its style, and put together again.

A character two columns wide (or a tab) is followed by empty cells; one without width hangs on the cell before it.
`to_text(to_cells(text))` shows the same row. Used by `screen` alone.
"""

from __future__ import annotations

import re
import unicodedata

#: (character, style); style is a complete colour sequence or ""
Cell = tuple[str, str]

TAB = 8
BLANK: Cell = (" ", "")
_FILLER: Cell = ("", "")
_RESET = "\x1b[0m"
# Characters other than ASCII that were found to be one column wide: bars are drawn with the same few again and again.
_narrow: set[str] = set()
STYLE = re.compile(r"\x1b\[([0-9;:]*)m")

# Which codes switch off which; everything else that is no colour is a flag of its own.
_OFF = {"22": ("1", "2"), "23": ("3",), "24": ("4",), "25": ("5",), "27": ("7",), "28": ("8",), "29": ("9",)}
_FLAGS = {"1", "2", "3", "4", "5", "7", "8", "9"}


def restyle(style: str, arguments: str) -> str:
    """Return the style that holds after the colour sequence `arguments`, in one canonical spelling."""
    state = _parse_style(style[2:-1]) if style else {}
    state = _parse_style(arguments, state)
    return f"\x1b[{';'.join(state[slot] for slot in sorted(state))}m" if state else ""


def _parse_style(arguments: str, state: dict[str, str] | None = None) -> dict[str, str]:
    state = {} if state is None else state
    codes = [code.lstrip("0") or "0" for code in arguments.split(";")]
    while codes:
        code = codes.pop(0)
        if code == "0":
            state.clear()
        elif code in ("38", "48"):
            count = {"5": 2, "2": 4}.get(codes[0], 0) if codes else 0
            if count and len(codes) >= count:
                state["fg" if code == "38" else "bg"] = ";".join([code, *codes[:count]])
            del codes[:count]
        elif code[:3] in ("38:", "48:"):
            state["fg" if code[0] == "3" else "bg"] = code
        elif code in _FLAGS:
            state[code] = code
        elif code in _OFF:
            for flag in _OFF[code]:
                state.pop(flag, None)
        elif code in ("39", "49"):
            state.pop("fg" if code == "39" else "bg", None)
        elif code.isdigit() and int(code) in (*range(30, 38), *range(90, 98)):
            state["fg"] = code
        elif code.isdigit() and int(code) in (*range(40, 48), *range(100, 108)):
            state["bg"] = code
    return state


def put(cells: list[Cell], column: int, run: str, style: str) -> int:
    """Write `run` (no controls) over `cells` at `column`; return the column after it."""
    if column > len(cells):
        cells += [BLANK] * (column - len(cells))
    if run.isascii() or _narrow.issuperset(run):
        fresh = [(character, style) for character in run]
    else:
        fresh = []
        for character in run:
            width = _width(character)
            if width == 1:
                _narrow.add(character)
            if width:
                fresh += [(character, style), _FILLER][:width]
            elif fresh:
                _attach(fresh, len(fresh), character)
            elif column:
                _attach(cells, column, character)
            else:
                fresh.append((character, style))
    end = column + len(fresh)
    split(cells, column)
    split(cells, end)
    cells[column:end] = fresh
    return end


def put_tab(cells: list[Cell], column: int, style: str) -> int:
    """Advance to the next tab stop; beyond the end of the row the tab is kept, so that copied text stays itself."""
    stop = column + TAB - column % TAB
    if column >= len(cells):
        cells += [BLANK] * (column - len(cells))
        cells += [("\t", style), *[_FILLER] * (stop - column - 1)]
    return stop


def split(cells: list[Cell], column: int) -> None:
    """Turn a wide character or tab that straddles `column` into blanks: one half of it is about to go."""
    if column >= len(cells) or cells[column][0]:
        return
    start = stop = column
    while start > 0 and not cells[start][0]:
        start -= 1
    while stop < len(cells) and not cells[stop][0]:
        stop += 1
    cells[start:stop] = [BLANK] * (stop - start)


def to_text(cells: list[Cell]) -> str:
    """Return the row as a string; colours start and end inside it."""
    parts: list[str] = []
    current = ""
    for character, style in cells:
        if style != current and character:
            parts += [_RESET if current else "", style]
            current = style
        parts.append(character)
    if current:
        parts.append(_RESET)
    return "".join(parts)


def to_cells(text: str) -> list[Cell]:
    """Take a row apart that `to_text` (or a user, without controls) made."""
    cells: list[Cell] = []
    style = ""
    for number, part in enumerate(STYLE.split(text)):
        if number % 2:
            style = restyle(style, part)
            continue
        first, *others = part.split("\t")
        put(cells, len(cells), first, style)
        for run in others:
            put_tab(cells, len(cells), style)
            put(cells, len(cells), run, style)
    return cells


def _attach(cells: list[Cell], end: int, mark: str) -> None:
    lead = end - 1
    while lead > 0 and not cells[lead][0]:
        lead -= 1
    character, style = cells[lead]
    cells[lead] = (character + mark, style)


def _width(character: str) -> int:
    if character.isascii():
        return 1
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
