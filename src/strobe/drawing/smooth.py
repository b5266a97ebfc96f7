"""Smoothing of a curve by distance along x: the formulas of the page (web/src/series/smooth.ts), so both draw one line.

One amount a in [0, 1) for every kind, and one unit u of x: the curve's length over its number of steps, of which there
are 1,000 at most. With d the distance of two points in units:

    ema       mean of the points so far, each weighing a^d
    gaussian  mean of all points, each weighing exp(-(d/sigma)²/2), sigma = sqrt(a/3) / (1-a)
    window    mean of the points with d <= (1+a) / (1-a) / 2; median, min and max of the same

A constant stays exactly what it is, and no result leaves the range of the values. What is not finite is a gap: it
counts for nothing and stays where it is.
"""

from __future__ import annotations

import cmath
import math
from bisect import bisect_left, insort
from collections.abc import Callable, Sequence
from typing import Literal

from strobe.drawing.sliding import slide

Smoothing = Literal["ema", "gaussian", "window", "median", "min", "max"]

_MOST = 0.9999
_MAX_STEPS = 1000
#: exp(-d²/2) for d >= 0 is, within 0.001, the real part of two damped oscillations (Deriche 1993): amplitude, exponent
_BELL = ((1.68 - 3.735j, complex(-1.783, 0.6318)), (-0.6803 + 0.2598j, complex(-1.723, 1.997)))


def smooth(
    values: Sequence[float],
    x: Sequence[float] | None = None,
    amount: float = 0.9,
    kind: Smoothing = "ema",
    *,
    is_log: bool = False,
    unit: float | None = None,
) -> list[float]:
    """Return the values smoothed: 0 leaves them alone, 0.9 is strong, 1 is not possible.

    Without `x` they are evenly spaced. `is_log` smooths their logarithms, for a logarithmic axis, and makes gaps of
    values that have none. `unit` treats several curves alike; by default it is the curve's own.
    """
    if not 0 <= amount < 1:
        raise ValueError(f"the amount must lie in [0, 1), got {amount!r}")
    if x is not None and len(x) != len(values):
        raise ValueError(f"x and the values must be of one length, got {len(x)} and {len(values)}")
    given = [_finite_or_nan(value) for value in values]
    if is_log:
        given = [value if value > 0 else math.nan for value in given]
    if amount == 0 or not given:
        return given
    along = _distances(list(range(len(given))) if x is None else x)
    inner = [value if math.isnan(value) else math.log(value) for value in given] if is_log else given
    out = _smoothed(along, inner, min(amount, _MOST), kind, unit or _unit(along))
    return _confined([math.exp(value) for value in out] if is_log else out, given)


def _smoothed(x: Sequence[float], y: Sequence[float], amount: float, kind: Smoothing, unit: float) -> list[float]:
    half = unit * (1 + amount) / (1 - amount) / 2
    if kind == "ema":
        return _ema(x, y, amount, unit)
    if kind == "gaussian":
        return _gaussian(x, y, unit * math.sqrt(amount / 3) / (1 - amount))
    if kind == "median":
        return _median(x, y, half)
    if kind == "window":
        sums = slide(x, y, half, 0.0, lambda total, value: total + value)
        counts = slide(x, [value - value + 1 for value in y], half, 0.0, lambda total, value: total + value)
        return [total / count if count else math.nan for total, count in zip(sums, counts, strict=True)]
    extremes: dict[str, tuple[float, Callable[[float, float], float]]] = {
        "min": (math.inf, min),
        "max": (-math.inf, max),
    }
    if kind in extremes:
        none, pick = extremes[kind]
        return slide(x, y, half, none, pick)
    raise ValueError(f"smoothing is one of ema, gaussian, window, median, min, max; got {kind!r}")


def _ema(x: Sequence[float], y: Sequence[float], weight: float, unit: float) -> list[float]:
    out, decay = [], math.log(weight)
    total = mean = 0.0
    last = x[0]
    for place, value in zip(x, y, strict=True):
        if math.isnan(value):
            out.append(value)
            continue
        total = total * math.exp(decay * ((place - last) / unit)) + 1  # not decay/unit first: a unit may be tiny
        # In this form, unlike as a quotient of two sums, a constant is left exactly alone.
        mean += (value - mean) / total if math.isfinite(value - mean) else value / total - mean / total
        last = place
        out.append(mean)
    return out


def _gaussian(x: Sequence[float], y: Sequence[float], sigma: float) -> list[float]:
    tops, bottoms = [0.0] * len(y), [0.0] * len(y)
    for is_back in (False, True):
        order = range(len(y) - 1, -1, -1) if is_back else range(len(y))
        sums = [0j, 0j]
        weights = [0j, 0j]
        last = x[order[0]]
        for at in order:
            if math.isnan(y[at]):
                continue
            distance = abs(x[at] - last) / sigma if sigma > 0 else 1e3 * (x[at] != last)
            last = x[at]
            for wave, (amplitude, exponent) in enumerate(_BELL):
                turn = cmath.exp(exponent * min(distance, 400.0))
                sums[wave], weights[wave] = sums[wave] * turn, weights[wave] * turn
                if is_back:  # a point itself counts on the way there only
                    tops[at] += (amplitude * sums[wave]).real
                    bottoms[at] += (amplitude * weights[wave]).real
                sums[wave], weights[wave] = sums[wave] + y[at], weights[wave] + 1
                if not is_back:
                    tops[at] += (amplitude * sums[wave]).real
                    bottoms[at] += (amplitude * weights[wave]).real
    return [math.nan if math.isnan(own) else top / low for own, top, low in zip(y, tops, bottoms, strict=True)]


def _median(x: Sequence[float], y: Sequence[float], half: float) -> list[float]:
    out, window = [], list[float]()
    first = end = 0
    for place, own in zip(x, y, strict=True):
        while end < len(x) and x[end] <= place + half:
            if not math.isnan(y[end]):
                insort(window, y[end])
            end += 1
        while first < end and x[first] < place - half:
            if not math.isnan(y[first]):
                del window[bisect_left(window, y[first])]
            first += 1
        middle = len(window) // 2
        if math.isnan(own):
            out.append(own)
        else:
            out.append(window[middle] if len(window) % 2 else window[middle - 1] / 2 + window[middle] / 2)
    return out


def _unit(x: Sequence[float]) -> float:
    if len(x) < 2:
        return 1.0
    length = abs(x[-1] - x[0])
    return length / min(len(x) - 1, _MAX_STEPS) or 1.0 if math.isfinite(length) else 1.0


def _distances(x: Sequence[float]) -> list[float]:
    """Return x if it rises, else the way walked along it: x may be a metric that goes back."""
    if all(math.isfinite(place) for place in x) and all(x[at] <= x[at + 1] for at in range(len(x) - 1)):
        return list(x)
    way = [0.0]
    for at in range(1, len(x)):
        gap = abs(x[at] - x[at - 1])
        way.append(way[-1] + (gap if math.isfinite(gap) else 0.0))
    return way


def _confined(out: list[float], given: Sequence[float]) -> list[float]:
    """Take back what rounding adds: an average lies within the range of what it averages."""
    finite = [value for value in given if not math.isnan(value)]
    low, high = min(finite, default=math.nan), max(finite, default=math.nan)
    return [value if math.isnan(value) else max(low, min(high, value)) for value in out]


def _finite_or_nan(value: float) -> float:
    return value if math.isfinite(value) else math.nan
