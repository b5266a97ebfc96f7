"""Buckets as columns for a chart: floats that a browser draws as they are, counts as small integers.

Steps are exact up to 2^53. Times are seconds since the epoch, or, on the relative axis, since the run's start; relative
ones are computed from nanoseconds, so they are exact where it matters. Raw answers have three columns.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from typing import Any

import numpy as np

from strobe.store.charts import Chart
from strobe.store.series import Buckets
from strobe.store.series.column import Array
from strobe.wire.series import ColumnType

_Column = Callable[[Buckets, int], Array]


def mean_of(buckets: Buckets) -> Array:
    """Return the mean of each bucket's finite values, NaN where it has none."""
    finite = buckets.count - buckets.nan - buckets.posinf - buckets.neginf
    mean: Array = np.full(len(buckets), np.nan)
    np.divide(buckets.sum, finite, out=mean, where=finite > 0)
    return mean


#: what buckets have: a name, and how it is made; times are counted from the given origin
COLUMNS: Mapping[str, tuple[ColumnType, _Column]] = {
    "step": ("f8", lambda buckets, origin: buckets.first_step),
    "step_end": ("f8", lambda buckets, origin: buckets.last_step),
    "time": ("f8", lambda buckets, origin: (buckets.min_time - origin) / 1e9),
    "time_end": ("f8", lambda buckets, origin: (buckets.max_time - origin) / 1e9),
    "min": ("f8", lambda buckets, origin: buckets.min),
    "max": ("f8", lambda buckets, origin: buckets.max),
    "mean": ("f8", lambda buckets, origin: mean_of(buckets)),
    "first": ("f8", lambda buckets, origin: buckets.first),
    "last": ("f8", lambda buckets, origin: buckets.last),
    "min_step": ("f8", lambda buckets, origin: buckets.min_step),
    "max_step": ("f8", lambda buckets, origin: buckets.max_step),
    "count": ("u4", lambda buckets, origin: buckets.count),
    "nan": ("u4", lambda buckets, origin: buckets.nan),
    "posinf": ("u4", lambda buckets, origin: buckets.posinf),
    "neginf": ("u4", lambda buckets, origin: buckets.neginf),
}
_DTYPES = {"f8": "<f8", "u4": "<u4"}


def curve_bytes(run: str, chart: Chart, wanted: Set[str] | None) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return a curve for `wire.series.encode_series`."""
    columns = _columns(chart, wanted)
    return _facts(run, chart), {
        name: (kind, cells.astype(_DTYPES[kind]).tobytes()) for name, (kind, cells) in columns.items()
    }


def curve_json(run: str, chart: Chart, wanted: Set[str] | None) -> dict[str, Any]:
    """Return a curve as plain values."""
    return {
        **_facts(run, chart),
        "columns": {name: cells.tolist() for name, (_, cells) in _columns(chart, wanted).items()},
    }


def _facts(run: str, chart: Chart) -> dict[str, Any]:
    return {
        "run": run,
        "key": chart.ask.key,
        "lane": chart.lane,
        "is_raw": chart.buckets.is_raw,
        "is_approximate": chart.is_approximate,
        "started_ns": chart.started_ns,
        "version": chart.version,
    }


def _columns(chart: Chart, wanted: Set[str] | None) -> dict[str, tuple[ColumnType, Array]]:
    buckets, origin = chart.buckets, chart.origin_ns
    if buckets.is_raw:
        found: dict[str, tuple[ColumnType, Array]] = {
            "step": ("f8", buckets.first_step),
            "time": ("f8", (buckets.min_time - origin) / 1e9),
            "value": ("f8", buckets.first),
        }
    else:
        found = {
            name: (kind, make(buckets, origin))
            for name, (kind, make) in COLUMNS.items()
            if wanted is None or name in wanted
        }
    if chart.x is not None:
        found["x"] = ("f8", chart.x)
    return found
