"""Curves of the store as lines of a drawing: which colour and dash, what is said of them, and where NaN and inf lie."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from strobe.drawing import Line, Smoothing, smooth
from strobe.drawing.figure import Odd
from strobe.drawing.stroke import DASHES
from strobe.server.curves import mean_of
from strobe.store.charts import Axis, Chart
from strobe.store.series import Buckets
from strobe.store.series.column import Array


def lines_of(
    charts: Sequence[Chart],
    names: Mapping[int, str],
    *,
    axis: Axis,
    amount: float,
    kind: Smoothing,
    is_log: bool,
) -> list[Line]:
    """Return the lines of all curves that have points.

    Several runs differ in colour, and their keys in dashes; the keys of one run differ in colour.
    """
    found = [chart for chart in charts if len(chart.buckets)]
    runs, keys = list(names), list(dict.fromkeys(chart.ask.key for chart in charts))
    lines: list[Line] = []
    for chart in found:
        run, key = runs.index(chart.ask.run_id), keys.index(chart.ask.key)
        colour, dash = (run, key) if len(runs) > 1 else (key, 0)
        look: dict[str, Any] = {"colour": colour, "dash": list(DASHES)[dash % len(DASHES)]}
        has_lanes = sum(other.ask == chart.ask for other in found) > 1
        label = _label(chart, names, has_keys=len(keys) > 1, has_lanes=has_lanes)
        x, y = _along(chart, axis), _values(chart.buckets)
        low, high = (None, None) if chart.buckets.is_raw else (chart.buckets.min.tolist(), chart.buckets.max.tolist())
        if amount:
            lines.append(Line(x=x, y=y, low=low, high=high, is_faint=True, **look))
            low = high = None
            # What smoothing leaves a gap for stays what it was: NaN, an infinity, or what a log axis cannot show.
            y = [
                new if math.isfinite(new) else old
                for old, new in zip(y, smooth(y, x, amount, kind, is_log=is_log), strict=True)
            ]
        lines.append(Line(x=x, y=y, low=low, high=high, label=label, odd=_odd_among(chart, x), **look))
    return lines


def _label(chart: Chart, names: Mapping[int, str], *, has_keys: bool, has_lanes: bool) -> str:
    parts = [names[chart.ask.run_id]] if len(names) > 1 or not has_keys else []
    parts += [chart.ask.key] if has_keys else []
    return " · ".join([*parts, *([chart.lane] if has_lanes else [])])


def _along(chart: Chart, axis: Axis) -> list[float]:
    """Return the middle of each bucket; halves are added, since two large steps may be more than fits."""
    buckets = chart.buckets
    if axis == "step":
        middle: Array = buckets.first_step / 2 + buckets.last_step / 2
    else:
        middle = (buckets.min_time - chart.origin_ns) / 2e9 + (buckets.max_time - chart.origin_ns) / 2e9
    found: list[float] = middle.tolist()
    return found


def _values(buckets: Buckets) -> list[float]:
    """Return each bucket's mean; an infinity where there is nothing else."""
    if buckets.is_raw:
        raw: list[float] = buckets.first.tolist()
        return raw
    mean = mean_of(buckets)
    is_empty = np.isnan(mean) & (buckets.nan == 0)
    mean[is_empty & (buckets.posinf > 0)] = math.inf
    mean[is_empty & (buckets.posinf == 0) & (buckets.neginf > 0)] = -math.inf
    found: list[float] = mean.tolist()
    return found


def _odd_among(chart: Chart, x: Sequence[float]) -> list[tuple[float, Odd]]:
    """Return where values that are not finite hide among others of their bucket."""
    if chart.buckets.is_raw:
        return []
    buckets, found = chart.buckets, list[tuple[float, Odd]]()
    has_finite = buckets.count > buckets.nan + buckets.posinf + buckets.neginf
    counts: tuple[tuple[Odd, Array], ...] = (("nan", buckets.nan), ("inf", buckets.posinf), ("-inf", buckets.neginf))
    for kind, count in counts:
        found += [(x[at], kind) for at in np.flatnonzero(has_finite & (count > 0)).tolist()]
    return found
