"""How many times as fast B is as A: a ratio of medians, its bounds, and how often chance alone would show as much.

The unit of resampling is the process repeat, never the iteration: iterations of one process share its luck. Two
sessions are resampled apart and ranked by Mann-Whitney; interleaved repeats stay in their pairs, each of which saw the
same machine, and are ranked by Wilcoxon. Above 1 is faster, whichever direction the metric has.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from strobe.bench.compare.significance import mann_whitney, signed_rank
from strobe.bench.records import Better

RESAMPLES = 2000


@dataclass(frozen=True, slots=True)
class Estimate:
    """A speed-up with bounds; `draws` are resampled logarithms of it, for means over several rows."""

    value: float
    low: float
    high: float
    #: of the rank test, before any adjustment
    p: float
    n: int
    draws: np.ndarray


def estimate(
    a: Sequence[float],
    b: Sequence[float],
    better: Better,
    *,
    is_interleaved: bool = False,
    confidence: float = 0.95,
    seed: int = 0,
) -> Estimate:
    """Estimate the speed-up of B over A; raises ValueError where a ratio has no meaning."""
    if not a or not b:
        raise ValueError("no samples")
    if min(*a, *b) <= 0:
        raise ValueError(f"a ratio needs positive samples, there is {min(*a, *b):g}")
    if is_interleaved and len(a) != len(b):
        raise ValueError(f"interleaved repeats come in pairs, there are {len(a)} and {len(b)}")
    sign = 1.0 if better == "more" else -1.0
    log_a, log_b = sign * np.log(a), sign * np.log(b)
    if is_interleaved:
        ratios = log_b - log_a
        value = float(np.median(ratios))
        draws = _resampled_medians(ratios, 0)
        p = signed_rank(ratios.tolist())
    else:
        value = float(np.median(log_b) - np.median(log_a))
        draws = _resampled_medians(log_b, 1) - _resampled_medians(log_a, 0)
        p = mann_whitney(log_a.tolist(), log_b.tolist())
    # The draws are the same for all rows of as many samples; in another order for each, rows stay independent.
    draws = np.random.default_rng(seed).permutation(draws)
    low, high = bounds(draws, confidence)
    # The estimate belongs inside its own bounds even when few samples make the percentiles lopsided.
    low, high = min(value, low), max(value, high)
    return Estimate(math.exp(value), math.exp(low), math.exp(high), p, min(len(a), len(b)), draws)


def bounds(draws: np.ndarray, confidence: float) -> tuple[float, float]:
    """Return the middle `confidence` of the draws."""
    low, high = np.quantile(draws, [(1 - confidence) / 2, (1 + confidence) / 2])
    return float(low), float(high)


def _resampled_medians(values: np.ndarray, stream: int) -> np.ndarray:
    ordered = np.sort(values)
    low, high = _resampled_middles(len(values), stream)
    found: np.ndarray = 0.5 * (ordered[low] + ordered[high])
    return found


@lru_cache(maxsize=128)
def _resampled_middles(n: int, stream: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the positions, among `n` ordered samples, of the two middle ones of each resample.

    Which samples a resample draws does not depend on their values, so this is computed once for every n.
    """
    middle = ((n - 1) // 2, n // 2)
    drawn = np.random.default_rng((n, stream)).integers(0, n, (RESAMPLES, n))
    parted = np.partition(drawn, middle, axis=1)
    return parted[:, middle[0]], parted[:, middle[1]]
