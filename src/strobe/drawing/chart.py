"""A figure as an SVG document: title, axes, grid, lines, marks, legend, and a description for screen readers.

Text stays text, so that it can be searched, selected and read aloud. The document refers to nothing outside itself, has
no script, and is the same bytes for the same figure.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator
from itertools import chain

from strobe.drawing.figure import Figure, Line
from strobe.drawing.legend import lay_out
from strobe.drawing.scale import Scale, fit_scale
from strobe.drawing.stroke import Plot, count_hidden, line_elements, mark_elements
from strobe.drawing.text import plain, shorten, width_of
from strobe.drawing.theme import Paint
from strobe.drawing.ticks import Tick, duration_ticks, number, ticks_of, time_ticks

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif"
_SIZE = 11
_TITLE_SIZE = 14
_RIM = 12
#: described one by one, so many; the rest are counted
_DESCRIBED = 12


def draw(figure: Figure) -> str:
    """Return the figure as an SVG document."""
    return _Drawing(figure).text()


class _Drawing:
    def __init__(self, figure: Figure) -> None:
        self.figure = figure
        self.paint = Paint(figure.theme)
        x, y = _scales(figure)
        named = [line for line in figure.lines if line.label and not line.is_faint]
        rows = lay_out(named if figure.has_legend and _needs_legend(figure, named) else [], figure.width - 2 * _RIM)
        self.legend = rows.cut(int(figure.height * 0.3))
        top = _RIM + (27 if figure.title else 4)
        hidden = sum(count_hidden(line, x, y) for line in figure.lines if not line.is_faint)
        self.note = ". ".join(filter(None, [figure.note, _hidden_note(hidden)]))
        top += 17 if self.note else 0
        bottom = _RIM + 16 + (16 if figure.x_label else 0) + self.legend.height
        height = max(20.0, figure.height - top - bottom)
        self.y_ticks = ticks_of(y, max(2, int(height / 48)))
        widest = max((width_of(tick.label, _SIZE) for tick in self.y_ticks), default=0.0)
        left = min(_RIM + widest + 6 + (16 if figure.y_label else 0), figure.width * 0.4)
        width = max(20.0, figure.width - left - _RIM - 6)
        self.plot = Plot(round(left, 1), top, round(width, 1), height, x, y)
        self.x_ticks = _x_ticks(figure, x, width)

    def text(self) -> str:
        figure, paint = self.figure, self.paint
        said = plain(self._description())
        title = plain(figure.title or figure.y_label or "Chart")
        name = hashlib.blake2b(
            f"{title}{said}{figure.width}{figure.height}{figure.theme}".encode("utf-8", "replace"), digest_size=5
        ).hexdigest()
        clip = f"strobe-{name}-plot"
        plot = self.plot
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{figure.width}" height="{figure.height}" '
            f'viewBox="0 0 {figure.width} {figure.height}" role="img" '
            f'aria-labelledby="strobe-{name}-title strobe-{name}-desc" '
            f'font-family="{FONT}" font-size="{_SIZE}">',
            f'<title id="strobe-{name}-title">{title}</title><desc id="strobe-{name}-desc">{said}</desc>',
            paint.style(),
            f'<clipPath id="{clip}"><rect x="{plot.left - 1:g}" y="{plot.top - 1:g}" width="{plot.width + 2:g}" '
            f'height="{plot.height + 2:g}"/></clipPath>',
            f'<rect width="{figure.width}" height="{figure.height}" {paint.of("ground")}/>',
            *self._head(),
            *self._grid(),
            f'<g clip-path="url(#{clip})">',
            *chain.from_iterable(line_elements(line, plot, paint) for line in self._drawn()),
            *chain.from_iterable(mark_elements(line, plot, paint) for line in figure.lines if not line.is_faint),
            "</g>",
            *self._labels(),
            *self.legend.elements(paint, left=_RIM, top=figure.height - _RIM / 2 - self.legend.height, size=_SIZE),
            "</svg>",
        ]
        return "\n".join(filter(None, parts)) + "\n"

    def _drawn(self) -> list[Line]:
        """Faint lines first: what they stand behind is drawn over them."""
        return sorted(self.figure.lines, key=lambda line: not line.is_faint)

    def _head(self) -> Iterator[str]:
        figure, room, at = self.figure, self.figure.width - 2 * _RIM, _RIM + 11
        if figure.title:
            text = plain(shorten(figure.title, room, _TITLE_SIZE * 1.05))
            font = f'font-size="{_TITLE_SIZE}" font-weight="600" {self.paint.of("ink")}'
            yield f'<text x="{_RIM}" y="{at + 1}" {font}>{text}</text>'
            at += 22
        if self.note:
            yield f'<text x="{_RIM}" y="{at}" {self.paint.of("soft")}>{plain(shorten(self.note, room, _SIZE))}</text>'

    def _grid(self) -> Iterator[str]:
        plot = self.plot
        right, bottom = plot.left + plot.width, plot.top + plot.height
        lines = "".join(f"M{plot.left:g} {_at(plot.down(tick.value))}H{right:g}" for tick in self.y_ticks)
        if lines:
            yield f'<path d="{lines}" {self.paint.of("grid")} fill="none" shape-rendering="crispEdges"/>'
        stubs = "".join(f"M{_at(plot.across(tick.value))} {bottom:g}v4" for tick in self.x_ticks)
        yield (
            f'<path d="M{plot.left:g} {bottom:g}H{right:g}{stubs}" {self.paint.of("axis")} fill="none" '
            'shape-rendering="crispEdges"/>'
        )

    def _labels(self) -> Iterator[str]:
        figure, plot, soft = self.figure, self.plot, self.paint.of("soft")
        bottom, right = plot.top + plot.height, plot.left + plot.width
        yield f'<g {soft} text-anchor="end">'
        for tick in self.y_ticks:
            y = plot.down(tick.value)
            if y is not None:
                yield f'<text x="{plot.left - 6:g}" y="{y + 4:.1f}">{plain(tick.label)}</text>'
        yield f'</g><g {soft} text-anchor="middle">'
        taken = -math.inf
        for tick in self.x_ticks:
            x, half = plot.across(tick.value), width_of(tick.label, _SIZE) / 2
            if x is None:
                continue
            middle = max(half + 2, min(figure.width - half - 2, x))
            if middle - half > taken + 4:  # labels that would touch are left out, their ticks stay
                yield f'<text x="{middle:.1f}" y="{bottom + 16:g}">{plain(tick.label)}</text>'
                taken = middle + half
        if figure.x_label:
            text = plain(shorten(figure.x_label, plot.width, _SIZE))
            yield f'<text x="{(plot.left + right) / 2:.1f}" y="{bottom + 32:g}">{text}</text>'
        if figure.y_label:
            middle = (plot.top + bottom) / 2
            text = plain(shorten(figure.y_label, plot.height, _SIZE))
            yield f'<text transform="translate({_RIM + 6} {middle:.1f}) rotate(-90)">{text}</text>'
        yield "</g>"
        if not any(len(line.x) for line in figure.lines):
            x, y = (plot.left + right) / 2, (plot.top + bottom) / 2
            yield f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="middle" {soft}>no points</text>'

    def _description(self) -> str:
        shown = [line for line in self.figure.lines if not line.is_faint]
        over = f" over {self.figure.x_label}" if self.figure.x_label else ""
        parts = [f"Line chart{over}, {len(shown)} line{'' if len(shown) == 1 else 's'}."]
        parts += [_said(line) for line in shown[:_DESCRIBED]]
        if len(shown) > _DESCRIBED:
            parts.append(f"And {len(shown) - _DESCRIBED} more.")
        return " ".join([*parts, *([f"{self.note}."] if self.note else [])])


def _needs_legend(figure: Figure, named: list[Line]) -> bool:
    return len(named) > 1 or any(line.label != figure.title for line in named)


def _scales(figure: Figure) -> tuple[Scale, Scale]:
    first, last = (
        end if end is not None and math.isfinite(end) and (figure.x_scale != "log" or end > 0) else None
        for end in (figure.x_first, figure.x_last)
    )
    ends = [end for end in (first, last) if end is not None]
    odd = [x for line in figure.lines for x, _ in line.odd]
    x = fit_scale(figure.x_scale, [*chain.from_iterable(line.x for line in figure.lines), *odd, *ends], is_padded=False)
    low, high = x.low if first is None else first, x.high if last is None else last
    if low < high:
        x = Scale(x.kind, low, high)
    bands = [band for line in figure.lines for band in (line.low, line.high) if band is not None]
    values = chain(chain.from_iterable(line.y for line in figure.lines), chain.from_iterable(bands))
    return x, fit_scale(figure.y_scale, values, is_padded=True)


def _x_ticks(figure: Figure, x: Scale, width: float) -> list[Tick]:
    if figure.x_kind == "time" and x.kind == "linear":
        return time_ticks(x, max(2, int(width / 110)))
    if figure.x_kind == "duration":
        return duration_ticks(x, max(2, int(width / 80)))
    return ticks_of(x, max(2, int(width / 80)))


def _hidden_note(count: int) -> str:
    if not count:
        return ""
    return (
        f"{count:,} point{'' if count == 1 else 's'} at or below zero {'is' if count == 1 else 'are'} not on a log axis"
    )


def _said(line: Line) -> str:
    finite = [y for y in line.y if math.isfinite(y)]
    name = line.label or "line"
    odd = len(line.y) - len(finite) + len(line.odd)
    gaps = f", {odd:,} not finite" if odd else ""
    if not finite:
        return f"{name}: no finite points{gaps}."
    return (
        f"{name}: {len(line.y):,} point{'' if len(line.y) == 1 else 's'}{gaps}, from {number(finite[0])} to "
        f"{number(finite[-1])}, lowest {number(min(finite))}, highest {number(max(finite))}."
    )


def _at(place: float | None) -> str:
    return "0" if place is None else f"{place:.1f}"
