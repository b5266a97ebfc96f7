"""Steps in a series: the piecewise-constant line that explains it best, with as few steps as the noise allows.

Least absolute deviations, so that single outliers move nothing, and a price per step that grows with the length of the
series (an information criterion for Laplace noise). The scale of the noise comes from neighbouring points, which a step
hardly touches. The optimum is exact (dynamic programming), not greedy. Knows nothing of benchmarks.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from strobe.bench import stats

#: a level needs so many points: what happened once is an outlier
MIN_POINTS = 3
#: price of a step, in units of log(points): 1 for its two parameters, as much again since its place was searched for
_PRICE = 2.0
#: median distance of neighbours, in units of the mean absolute deviation, for noise between normal and Laplace
_NEIGHBOURS = 1.17


@dataclass(frozen=True, slots=True)
class Level:
    """Points `start` up to before `stop` lie around `value`."""

    start: int
    stop: int
    value: float


def fit(values: Sequence[float], *, num_series: int = 1) -> list[Level]:
    """Return the levels of a series, one of so many that are searched for steps."""
    if not values:
        return []
    scale = noise_scale(values)
    # Each place in each of the series is another chance for noise to look like a step.
    price = scale * _PRICE * math.log(max(2, len(values) * num_series))
    return [Level(start, stop, stats.median(values[start:stop])) for start, stop in _cut(values, price)]


def lasting(levels: Sequence[Level], values: Sequence[float]) -> list[Level]:
    """Return the levels with those joined to a neighbour that fewer than MIN_POINTS of their points are nearer to.

    Two outliers and a usual point between them have the outliers' median. How far off they are must not matter, nor how
    quiet the rest is: of points that are equal to the last digit the scale is no help.
    """
    levels = list(levels)
    index = 0
    while index < len(levels):
        beside = [number for number in (index - 1, index + 1) if 0 <= number < len(levels)]
        if not beside or _num_own(levels[index], [levels[number] for number in beside], values) >= MIN_POINTS:
            index += 1
            continue
        nearest = min(beside, key=lambda number: abs(levels[number].value - levels[index].value))
        levels = _joined(levels, min(index, nearest), values)
        index = 0  # what is joined has another value, and its neighbours another neighbour
    return levels


def _num_own(level: Level, others: Sequence[Level], values: Sequence[float]) -> int:
    return sum(
        all(abs(value - level.value) < abs(value - other.value) for other in others)
        for value in values[level.start : level.stop]
    )


def merge(levels: Sequence[Level], values: Sequence[float], *, least: float) -> list[Level]:
    """Return the levels with neighbours joined that differ by less than `least`, nearest first."""
    levels = list(levels)
    while len(levels) > 1:
        gaps = [abs(after.value - before.value) for before, after in pairwise(levels)]
        index = min(range(len(gaps)), key=gaps.__getitem__)
        if gaps[index] >= least:
            break
        levels = _joined(levels, index, values)
    return levels


def _joined(levels: Sequence[Level], index: int, values: Sequence[float]) -> list[Level]:
    """Return the levels with one and the next as one."""
    start, stop = levels[index].start, levels[index + 1].stop
    return [*levels[:index], Level(start, stop, stats.median(values[start:stop])), *levels[index + 2 :]]


def noise_scale(values: Sequence[float]) -> float:
    """Return the mean absolute deviation that neighbouring points suggest; never quite zero."""
    apart = [abs(after - before) for before, after in pairwise(values)]
    # Some points are equal to the last digit: without a floor every rounding error would be a step.
    least = 1e-9 * max(1e-300, *map(abs, values))
    return max(stats.median(apart) / _NEIGHBOURS if apart else 0.0, least)


def _costs_from(values: Sequence[float], start: int) -> Iterator[float]:
    """Yield the sums of absolute deviations from the median of the values from `start` on, for all stops after it."""
    low: list[float] = []  # the lower half, negated: its greatest comes first
    high: list[float] = []
    below = above = 0.0
    for value in values[start:]:
        if low and value < -low[0]:
            heapq.heappush(low, -value)
            below += value
        else:
            heapq.heappush(high, value)
            above += value
        while len(low) > len(high):
            moved = -heapq.heappop(low)
            heapq.heappush(high, moved)
            below, above = below - moved, above + moved
        while len(high) > len(low) + 1:
            moved = heapq.heappop(high)
            heapq.heappush(low, -moved)
            below, above = below + moved, above - moved
        middle = high[0]
        yield max(0.0, above - below - middle * (len(high) - len(low)))


def _cut(values: Sequence[float], price: float) -> list[tuple[int, int]]:
    """Return the cheapest segments, each of at least MIN_POINTS unless the whole series is shorter."""
    n = len(values)
    best = [0.0] + [math.inf] * n
    came_from = [0] * (n + 1)
    # By starts, so that no more than the costs of one are held: those of all would be half a square of the length.
    for start in range(n):
        if best[start] == math.inf:
            continue
        for stop, cost in enumerate(_costs_from(values, start), start + 1):
            is_long_enough = stop - start >= MIN_POINTS or (start == 0 and stop == n)
            total = best[start] + cost + (price if start else 0.0)
            if is_long_enough and total < best[stop]:
                best[stop], came_from[stop] = total, start
    segments, stop = [], n
    while stop:
        segments.append((came_from[stop], stop))
        stop = came_from[stop]
    return segments[::-1]
