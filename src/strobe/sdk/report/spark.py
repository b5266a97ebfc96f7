"""Sparklines: a series in one line of text."""

from __future__ import annotations

import math
from collections.abc import Sequence

BLOCKS = "▁▂▃▄▅▆▇█"
ASCII = ".:-=+*#@"
#: what stands for a stretch without a finite value: NaN, +inf, -inf
_ODD = {False: "·▲▼", True: "?^v"}


def sparkline(values: Sequence[float | int | None], width: int = 24, *, ascii: bool = False) -> str:
    """Return at most `width` characters, each the mean of equally many neighbours; constants stay in the middle."""
    if width <= 0 or not values:
        return ""
    count = min(width, len(values))
    buckets = [values[index * len(values) // count : (index + 1) * len(values) // count] for index in range(count)]
    means = [_mean(bucket) for bucket in buckets]
    finite = [mean for mean in means if math.isfinite(mean)]
    low, high = (min(finite), max(finite)) if finite else (0.0, 0.0)
    levels, odd = (ASCII if ascii else BLOCKS), _ODD[ascii]
    return "".join(_character(mean, low, high, levels, odd) for mean in means)


def _mean(bucket: Sequence[float | int | None]) -> float:
    numbers = [_number(value) for value in bucket]
    finite = [number for number in numbers if math.isfinite(number)]
    if finite:
        # Divided first: the sum of two large numbers may be no number.
        return math.fsum(number / len(finite) for number in finite)
    return next((number for number in numbers if not math.isnan(number)), math.nan)


def _number(value: float | int | None) -> float:
    try:
        return math.nan if value is None else float(value)
    except OverflowError:
        return math.inf if value is not None and value > 0 else -math.inf


def _character(mean: float, low: float, high: float, levels: str, odd: str) -> str:
    if math.isnan(mean):
        return odd[0]
    if math.isinf(mean):
        return odd[1] if mean > 0 else odd[2]
    span = high / 2 - low / 2
    if span <= 0:
        return levels[len(levels) // 2 - 1]
    return levels[min(len(levels) - 1, int((mean / 2 - low / 2) / span * len(levels)))]
