"""The legend: a short stroke and a name for each line, in rows below the plot; what has no room is counted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from strobe.drawing.figure import Line
from strobe.drawing.stroke import DASHES
from strobe.drawing.text import plain, shorten, width_of
from strobe.drawing.theme import Paint

_ROW = 18
_STROKE = 18
_GAP = 16
_SIZE = 11


@dataclass(frozen=True, slots=True)
class Entry:
    """One name: the line that it is for, where it stands in its row, and what is written."""

    line: Line
    at: float
    label: str


@dataclass(frozen=True, slots=True)
class Legend:
    rows: Sequence[Sequence[Entry]]
    num_more: int = 0

    @property
    def height(self) -> int:
        num_rows = len(self.rows) + bool(self.num_more)
        return num_rows * _ROW + 6 if num_rows else 0

    def cut(self, height: int) -> Legend:
        """Return as many rows as fit, and how many names were left out."""
        room = max(1, height // _ROW)
        if len(self.rows) <= room:
            return self
        kept = self.rows[: max(1, room - 1)]
        return Legend(kept, sum(map(len, self.rows[len(kept) :])))

    def elements(self, paint: Paint, *, left: float, top: float, size: float) -> Iterator[str]:
        for number, row in enumerate(self.rows):
            y = top + number * _ROW + _ROW / 2 + 3
            for entry in row:
                dash = f' stroke-dasharray="{DASHES[entry.line.dash]}"' if DASHES[entry.line.dash] else ""
                x = left + entry.at
                yield f'<path d="M{x:.1f} {y:.1f}h{_STROKE}" {paint.line(entry.line.colour)} stroke-width="2"{dash}/>'
                yield f'<text x="{x + _STROKE + 5:.1f}" y="{y + 4:.1f}" {paint.of("ink")}>{plain(entry.label)}</text>'
        if self.num_more:
            y = top + len(self.rows) * _ROW + _ROW / 2 + 7
            yield f'<text x="{left}" y="{y:.1f}" {paint.of("soft")}>and {self.num_more:,} more</text>'


def lay_out(lines: Sequence[Line], width: float) -> Legend:
    """Return the legend of lines, as wide at most as that."""
    rows: list[list[Entry]] = []
    at = width + 1.0
    for line in lines:
        label = shorten(line.label, width - _STROKE - 5, _SIZE)
        needed = _STROKE + 5 + width_of(label, _SIZE)
        if not rows or at + needed > width:
            rows.append([])
            at = 0.0
        rows[-1].append(Entry(line, at, label))
        at += needed + _GAP
    return Legend(rows)
