"""Charts of columns of a table (line, scatter, bar, histogram), and of several lines given as lists."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from strobe.data.plot.chart import KINDS, CustomChart, plot_table
from strobe.data.table import Table


def line(
    table: Table, x: str, y: str, stroke: str | None = None, title: str = "", split_table: bool = False
) -> CustomChart:
    """Return a line chart of column `y` over column `x`; `stroke` is a column that tells the lines apart."""
    fields = {"x": x, "y": y} if stroke is None else {"x": x, "y": y, "stroke": stroke}
    return plot_table(KINDS["line"], table, fields, {"title": title}, split_table)


def scatter(table: Table, x: str, y: str, title: str = "", split_table: bool = False) -> CustomChart:
    """Return a scatter chart of column `y` over column `x`."""
    return plot_table(KINDS["scatter"], table, {"x": x, "y": y}, {"title": title}, split_table)


def bar(table: Table, label: str, value: str, title: str = "", split_table: bool = False) -> CustomChart:
    """Return a bar chart: a bar for each row, named by column `label`, as long as column `value` says."""
    return plot_table(KINDS["bar"], table, {"label": label, "value": value}, {"title": title}, split_table)


def histogram(table: Table, value: str, title: str = "", split_table: bool = False) -> CustomChart:
    """Return a histogram of the numbers in column `value`, binned by whoever draws it."""
    return plot_table(KINDS["histogram"], table, {"value": value}, {"title": title}, split_table)


def line_series(
    xs: Iterable[Any],
    ys: Iterable[Iterable[Any]],
    keys: Iterable[str] | None = None,
    title: str = "",
    xname: str = "x",
    split_table: bool = False,
) -> CustomChart:
    """Return a chart of several lines: `ys` holds one list per line, `xs` one for all of them or one for each."""
    y_lists = [_listed(series) for series in ys]
    x_all = _listed(xs)
    is_shared = not x_all or not hasattr(x_all[0], "__iter__") or isinstance(x_all[0], (str, bytes))
    x_lists = [x_all] * len(y_lists) if is_shared else [_listed(series) for series in x_all]
    names = [f"line_{i}" for i in range(len(y_lists))] if keys is None else [str(key) for key in keys]
    for what, given in (("xs", x_lists), ("keys", names)):
        if len(given) != len(y_lists):
            raise ValueError(f"{len(y_lists)} lines in ys need as many in {what}, got {len(given)}")
    rows = []
    for name, x_list, y_list in zip(names, x_lists, y_lists, strict=True):
        if len(x_list) != len(y_list):
            raise ValueError(f"line {name!r} has {len(x_list)} x values and {len(y_list)} y values")
        rows += [[x, name, y] for x, y in zip(x_list, y_list, strict=True)]
    table = Table(columns=["step", "lineKey", "lineVal"], data=rows)
    fields = {"step": "step", "lineKey": "lineKey", "lineVal": "lineVal"}
    return plot_table(KINDS["line_series"], table, fields, {"title": title, "xname": xname}, split_table)


def _listed(values: Any) -> list[Any]:
    return list(values.tolist() if hasattr(values, "tolist") else values)
