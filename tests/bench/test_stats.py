"""The statistics hold for any samples, not just for nice ones."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strobe.bench import stats

values = st.floats(min_value=-1e12, max_value=1e12, allow_nan=False)
times = st.floats(min_value=1e-9, max_value=1e6)
samples = st.lists(values, min_size=1, max_size=30)
positive = st.lists(times, min_size=1, max_size=8)


@given(samples)
def test_the_median_lies_within_the_samples(found: list[float]) -> None:
    assert min(found) <= stats.median(found) <= max(found)


@given(samples, st.floats(0, 1), st.floats(0, 1))
def test_quantiles_rise_with_the_fraction(found: list[float], one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert stats.quantile(found, low) <= stats.quantile(found, high) + 1e-3


@given(samples)
def test_the_ends_are_the_extremes(found: list[float]) -> None:
    assert stats.quantile(found, 0.0) == min(found)
    assert stats.quantile(found, 1.0) == max(found)


@given(samples)
def test_order_does_not_matter(found: list[float]) -> None:
    assert stats.digest(found) == stats.digest(found[::-1])


@given(st.lists(values, min_size=1, max_size=30), values)
def test_spread_ignores_a_shift_of_equal_samples(found: list[float], shift: float) -> None:
    same = [shift] * len(found)
    assert stats.mad(same) == 0


@given(samples)
def test_spread_is_never_negative(found: list[float]) -> None:
    assert stats.mad(found) >= 0


def test_known_values() -> None:
    assert stats.median([3, 1, 2]) == 2
    assert stats.median([4, 1, 2, 3]) == 2.5
    assert stats.mad([1, 1, 2, 2, 4, 6, 9]) == 1


@given(positive)
def test_a_ratio_to_itself_is_one(found: list[float]) -> None:
    assert stats.ratio(found, found).value == 1.0


@given(positive, positive)
def test_bounds_hold_the_ratio(one: list[float], other: list[float]) -> None:
    found = stats.ratio(one, other)
    if found.low is None or found.high is None:
        assert min(len(one), len(other)) == 1
        assert found.is_significant is None
    else:
        assert found.low <= found.value <= found.high


@given(positive, positive)
def test_swapping_inverts_the_ratio(one: list[float], other: list[float]) -> None:
    there, back = stats.ratio(one, other), stats.ratio(other, one)
    assert there.value * back.value == pytest.approx(1.0)


def test_clearly_different_samples_are_significant_and_equal_ones_are_not() -> None:
    assert stats.ratio([10.0, 10.1, 9.9], [1.0, 1.01, 0.99]).is_significant is True
    assert stats.ratio([1.0, 1.2, 0.9], [1.0, 1.1, 0.9]).is_significant is False


@pytest.mark.parametrize("n", [2, 3, 5, 10])
def test_bounds_hold_the_truth_as_often_as_they_say(n: int) -> None:
    rng = random.Random(n)
    found = [stats.ratio(*([math.exp(rng.gauss(0, 0.05)) for _ in range(n)] for _ in "ab")) for _ in range(600)]
    assert sum(one.is_significant is False for one in found) / len(found) > 0.93


def test_a_ratio_with_a_zero_above_the_line_has_no_bounds() -> None:
    assert stats.ratio([0.0, 0.0], [1.0, 1.0]) == stats.Ratio(0.0, None, None, 2)


@pytest.mark.parametrize(("a", "b"), [([], [1.0]), ([1.0], []), ([1.0], [0.0]), ([-1.0], [1.0])])
def test_a_ratio_without_meaning_is_refused(a: list[float], b: list[float]) -> None:
    with pytest.raises(ValueError, match=r"samples"):
        stats.ratio(a, b)


def test_empty_samples_are_refused() -> None:
    with pytest.raises(ValueError, match="no samples"):
        stats.median([])
    with pytest.raises(ValueError, match="fraction"):
        stats.quantile([1.0], 1.5)


def test_speed_in_words() -> None:
    assert stats.describe_speed([1.0] * 3, [10.0] * 3) == "10.0× faster (10.0 to 10.0, n=3)"
    assert stats.describe_speed([10.0] * 3, [1.0] * 3) == "10.0× slower (10.0 to 10.0, n=3)"
    assert stats.describe_speed([1.0], [2.0]) == "2.00× faster (n=1, no bounds)"
    assert stats.describe_speed([1.0, 1.2], [1.0, 1.2]) == "no significant difference (n=2)"
    assert stats.describe_speed([], [1.0]) == "cannot tell (no samples)"


def test_improvement_is_counted_as_the_seed_does() -> None:
    assert round(stats.improvement_percent([1.6653656959533691], [10.043172836303711])) == 83
    assert round(stats.improvement_percent([3.985367774963379], [4.849104166030884])) == 18


def test_unstable_samples_are_told() -> None:
    assert stats.digest([1.0, 2.0, 3.0]).is_unstable
    assert not stats.digest([1.0, 1.01, 0.99]).is_unstable
    assert not stats.digest([5.0]).is_unstable


def test_two_repeats_that_agree_do_not_hide_a_third() -> None:
    few = stats.digest([18_508.0, 8_658.0, 8_626.0])
    assert few.is_unstable
    assert few.spread_percent == pytest.approx(57.07, abs=0.01)
    assert stats.digest([9.0, 10.0, 10.0, 10.0, 99.0]).spread == 0  # of five, one outlier is one
    assert stats.digest([5.0]).spread_percent is None
