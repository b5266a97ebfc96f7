"""Small charts side by side, as one SVG: a run at a glance.

Colours are of middle brightness and there is no background, so that it reads on light and dark pages alike, also where
the page's theme is not the system's and no style sheet reaches (notebooks, GitHub, nbconvert, mail).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from strobe.drawing.chart import FONT
from strobe.drawing.scale import fit_scale
from strobe.drawing.text import plain, shorten
from strobe.drawing.ticks import number

_COLUMNS = 3
_WIDTH, _HEIGHT = 240, 130
_LEFT, _TOP, _BOTTOM, _HEAD = 8, 38, 18, 22
#: where values are written, right of the plot
_SIDE = 38

# Contrast of at least 3:1 on white and on near-black.
TEXT = "#7a7f87"
LINE = "#3b82d6"
MARK = "#d9822b"
ODD = "#d6455d"
GRID = "#8a8f9633"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One small chart: values evenly spaced from the first to the last place on x."""

    title: str
    caption: str = ""
    values: Sequence[float] = ()
    #: what stands below the ends of the axis
    first: str = ""
    last: str = ""
    #: which of the values is the best one
    best: int | None = None
    #: said in red, such as the number of NaNs
    alarm: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    title: str
    cells: Sequence[Cell]
    #: what stands there if there are no cells
    empty: str = "no metrics yet"


def draw_grid(grid: Grid) -> str:
    """Return the grid as an SVG document."""
    columns = max(1, min(_COLUMNS, len(grid.cells)))
    rows = max(1, math.ceil(len(grid.cells) / columns))
    width, height = max(2, columns) * _WIDTH, rows * _HEIGHT + _HEAD
    title = plain(shorten(grid.title, width - 2 * _LEFT, 13))
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'role="img" font-family="{FONT}" font-size="11" fill="{TEXT}">',
        f"<title>{plain(grid.title)}</title>",
        f"<desc>{plain(' '.join(_said(cell) for cell in grid.cells) or grid.empty)}</desc>",
        f'<text x="{_LEFT}" y="15" font-size="12" font-weight="600">{title}</text>',
    ]
    for index, cell in enumerate(grid.cells):
        x, y = index % columns * _WIDTH, _HEAD + index // columns * _HEIGHT
        parts.append(f'<g transform="translate({x} {y})">{"".join(_elements(cell))}</g>')
    if not grid.cells:
        parts.append(f'<text x="{_LEFT}" y="42">{plain(grid.empty)}</text>')
    return "\n".join([*parts, "</svg>"])


def _said(cell: Cell) -> str:
    return f"{cell.title}: {', '.join(filter(None, [cell.caption, cell.alarm]))}."


def _elements(cell: Cell) -> Iterator[str]:
    room, right, floor = _WIDTH - 2 * _LEFT, _WIDTH - _LEFT - _SIDE, _HEIGHT - _BOTTOM
    yield f"<title>{plain(cell.title)}</title>"
    yield f'<text x="{_LEFT}" y="14" font-weight="600">{plain(shorten(cell.title, room, 11.5))}</text>'
    yield f'<text x="{_LEFT}" y="28">{plain(shorten(cell.caption, room, 11))}</text>'
    finite = [value for value in cell.values if math.isfinite(value)]
    if finite:
        low, high = min(finite), max(finite)
        for y, value in ((_TOP, high), (floor, low)) if low < high else ((floor, low),):
            yield f'<path d="M{_LEFT} {y}H{right}" stroke="{GRID}" fill="none"/>'
            yield f'<text x="{right + 4}" y="{y + 3}" font-size="9">{number(value, 3)}</text>'
        yield from _line(cell)
    else:
        yield f'<path d="M{_LEFT} {floor}H{right}" stroke="{GRID}" fill="none"/>'
    foot = f'y="{_HEIGHT - 6}" font-size="10"'
    if cell.first or cell.last:
        yield f'<text x="{_LEFT}" {foot}>{plain(cell.first)}</text>'
        if cell.last != cell.first:
            yield f'<text x="{right}" {foot} text-anchor="end">{plain(cell.last)}</text>'
    if cell.alarm:
        yield f'<text x="{(_LEFT + right) / 2:g}" {foot} text-anchor="middle" fill="{ODD}">{plain(cell.alarm)}</text>'


def _line(cell: Cell) -> Iterator[str]:
    width, height, count = _WIDTH - 2 * _LEFT - _SIDE, _HEIGHT - _BOTTOM - _TOP, len(cell.values)
    scale = fit_scale("linear", cell.values, is_padded=False)
    spots: dict[int, tuple[float, float]] = {}
    for index, value in enumerate(cell.values):
        place = scale.place(value)
        if place is not None:
            across = index / (count - 1) if count > 1 else 0.5
            spots[index] = (_LEFT + across * width, _TOP + (1 - place) * height)
    if len(spots) > 1:
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in spots.values())
        yield f'<polyline points="{line}" stroke="{LINE}" stroke-width="1.5" fill="none" stroke-linejoin="round"/>'
    if cell.best in spots and len(spots) > 1:
        x, y = spots[cell.best]
        yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.5" fill="{MARK}"/>'
    x, y = spots[max(spots)]
    yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.5" fill="{LINE}"/>'
