"""Drawn rows follow the law they claim, for any alpha, and repeat with the seed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from strobe.bench.workloads.data.zipf import draw_ranks, draw_rows, spread


@pytest.mark.parametrize("alpha", [0.3, 0.99, 1.0, 1.05, 2.0])
@pytest.mark.parametrize("num_ranks", [1, 2, 50])
def test_ranks_have_the_frequencies_of_the_law(num_ranks: int, alpha: float) -> None:
    size = 40_000
    counts = np.bincount(draw_ranks(np.random.default_rng(7), num_ranks, size, alpha), minlength=num_ranks)
    law = np.arange(1, num_ranks + 1) ** -alpha
    expected = size * law / law.sum()
    assert counts.size == num_ranks
    # Pearson's statistic has mean n - 1 and deviation sqrt(2 (n - 1)); five deviations never happen by chance.
    statistic = float(((counts - expected) ** 2 / expected).sum())
    assert statistic <= (num_ranks - 1) + 5 * np.sqrt(2 * num_ranks)


def test_the_head_of_a_huge_table_is_as_hot_as_the_law_says() -> None:
    num_rows, alpha, size = 26_000_000, 1.05, 50_000
    ranks = draw_ranks(np.random.default_rng(3), num_rows, size, alpha)
    # The normaliser by Euler and Maclaurin: an exact head and an integral for the tail.
    head = (np.arange(1, 1001) ** -alpha).sum()
    tail = (1000.5 ** (1 - alpha) - (num_rows + 0.5) ** (1 - alpha)) / (alpha - 1)
    assert (ranks < 1000).mean() == pytest.approx(head / (head + tail), abs=0.012)
    assert ranks.max() < num_rows


def test_alpha_zero_is_uniform() -> None:
    rows = draw_rows(np.random.default_rng(1), 1000, 50_000, 0.0)
    assert rows.mean() == pytest.approx(499.5, abs=7)
    assert np.unique(rows).size == 1000


@given(st.integers(1, 3000))
def test_spreading_is_one_to_one(num_rows: int) -> None:
    rows = spread(np.arange(num_rows), num_rows)
    assert np.array_equal(np.sort(rows), np.arange(num_rows))


def test_hot_rows_are_not_neighbours() -> None:
    rows = np.sort(spread(np.arange(100), 1_000_000))
    assert np.diff(rows).min() > 1000


def test_same_seed_same_rows() -> None:
    one, same, other = (draw_rows(np.random.default_rng(seed), 10_000, 100, 1.1) for seed in (5, 5, 6))
    assert np.array_equal(one, same)
    assert not np.array_equal(one, other)


def test_a_law_that_makes_no_sense_is_refused() -> None:
    with pytest.raises(ValueError, match="num_rows 0"):
        draw_rows(np.random.default_rng(1), 0, 1, 1.0)
    with pytest.raises(ValueError, match="alpha -1"):
        draw_rows(np.random.default_rng(1), 10, 1, -1.0)
