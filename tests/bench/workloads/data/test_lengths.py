"""Drawn lengths have the percentiles of their map."""

from __future__ import annotations

import numpy as np
import pytest

from strobe.bench.workloads.data.lengths import READ_SPEECH, SHORT_TEXT, draw_lengths


@pytest.mark.parametrize("percentiles", [SHORT_TEXT, READ_SPEECH])
def test_quantiles_are_those_of_the_map(percentiles: dict[float, int]) -> None:
    lengths = draw_lengths(np.random.default_rng(2), 50_000, percentiles)
    assert lengths.min() >= percentiles[0.0]
    assert lengths.max() <= percentiles[1.0]
    for share, length in percentiles.items():
        assert np.quantile(lengths, share) == pytest.approx(length, rel=0.03, abs=1)


def test_between_two_percentiles_is_a_straight_line() -> None:
    """The public code gives 72 here; half-way from 15 (p40) to 72 (p80) is 43.5."""
    lengths = draw_lengths(np.random.default_rng(2), 50_000, SHORT_TEXT)
    assert np.quantile(lengths, 0.6) == pytest.approx(43.5, abs=1.5)


def test_nothing_is_longer_than_the_maximum() -> None:
    lengths = draw_lengths(np.random.default_rng(2), 1000, SHORT_TEXT, maximum=64)
    assert lengths.max() == 64


def test_same_seed_same_lengths() -> None:
    one, same = (draw_lengths(np.random.default_rng(5), 100, SHORT_TEXT) for _ in range(2))
    assert np.array_equal(one, same)


@pytest.mark.parametrize("percentiles", [{}, {0.0: 3}, {0.0: 9, 1.0: 3}, {0.0: 0, 1.0: 3}])
def test_a_map_that_does_not_rise_from_0_to_1_is_refused(percentiles: dict[float, int]) -> None:
    with pytest.raises(ValueError, match="percentiles must rise"):
        draw_lengths(np.random.default_rng(1), 1, percentiles)
