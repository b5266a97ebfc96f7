"""Row numbers as users of a recommender produce them: few rows are asked for often, most hardly ever.

Ranks follow a bounded Zipf law, P(rank k) ∝ (k + 1) ** -alpha, drawn by rejection-inversion (Hörmann and Derflinger,
1996): exact, and without a table of the size of the embedding. Ranks are then spread over the rows, because hot rows
that lie side by side would make caches look better than they are.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray


def draw_rows(rng: np.random.Generator, num_rows: int, size: int, alpha: float) -> NDArray[np.int64]:
    """Draw `size` rows of `num_rows`; alpha 0 is uniform."""
    if num_rows < 1 or alpha < 0:
        raise ValueError(f"num_rows {num_rows} must be positive and alpha {alpha} not negative")
    if alpha == 0:
        return rng.integers(0, num_rows, size)
    return spread(draw_ranks(rng, num_rows, size, alpha), num_rows)


def draw_ranks(rng: np.random.Generator, num_ranks: int, size: int, alpha: float) -> NDArray[np.int64]:
    """Draw ranks from 0, the most frequent; alpha must be positive."""
    # The hat over the bar of k (from 1) is x ** -alpha, integrated from k - 1/2 to k + 1/2. The bar of k = 1 starts
    # where the area under the hat equals the bar, so that rank 0 is never rejected.
    low = _integral(1.5, alpha) - 1.0
    high = _integral(num_ranks + 0.5, alpha)
    ranks: NDArray[np.int64] = np.empty(size, np.int64)
    open_ = np.arange(size)
    while open_.size:
        area = low + rng.random(open_.size) * (high - low)
        k = np.clip(np.rint(_inverse(area, alpha)), 1, num_ranks)
        accepted = area >= _integral(k + 0.5, alpha) - k**-alpha
        ranks[open_[accepted]] = k[accepted].astype(np.int64) - 1
        open_ = open_[~accepted]
    return ranks


def spread(ranks: NDArray[np.int64], num_rows: int) -> NDArray[np.int64]:
    """Map ranks to rows one to one, neighbours far apart (multiples of the golden ratio, modulo the rows)."""
    stride = max(1, round(num_rows * 0.6180339887498949))
    while math.gcd(stride, num_rows) != 1:
        stride += 1
    return (ranks * stride + num_rows // 3) % num_rows


def _integral(x: NDArray[np.float64] | float, alpha: float) -> NDArray[np.float64]:
    """Antiderivative of x ** -alpha, zero at 1."""
    log_x = np.log(x)
    exponent = (1.0 - alpha) * log_x
    return log_x * np.where(exponent == 0, 1.0, np.expm1(exponent) / np.where(exponent == 0, 1.0, exponent))


def _inverse(area: NDArray[np.float64], alpha: float) -> NDArray[np.float64]:
    scaled = (1.0 - alpha) * area
    return np.exp(area * np.where(scaled == 0, 1.0, np.log1p(scaled) / np.where(scaled == 0, 1.0, scaled)))
