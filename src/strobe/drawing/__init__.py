"""Line charts as SVG, from plain sequences: for `/chart.svg`, notebooks, and whoever wants a picture of a series.

The one idea: a chart is a value (`Figure`) and drawing it is a pure function of that value, so that the same data gives
the same bytes. Knows neither runs nor stores nor numpy; nothing but the standard library is loaded for it.

    from strobe.drawing import Figure, Line, draw

    svg = draw(Figure(lines=[Line(x=[0, 1, 2], y=[3.0, 2.0, 1.5], label="loss")], title="loss"))
"""

from strobe.drawing.chart import draw
from strobe.drawing.figure import Dash, Figure, Line, Theme, XKind
from strobe.drawing.grid import Cell, Grid, draw_grid
from strobe.drawing.scale import ScaleKind
from strobe.drawing.smooth import Smoothing, smooth

__all__ = [
    "Cell",
    "Dash",
    "Figure",
    "Grid",
    "Line",
    "ScaleKind",
    "Smoothing",
    "Theme",
    "XKind",
    "draw",
    "draw_grid",
    "smooth",
]
