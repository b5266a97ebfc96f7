"""Ready-made charts, `strobe.plot.*`: each returns a `CustomChart` to be logged."""

from __future__ import annotations

from strobe.data.plot.basic import bar, histogram, line, line_series, scatter
from strobe.data.plot.chart import CustomChart, plot_table, visualize
from strobe.data.plot.classifier import confusion_matrix, pr_curve, roc_curve

__all__ = [
    "CustomChart",
    "bar",
    "confusion_matrix",
    "histogram",
    "line",
    "line_series",
    "plot_table",
    "pr_curve",
    "roc_curve",
    "scatter",
    "visualize",
]
