"""Student's t: what a handful of samples says about a mean, or about the difference of two.

Exact for normal noise, cautious for heavy tails, and defined from two samples on, where resampling the samples would
only repeat them. Without numpy: whoever prints a ratio needs it. Knows nothing of benchmarks.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache


@dataclass(frozen=True, slots=True)
class Mean:
    """An estimated mean, or difference of means, with its standard error."""

    value: float
    error: float
    freedom: int

    @property
    def p(self) -> float:
        """How often chance alone would show as much, were the true value zero."""
        if self.error == 0:
            return 1.0 if self.value == 0 else 0.0
        return two_sided_p(abs(self.value) / self.error, self.freedom)

    def bounds(self, confidence: float) -> tuple[float, float]:
        reach = quantile(confidence, self.freedom) * self.error
        return self.value - reach, self.value + reach


def mean_of(values: Sequence[float]) -> Mean:
    """Return the mean of two or more values, such as the differences of pairs."""
    middle, variance = _moments(values)
    return Mean(middle, math.sqrt(variance / len(values)), len(values) - 1)


def difference(a: Sequence[float], b: Sequence[float]) -> Mean:
    """Return how much greater `b` is than `a` in the mean (Welch: each side has a spread of its own)."""
    (mean_a, spread_a), (mean_b, spread_b) = _moments(a), _moments(b)
    return Mean(mean_b - mean_a, *combined([(spread_a / len(a), len(a) - 1), (spread_b / len(b), len(b) - 1)]))


def combined(parts: Sequence[tuple[float, int]]) -> tuple[float, int]:
    """Return the standard error of a sum, and its degrees of freedom; a part is a squared error and its own.

    The degrees are Satterthwaite's, rounded down: fewer are the cautious side.
    """
    total = sum(square for square, _ in parts)
    if total == 0:
        return 0.0, min(freedom for _, freedom in parts)
    # Shares rather than squares of squares: those of tiny spreads would vanish.
    slack = sum((square / total) ** 2 / freedom for square, freedom in parts)
    return math.sqrt(total), max(1, math.floor(1 / slack + 1e-9))


def two_sided_p(t: float, freedom: int) -> float:
    """Return the two-sided p-value of Student's t: closed sums for whole degrees of freedom."""
    angle = math.atan(t / math.sqrt(freedom))
    sine, cosine = math.sin(angle), math.cos(angle)
    is_odd = freedom % 2 == 1
    term, total = (cosine, cosine) if is_odd else (1.0, 1.0)
    for k in range(3 if is_odd else 2, freedom, 2):
        term *= cosine**2 * (k - 1) / k
        total += term
    if not is_odd:
        return max(0.0, 1.0 - sine * total)
    return max(0.0, 1.0 - 2 / math.pi * (angle + (sine * total if freedom > 1 else 0.0)))


@lru_cache(maxsize=256)
def quantile(confidence: float, freedom: int) -> float:
    """Return the t that a share `confidence` of all cases stays within, on both sides of zero."""
    low, high = 0.0, 1.0
    while two_sided_p(high, freedom) > 1 - confidence:
        low, high = high, 2 * high
    for _ in range(60):
        middle = 0.5 * (low + high)
        if two_sided_p(middle, freedom) > 1 - confidence:
            low = middle
        else:
            high = middle
    return high


def _moments(values: Sequence[float]) -> tuple[float, float]:
    """Return the mean and the variance."""
    if len(values) < 2:
        raise ValueError(f"a spread needs two samples, there is {len(values)}")
    middle = math.fsum(values) / len(values)
    return middle, math.fsum((value - middle) ** 2 for value in values) / (len(values) - 1)
