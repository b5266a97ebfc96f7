"""What a handful of samples says: middle, spread, and the ratio of two of them with bounds.

Pure functions over sequences of floats, for every benchmark and every table. Medians, because timings have a long
right tail; Student's bounds, because resampling two or three samples only repeats them. A comparison that cannot be
made says so instead of guessing. This module knows nothing of clocks, trackers or files.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from strobe.bench import student

_CONFIDENCE = 0.95
#: beyond it, up or down, a factor is infinite or nothing, and has no logarithm of its own
_MAX_LOG = 700.0
#: fewer samples than this have no middle half to speak of
_FEW = 5


def quantile(samples: Sequence[float], fraction: float) -> float:
    """Return the value below which `fraction` of the samples lie, interpolated between neighbours."""
    if not samples:
        raise ValueError("no samples")
    if not 0.0 <= fraction <= 1.0:
        raise ValueError(f"fraction must lie between 0 and 1, got {fraction}")
    ordered = sorted(samples)
    position = fraction * (len(ordered) - 1)
    below = math.floor(position)
    above = min(below + 1, len(ordered) - 1)
    if ordered[below] == ordered[above]:
        return ordered[below]
    # Weighted sum rather than low + weight * (high - low): the difference overflows for huge opposite values.
    weight = position - below
    return ordered[below] * (1.0 - weight) + ordered[above] * weight


def median(samples: Sequence[float]) -> float:
    """Return the middle sample (the mean of the two middle ones if their number is even)."""
    return quantile(samples, 0.5)


def middle_of_turns(samples: Sequence[float], turn: int) -> float:
    """Return what a sample is on average over a turn, by the middle one at each of its places.

    Samples that take turns on unlike work have no middle of their own: it would be that of one or two places.
    """
    if not samples:
        raise ValueError("no samples")
    places = [median(samples[place::turn]) for place in range(min(turn, len(samples)))]
    return math.fsum(places) / len(places)


def factor(log: float) -> float:
    """Return the factor of a logarithm: two wild repeats have bounds beyond all numbers, and even these are factors."""
    return math.exp(max(-_MAX_LOG, min(log, _MAX_LOG)))


def mad(samples: Sequence[float]) -> float:
    """Return the median absolute deviation from the median: half of the samples lie within it."""
    middle = median(samples)
    return median([abs(sample - middle) for sample in samples])


def spread(samples: Sequence[float]) -> float:
    """Return how far samples lie from their middle: the median absolute deviation, of fewer than five half the range.

    Of three the median absolute deviation is the smaller of the two gaps: two that agree would hide any third.
    """
    return mad(samples) if len(samples) >= _FEW else (max(samples) - min(samples)) / 2


@dataclass(frozen=True, slots=True)
class Digest:
    """What a table shows of a list of samples: never a single number."""

    n: int
    median: float
    spread: float
    low: float
    high: float

    @property
    def is_unstable(self) -> bool:
        """Whether the samples disagree so much (spread over 10 % of the median) that more of them are needed."""
        return self.n > 1 and self.spread > 0.1 * abs(self.median)

    @property
    def spread_percent(self) -> float | None:
        """The spread in percent of the median; None of a single sample, or where the median is zero."""
        return 100 * self.spread / abs(self.median) if self.n > 1 and self.median else None


def digest(samples: Sequence[float]) -> Digest:
    """Describe the samples; raises ValueError if there are none."""
    return Digest(
        n=len(samples),
        median=median(samples),
        spread=spread(samples),
        low=min(samples),
        high=max(samples),
    )


@dataclass(frozen=True, slots=True)
class Ratio:
    """How many times `a` is as large as `b`; `low`..`high` holds it with 95 % confidence; None without a spread."""

    value: float
    low: float | None
    high: float | None
    n: int

    @property
    def is_significant(self) -> bool | None:
        """Whether the bounds exclude "equal"; None when nobody can tell from so few samples."""
        if self.low is None or self.high is None:
            return None
        return not self.low <= 1.0 <= self.high


def ratio(a: Sequence[float], b: Sequence[float]) -> Ratio:
    """Return median(a) / median(b) with bounds (Welch's, of logarithms); raises ValueError where it has no meaning."""
    if not a or not b:
        raise ValueError("no samples")
    if min(b) <= 0 or min(a) < 0:
        raise ValueError("a ratio needs positive samples below the line and none negative above it")
    value, n = median(a) / median(b), min(len(a), len(b))
    if n < 2 or min(a) == 0:
        return Ratio(value, None, None, n)
    found = student.difference(*([math.log(sample) for sample in side] for side in (b, a)))
    low, high = map(factor, found.bounds(_CONFIDENCE))
    # The ratio of medians belongs inside, though the bounds are built around means.
    return Ratio(value, min(value, low), max(value, high), n)


def describe_speed(subject: Sequence[float], peer: Sequence[float]) -> str:
    """Say how much quicker `subject` is than `peer` (both: less is better), or that nobody can tell."""
    try:
        found = ratio(peer, subject)
    except ValueError as exc:
        return f"cannot tell ({exc})"
    if found.is_significant is False:
        return f"no significant difference (n={found.n})"
    slower = found.value < 1.0
    value = 1.0 / found.value if slower and found.value > 0 else found.value
    word = "slower" if slower else "faster"
    if found.low is None or found.high is None:
        return f"{format_factor(value)}× {word} (n={found.n}, no bounds)"
    if slower and found.low > 0:
        low, high = 1.0 / found.high, 1.0 / found.low
    else:
        low, high = found.low, found.high
    return f"{format_factor(value)}× {word} ({format_factor(low)} to {format_factor(high)}, n={found.n})"


def improvement_percent(subject: Sequence[float], peer: Sequence[float]) -> float:
    """Return by how many percent `subject` is less than `peer`; negative when it is more."""
    return 100.0 * (1.0 - ratio(subject, peer).value)


def format_factor(value: float) -> str:
    """Write a factor with about three digits, and no digits behind the point once they mean nothing."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"
