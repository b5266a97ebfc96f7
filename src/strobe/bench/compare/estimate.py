"""How many times as fast B is as A: a ratio of medians, its bounds, and how often chance alone would show as much.

The unit is the process repeat, never the iteration: iterations of one process share its luck. Interleaved repeats stay
in their pairs, each of which saw the same machine: their ratio is the median of the pairs'. With enough repeats rank
tests decide (Wilcoxon for pairs, Mann-Whitney for two sessions), and the same tests turned round give the bounds:
nothing is assumed of the noise. With fewer no rank test could ever be convinced, and Student's t of the logarithms
takes their place. One repeat has no bounds. Above 1 is faster, whichever direction the metric has.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from strobe.bench import stats, student
from strobe.bench.compare.significance import (
    least_rank_p,
    mann_whitney,
    shift_of_pairs,
    shift_of_sides,
    signed_rank,
)
from strobe.bench.records import Better


@dataclass(frozen=True, slots=True)
class Estimate:
    """A speed-up with bounds, which are None where one repeat a side is all there is."""

    value: float
    low: float | None
    high: float | None
    #: of the test, before any adjustment
    p: float
    n: int
    #: standard error of the logarithm within the sessions, for means over several rows
    error: float | None = None
    freedom: int = 0
    #: standard error that comes on top between two sessions, which other rows of these may share
    between: float = 0.0
    #: whether there were enough repeats for a rank test
    is_ranked: bool = False


@dataclass(frozen=True, slots=True)
class _Shift:
    """What a test says of the logarithm of the speed-up."""

    p: float
    low: float
    high: float
    freedom: int


def estimate(
    a: Sequence[float],
    b: Sequence[float],
    better: Better,
    *,
    is_interleaved: bool = False,
    confidence: float = 0.95,
    level: float = 0.05,
) -> Estimate:
    """Estimate the speed-up of B over A; raises ValueError where a ratio has no meaning.

    `level` is the p that will be asked for: a rank test that could never give one so small is not made.
    """
    if not a or not b:
        raise ValueError("no samples")
    if min(*a, *b) <= 0:
        raise ValueError(f"a ratio needs positive samples, there is {min(*a, *b):g}")
    if is_interleaved and len(a) != len(b):
        raise ValueError(f"interleaved repeats come in pairs, there are {len(a)} and {len(b)}")
    sign = 1.0 if better == "more" else -1.0
    log_a, log_b = ([sign * math.log(sample) for sample in side] for side in (a, b))
    ratios = [y - x for x, y in zip(log_a, log_b, strict=False)] if is_interleaved else []
    # Of two sessions the very medians that tables show, so that nobody finds another ratio in their scores.
    value = stats.median(ratios) if is_interleaved else sign * math.log(stats.median(b) / stats.median(a))
    n = min(len(a), len(b))
    if n < 2:
        return Estimate(stats.factor(value), None, None, 1.0, n)
    least = least_rank_p(n) if is_interleaved else least_rank_p(len(a), len(b))
    is_ranked = least <= min(level, 1 - confidence)
    if is_interleaved:
        found = _of_pairs(ratios, confidence, is_ranked=is_ranked)
    else:
        found = _of_sides(log_a, log_b, confidence, is_ranked=is_ranked)
    # The median belongs inside the bounds, though they are built around other middles.
    low, high = min(value, found.low), max(value, found.high)
    error = max(high - value, value - low) / student.quantile(confidence, found.freedom)
    value, low, high = map(stats.factor, (value, low, high))
    return Estimate(value, low, high, found.p, n, error, found.freedom, is_ranked=is_ranked)


def _of_pairs(ratios: Sequence[float], confidence: float, *, is_ranked: bool) -> _Shift:
    if is_ranked:
        return _Shift(signed_rank(ratios), *shift_of_pairs(ratios, confidence), len(ratios) - 1)
    mean = student.mean_of(ratios)
    return _Shift(mean.p, *mean.bounds(confidence), mean.freedom)


def _of_sides(a: Sequence[float], b: Sequence[float], confidence: float, *, is_ranked: bool) -> _Shift:
    if is_ranked:
        return _Shift(mann_whitney(a, b), *shift_of_sides(a, b, confidence), len(a) + len(b) - 2)
    mean = student.difference(a, b)
    return _Shift(mean.p, *mean.bounds(confidence), mean.freedom)
