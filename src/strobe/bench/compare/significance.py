"""Tests of significance. Rank tests: how often chance alone would order two lists like this; exact, ties included.

They look at the order of samples only, so that one wild value counts no more than a slightly high one. Turned round,
they give bounds: the shifts that the test would not reject, which hold for any shape of noise. Beyond `_EXACT` samples
the normal approximation takes over. Knows nothing of benchmarks.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from statistics import NormalDist

from strobe.errors import MissingExtra

try:
    import numpy as np
except ModuleNotFoundError as exc:
    # Only here: tables, histories and the keeping of results do without.
    raise MissingExtra("comparing benchmark results needs numpy: pip install 'strobe[bench]'") from exc

_EXACT = 120


def mann_whitney(a: Sequence[float], b: Sequence[float]) -> float:
    """Return the two-sided p-value for "a sample of `a` is as likely to exceed one of `b` as the other way round"."""
    if not a or not b:
        raise ValueError("no samples")
    ranks = _doubled_ranks([*a, *b])
    seen = sum(ranks[: len(a)])
    mean = len(a) * (len(ranks) + 1)  # of doubled ranks
    if len(ranks) > _EXACT:
        ties = sum(count**3 - count for count in _multiplicities(ranks)) / (len(ranks) * (len(ranks) - 1))
        variance = len(a) * len(b) / 12 * (len(ranks) + 1 - ties)
        return _normal_p(abs(seen - mean) / 2, variance)
    return _tail(_subset_sums(tuple(sorted(ranks)), len(a)), mean, abs(seen - mean))


def signed_rank(differences: Sequence[float]) -> float:
    """Return the two-sided p-value (Wilcoxon) for "a difference is as likely to be above zero as below"."""
    moved = [value for value in differences if value != 0]
    if not moved:
        return 1.0
    ranks = _doubled_ranks([abs(value) for value in moved])
    seen = sum(rank for rank, value in zip(ranks, moved, strict=True) if value > 0)
    mean = sum(ranks) / 2
    if len(ranks) > _EXACT:
        return _normal_p(abs(seen - mean) / 2, sum(rank * rank for rank in ranks) / 16)
    return _tail(_sign_sums(tuple(sorted(ranks))), mean, abs(seen - mean))


def least_rank_p(n_a: int, n_b: int | None = None) -> float:
    """Return the smallest p that a rank test of so many samples can give; without `n_b`, of so many pairs."""
    return 2.0 ** (1 - n_a) if n_b is None else 2.0 / math.comb(n_a + n_b, n_a)


def shift_of_pairs(differences: Sequence[float], confidence: float) -> tuple[float, float]:
    """Return the bounds of all shifts that `signed_rank` would not reject: certain Walsh averages."""
    averages = sorted(0.5 * (x + y) for place, x in enumerate(differences) for y in differences[place:])
    n = len(differences)
    if n > _EXACT:
        return _middle(averages, _normal_cut(n * (n + 1) / 4, n * (n + 1) * (2 * n + 1) / 24, confidence))
    return _middle(averages, _cut(_sign_sums(tuple(range(1, n + 1))), confidence))


def shift_of_sides(a: Sequence[float], b: Sequence[float], confidence: float) -> tuple[float, float]:
    """Return the bounds of all shifts from `a` to `b` that `mann_whitney` would not reject."""
    apart = sorted(y - x for x in a for y in b)
    n_a, total = len(a), len(a) + len(b)
    if total > _EXACT:
        return _middle(apart, _normal_cut(len(apart) / 2, len(apart) * (total + 1) / 12, confidence))
    chances = _subset_sums(tuple(range(1, total + 1)), n_a)
    return _middle(apart, _cut(chances[n_a * (n_a + 1) // 2 :], confidence))


def holm(p_values: Sequence[float], family: int | None = None) -> list[float]:
    """Return p-values adjusted so that calling all below α significant errs anywhere with probability at most α.

    `family` is the number of all that were tested, where these are only those that are still open.
    """
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    adjusted = [1.0] * len(p_values)
    highest = 0.0
    for rank, index in enumerate(order):
        highest = max(highest, min(1.0, ((family or len(p_values)) - rank) * p_values[index]))
        adjusted[index] = highest
    return adjusted


def _doubled_ranks(values: Sequence[float]) -> list[int]:
    """Return twice the rank of each value; equal ones share the middle of theirs, which doubling keeps whole."""
    order = sorted(range(len(values)), key=values.__getitem__)
    ranks = [0] * len(values)
    start = 0
    while start < len(order):
        stop = start
        while stop < len(order) and values[order[stop]] == values[order[start]]:
            stop += 1
        for index in order[start:stop]:
            ranks[index] = start + 1 + stop
        start = stop
    return ranks


def _multiplicities(ranks: Sequence[int]) -> list[int]:
    return [ranks.count(rank) for rank in set(ranks)]


@lru_cache(maxsize=64)
def _subset_sums(ranks: tuple[int, ...], size: int) -> np.ndarray:
    """Return the probability of each sum of `size` of the ranks, drawn at random."""
    ways = np.zeros((size + 1, sum(ranks) + 1))
    ways[0, 0] = 1.0
    for rank in ranks:
        # Every row takes from the one before as it was without this rank: the right side is read before it is written.
        ways[1:, rank:] += ways[:-1, : ways.shape[1] - rank].copy()
    found: np.ndarray = ways[size] / ways[size].sum()
    return found


@lru_cache(maxsize=64)
def _sign_sums(ranks: tuple[int, ...]) -> np.ndarray:
    """Return the probability of each sum of the ranks that come out positive, each with a chance of one half."""
    chances = np.zeros(sum(ranks) + 1)
    chances[0] = 1.0
    for rank in ranks:
        shifted = np.zeros_like(chances)
        shifted[rank:] = chances[: len(chances) - rank]
        chances = 0.5 * (chances + shifted)
    return chances


def _cut(chances: np.ndarray, confidence: float) -> int:
    """Return how many of the ordered shifts lie in a tail, that is below what the statistic makes likely enough."""
    return int(np.searchsorted(np.cumsum(chances), (1 - confidence) / 2, side="right"))


def _normal_cut(mean: float, variance: float, confidence: float) -> int:
    return math.floor(mean - NormalDist().inv_cdf((1 + confidence) / 2) * math.sqrt(variance))


def _middle(ordered: Sequence[float], num_cut: int) -> tuple[float, float]:
    # The first of the tail is still within the bounds: they are those shifts at which the test changes its mind.
    if num_cut < 1:
        raise ValueError(f"{len(ordered)} shifts are too few for bounds of this confidence")
    return ordered[num_cut - 1], ordered[-num_cut]


def _tail(chances: np.ndarray, mean: float, distance: float) -> float:
    sums = np.arange(len(chances))
    return min(1.0, float(chances[np.abs(sums - mean) >= distance - 1e-9].sum()))


def _normal_p(distance: float, variance: float) -> float:
    if variance <= 0:
        return 1.0
    return math.erfc(max(0.0, distance - 0.5) / math.sqrt(2 * variance))
