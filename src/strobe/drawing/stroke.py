"""Lines, bands and marks as SVG elements within a plot's rectangle. Knows places, not axes or titles."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from strobe.drawing.figure import Dash, Line, Odd
from strobe.drawing.scale import Scale
from strobe.drawing.theme import Paint

DASHES: dict[Dash, str] = {"solid": "", "dash": "7 4", "dot": "1.5 4", "dashdot": "8 4 1.5 4"}
#: marks nearer than this stand for each other
_MARK_PX = 7.0
#: a place in tenths of a pixel: finer than anybody sees, and whole numbers add up without rounding
Spot = tuple[int, int]
#: far outside the picture, where nobody sees a difference, everything is at its rim
_RIM = 999_990


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

    def tenths_across(self, values: Iterable[float]) -> list[int | None]:
        start, scale = 10 * self.left, 10 * self.width
        return [None if place is None else _tenths(start + place * scale) for place in self.x.places(values)]

    def tenths_down(self, values: Iterable[float]) -> list[int | None]:
        start, scale = 10 * (self.top + self.height), -10 * self.height
        return [None if place is None else _tenths(start + place * scale) for place in self.y.places(values)]


def line_elements(line: Line, plot: Plot, paint: Paint) -> Iterator[str]:
    """Yield the band, the strokes, and the points that stand alone."""
    across = plot.tenths_across(line.x)
    if line.low is not None and line.high is not None:
        yield from _band(line, across, plot, paint)
    width, opacity = (1.0, ' stroke-opacity="0.3"') if line.is_faint else (1.6, "")
    dash = f' stroke-dasharray="{DASHES[line.dash]}"' if DASHES[line.dash] else ""
    strokes = list(_strokes(across, plot.tenths_down(line.y)))
    if joined := "".join(_path(spots) for spots in strokes if len(spots) > 1):
        yield (
            f'<path d="{joined}" fill="none" {paint.line(line.colour)} stroke-width="{width}"{opacity}{dash} '
            'stroke-linejoin="round" stroke-linecap="round"/>'
        )
    if not line.is_faint:
        for (x, y), *rest in strokes:
            if not rest:
                yield f'<circle cx="{_short(x)}" cy="{_short(y)}" r="2.2" {paint.dot(line.colour)}/>'


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


def count_hidden(line: Line, x: Scale, y: Scale) -> int:
    """Return how many finite points have no place on a logarithmic axis."""
    if "log" not in (x.kind, y.kind):
        return 0
    finite = ((a, b) for a, b in zip(line.x, line.y, strict=True) if math.isfinite(a) and math.isfinite(b))
    return sum(not (x.shows(a) and y.shows(b)) for a, b in finite)


def _strokes(across: Sequence[int | None], down: Sequence[int | None]) -> Iterator[list[Spot]]:
    """Yield runs of points that are joined."""
    spots: list[Spot] = []
    for x, y in zip(across, down, strict=True):
        if x is None or y is None:
            if spots:
                yield spots
            spots = []
        else:
            spots.append((x, y))
    if spots:
        yield spots


def _band(line: Line, across: Sequence[int | None], plot: Plot, paint: Paint) -> Iterator[str]:
    assert line.low is not None
    assert line.high is not None
    floor = _tenths(10 * (plot.top + plot.height))
    edges: list[tuple[int, int, int]] = []
    shapes: list[list[tuple[int, int, int]]] = [edges]
    for x, top, bottom in zip(across, plot.tenths_down(line.high), plot.tenths_down(line.low), strict=True):
        if x is None or top is None:
            edges = []
            shapes.append(edges)
        else:  # what is too low for a logarithmic axis reaches down to its end
            edges.append((x, top, floor if bottom is None else bottom))
    found = [shape for shape in shapes if len(shape) > 1 and any(top != bottom for _, top, bottom in shape)]
    if found:
        outline = "".join(
            _path([(x, top) for x, top, _ in shape] + [(x, bottom) for x, _, bottom in reversed(shape)]) + "Z"
            for shape in found
        )
        yield f'<path d="{outline}" {paint.dot(line.colour)} fill-opacity="0.16" stroke="none"/>'


def _path(spots: Sequence[Spot]) -> str:
    """Return a path through the spots, in as few characters as it takes: most of a chart's bytes are here.

    Level steps are joined, and those that go nowhere left out.
    """
    x, y = start = spots[0]
    steps: list[Spot] = []
    last_right = last_down = 1
    for next_x, next_y in spots[1:]:
        right, down = next_x - x, next_y - y
        x, y = next_x, next_y
        if down == 0 == last_down and right * last_right >= 0:
            last_right += right
            steps[-1] = (last_right, 0)
        elif right or down or not steps:
            steps.append((right, down))
            last_right, last_down = right, down
    return f"M{_short(start[0])} {_short(start[1])}" + "".join([_step(right, down) for right, down in steps])


def _step(right: int, down: int) -> str:
    if not down:
        return f"h{_short(right)}"
    return f"l{_short(right)}{'' if down < 0 else ' '}{_short(down)}"


@lru_cache(maxsize=1 << 14)
def _short(tenths: int) -> str:
    whole, rest = divmod(abs(tenths), 10)
    text = f"{whole or ''}.{rest}" if rest else f"{whole}"
    return f"-{text}" if tenths < 0 else text


def _tenths(place: float) -> int:
    return round(place) if -_RIM < place < _RIM else _RIM if place > 0 else -_RIM


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
