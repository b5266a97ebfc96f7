"""What is drawn, as values: lines, and how their axes are read. No geometry here, and no SVG."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from strobe.drawing.scale import ScaleKind

#: auto follows the reader's system where the SVG is shown by a browser, and is light elsewhere
Theme = Literal["auto", "light", "dark"]
Dash = Literal["solid", "dash", "dot", "dashdot"]
#: what lies along x: a number, seconds since a start, or seconds since the epoch (shown in UTC)
XKind = Literal["number", "duration", "time"]
Odd = Literal["nan", "inf", "-inf"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """Points in the order in which they are joined. A value that is not finite ends a stroke and gets a mark."""

    x: Sequence[float]
    y: Sequence[float]
    #: what the values of the points they stand for lie between; drawn as a band
    low: Sequence[float] | None = None
    high: Sequence[float] | None = None
    #: places of values that `y` does not show, such as a NaN among the points of a bucket
    odd: Sequence[tuple[float, Odd]] = ()
    label: str = ""
    #: a number of the palette
    colour: int = 0
    dash: Dash = "solid"
    #: what stands behind its smoothed self: thin, pale, not in the legend
    is_faint: bool = False

    def __post_init__(self) -> None:
        sizes = {name: len(part) for name in ("x", "y", "low", "high") if (part := getattr(self, name)) is not None}
        if len(set(sizes.values())) > 1 or ("low" in sizes) != ("high" in sizes):
            raise ValueError(f"the parts of a line must be of one length, and low goes with high; got {sizes}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A chart."""

    lines: Sequence[Line]
    title: str = ""
    x_label: str = ""
    y_label: str = ""
    x_kind: XKind = "number"
    x_scale: Literal["linear", "log"] = "linear"
    y_scale: ScaleKind = "linear"
    #: ends of the axis; by default where the data ends
    x_first: float | None = None
    x_last: float | None = None
    width: int = 720
    height: int = 400
    theme: Theme = "auto"
    has_legend: bool = True
    #: said below the title, such as what was left out
    note: str = ""
