"""Totals over a window that slides along rising x, each point taken in once and let out once.

The one idea: the window is two stacks, an old part with the total from each point to its end, and a new part with one
running total. Nothing is subtracted, so a huge value that has left the window leaves no rounding behind.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence


def slide(
    x: Sequence[float], y: Sequence[float], half: float, none: float, combine: Callable[[float, float], float]
) -> list[float]:
    """Return `combine` over the values within `half` of each point, starting from `none`; NaN is left out and stays."""
    out: list[float] = []
    old: dict[int, float] = {}
    first = middle = end = 0
    fresh = none
    for place, own in zip(x, y, strict=True):
        while end < len(x) and x[end] <= place + half:
            if not math.isnan(y[end]):
                fresh = combine(fresh, y[end])
            end += 1
        while first < end and x[first] < place - half:
            old.pop(first, None)
            first += 1
            if first > middle:
                total, fresh, middle = none, none, end
                for at in range(end - 1, first - 1, -1):
                    if not math.isnan(y[at]):
                        total = combine(total, y[at])
                    old[at] = total
        out.append(own if math.isnan(own) else combine(old[first], fresh) if first < middle else fresh)
    return out
