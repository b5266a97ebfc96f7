"""Lines, bands and marks as SVG elements within a plot's rectangle. Knows places, not axes or titles."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from strobe.drawing.figure import Dash, Line, Odd
from strobe.drawing.scale import Scale
from strobe.drawing.theme import Paint

DASHES: dict[Dash, str] = {"solid": "", "dash": "7 4", "dot": "1.5 4", "dashdot": "8 4 1.5 4"}
#: marks nearer than this stand for each other
_MARK_PX = 7.0
Spot = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Plot:
    """A rectangle, and the scales along its sides."""

    left: float
    top: float
    width: float
    height: float
    x: Scale
    y: Scale

    def across(self, value: float) -> float | None:
        place = self.x.place(value)
        return None if place is None else self.left + place * self.width

    def down(self, value: float) -> float | None:
        place = self.y.place(value)
        return None if place is None else self.top + (1 - place) * self.height


def line_elements(line: Line, plot: Plot, paint: Paint) -> Iterator[str]:
    """Yield the band, the strokes, and the points that stand alone."""
    if line.low is not None and line.high is not None:
        yield from _band(line, plot, paint)
    width, opacity = (1.0, ' stroke-opacity="0.3"') if line.is_faint else (1.6, "")
    dash = f' stroke-dasharray="{DASHES[line.dash]}"' if DASHES[line.dash] else ""
    strokes = list(_strokes(line.x, line.y, plot))
    if joined := "".join(_path(spots) for spots in strokes if len(spots) > 1):
        yield (
            f'<path d="{joined}" fill="none" {paint.line(line.colour)} stroke-width="{width}"{opacity}{dash} '
            'stroke-linejoin="round" stroke-linecap="round"/>'
        )
    if not line.is_faint:
        for spots in strokes:
            if len(spots) == 1:
                yield f'<circle cx="{spots[0][0]:.1f}" cy="{spots[0][1]:.1f}" r="2.2" {paint.dot(line.colour)}/>'


def mark_elements(line: Line, plot: Plot, paint: Paint) -> Iterator[str]:
    """Yield a mark for every place without a finite value: a cross for NaN, arrows for infinities at their end."""
    taken: dict[Odd, float] = {}
    places = [(x, kind) for x, y in zip(line.x, line.y, strict=True) if (kind := _kind(y)) is not None]
    for value, kind in sorted([*places, *line.odd], key=lambda place: place[0]):
        x = plot.across(value)
        if x is None or not plot.left - 0.5 <= x <= plot.left + plot.width + 0.5:
            continue
        if x - taken.get(kind, -math.inf) < _MARK_PX:
            continue
        taken[kind] = x
        yield _mark(kind, x, plot, paint)


def count_hidden(line: Line, plot: Plot) -> int:
    """Return how many finite points have no place on a logarithmic axis."""
    return sum(
        1
        for x, y in zip(line.x, line.y, strict=True)
        if math.isfinite(x) and math.isfinite(y) and (plot.x.place(x) is None or plot.y.place(y) is None)
    )


def _strokes(xs: Sequence[float], ys: Sequence[float], plot: Plot) -> Iterator[list[Spot]]:
    """Yield runs of points that are joined."""
    spots: list[Spot] = []
    for x_value, y_value in zip(xs, ys, strict=True):
        x, y = plot.across(x_value), plot.down(y_value)
        if x is None or y is None:
            if spots:
                yield spots
            spots = []
        else:
            spots.append((_near(x), _near(y)))
    if spots:
        yield spots


def _band(line: Line, plot: Plot, paint: Paint) -> Iterator[str]:
    assert line.low is not None
    assert line.high is not None
    floor = plot.top + plot.height
    edges: list[tuple[float, float, float]] = []
    shapes: list[list[tuple[float, float, float]]] = [edges]
    for x_value, low, high in zip(line.x, line.low, line.high, strict=True):
        x, top, bottom = plot.across(x_value), plot.down(high), plot.down(low)
        if x is None or top is None:
            edges = []
            shapes.append(edges)
            continue
        # What is too low for a logarithmic axis reaches down to its end.
        edges.append((_near(x), _near(top), _near(floor if bottom is None else bottom)))
    found = [shape for shape in shapes if len(shape) > 1 and any(top != bottom for _, top, bottom in shape)]
    if found:
        outline = "".join(
            _path([(x, top) for x, top, _ in shape] + [(x, bottom) for x, _, bottom in reversed(shape)]) + "Z"
            for shape in found
        )
        yield f'<path d="{outline}" {paint.dot(line.colour)} fill-opacity="0.16" stroke="none"/>'


def _path(spots: Sequence[Spot]) -> str:
    (x, y), *rest = spots
    return f"M{x:g} {y:g}" + "".join(f"L{x:g} {y:g}" for x, y in rest)


def _near(place: float) -> float:
    """Return a place to a tenth of a pixel; far outside the picture, where nobody sees a difference, at its rim."""
    return round(max(-9999.0, min(99_999.0, place)), 1)


def _kind(value: float) -> Odd | None:
    if math.isfinite(value):
        return None
    return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"


def _mark(kind: Odd, x: float, plot: Plot, paint: Paint) -> str:
    top, bottom = plot.top, plot.top + plot.height
    if kind == "inf":
        shape = f"M{x - 4:.1f} {top + 7:.1f}h8l-4 -7z"
    elif kind == "-inf":
        shape = f"M{x - 4:.1f} {bottom - 7:.1f}h8l-4 7z"
    else:  # a cross, as an outline: one colour attribute serves all marks
        shape = f"M{x - 3:.1f} {bottom - 9:.1f}l3 3l3 -3l1 1l-3 3l3 3l-1 1l-3 -3l-3 3l-1 -1l3 -3l-3 -3z"
    return f'<path d="{shape}" {paint.of("odd")}/>'
