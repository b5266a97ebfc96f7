"""The tests of significance give what counting all possibilities gives."""

from __future__ import annotations

import itertools
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strobe.bench.compare.significance import (
    holm,
    least_rank_p,
    mann_whitney,
    shift_of_pairs,
    shift_of_sides,
    signed_rank,
)

few = st.lists(st.integers(0, 6), min_size=1, max_size=5)


def _midranks(values: list[float]) -> list[float]:
    return [
        sum(other < value for other in values) + (sum(other == value for other in values) + 1) / 2 for value in values
    ]


@given(few, few)
def test_mann_whitney_counts_all_ways_to_deal_the_samples(a: list[int], b: list[int]) -> None:
    ranks = _midranks([*map(float, a), *map(float, b)])
    mean = sum(ranks) / len(ranks) * len(a)
    seen = abs(sum(ranks[: len(a)]) - mean)
    dealt = [abs(sum(hand) - mean) for hand in itertools.combinations(ranks, len(a))]
    expected = sum(distance >= seen - 1e-9 for distance in dealt) / len(dealt)
    assert mann_whitney(a, b) == pytest.approx(expected)


@given(st.lists(st.integers(-5, 5), min_size=1, max_size=8))
def test_signed_rank_counts_all_signs(differences: list[int]) -> None:
    moved = [float(value) for value in differences if value]
    ranks = _midranks([abs(value) for value in moved])
    mean = sum(ranks) / 2
    seen = abs(sum(rank for rank, value in zip(ranks, moved, strict=True) if value > 0) - mean)
    sums = [sum(itertools.compress(ranks, signs)) for signs in itertools.product((0, 1), repeat=len(ranks))]
    expected = sum(abs(one - mean) >= seen - 1e-9 for one in sums) / len(sums)
    assert signed_rank(differences) == pytest.approx(expected)


def test_three_a_side_never_give_less_than_a_tenth() -> None:
    assert mann_whitney([1, 2, 3], [10, 20, 30]) == pytest.approx(0.1)
    assert signed_rank([1] * 10) == pytest.approx(2 / 1024)


@pytest.mark.parametrize("shift", [0.0, 0.2, 0.5])
def test_the_approximation_for_many_agrees_with_the_exact_one(shift: float) -> None:
    rng = random.Random(2)
    many = [rng.gauss(0, 1) for _ in range(59)], [rng.gauss(shift, 1) for _ in range(59)]
    exact = mann_whitney(*many)
    more = [*many[0], 0.0, 0.1], [*many[1], 0.05, 0.06]  # past the limit of the exact way
    assert mann_whitney(*more) == pytest.approx(exact, abs=0.05)
    differences = [rng.gauss(shift, 1) for _ in range(120)]
    assert signed_rank([*differences, 0.001]) == pytest.approx(signed_rank(differences), abs=0.02)


@given(few, few)
def test_sides_may_be_swapped(a: list[int], b: list[int]) -> None:
    assert mann_whitney(a, b) == pytest.approx(mann_whitney(b, a))


def test_holm_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([]) == []
    # Two of eight that were tested, the others being decided already.
    assert holm([0.01, 0.001], 8) == pytest.approx([0.07, 0.008])


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_holm_keeps_the_order_and_never_helps(p_values: list[float]) -> None:
    adjusted = holm(p_values)
    assert all(before <= after <= 1 for before, after in zip(p_values, adjusted, strict=True))
    pairs = sorted(zip(p_values, adjusted, strict=True))
    assert [after for _, after in pairs] == sorted(adjusted)


def test_no_samples_is_no_result() -> None:
    with pytest.raises(ValueError, match="no samples"):
        mann_whitney([], [1.0])
    assert signed_rank([0.0, 0.0]) == 1


distinct = st.lists(st.integers(-1000, 1000), min_size=6, max_size=9, unique=True)


@given(distinct)
def test_bounds_of_pairs_are_the_shifts_that_the_test_does_not_reject(differences: list[int]) -> None:
    low, high = shift_of_pairs(differences, 0.95)
    for shift, is_inside in ((low + 1e-3, True), (high - 1e-3, True), (low - 1e-3, False), (high + 1e-3, False)):
        if low + 1e-3 <= high - 1e-3:
            assert (signed_rank([value - shift for value in differences]) > 0.05) == is_inside


@given(distinct, distinct)
def test_bounds_of_sides_are_the_shifts_that_the_test_does_not_reject(a: list[int], b: list[int]) -> None:
    low, high = shift_of_sides(a, b, 0.95)
    for shift, is_inside in ((low + 1e-3, True), (high - 1e-3, True), (low - 1e-3, False), (high + 1e-3, False)):
        assert (mann_whitney(a, [value - shift for value in b]) > 0.05) == is_inside


def test_too_few_for_bounds() -> None:
    with pytest.raises(ValueError, match="too few"):
        shift_of_pairs([1.0, 2.0, 3.0], 0.95)
    assert least_rank_p(3) == signed_rank([1.0, 2.0, 3.0]) == 0.25
    assert least_rank_p(3, 4) == mann_whitney([1, 2, 3], [4, 5, 6, 7])


def test_the_approximate_bounds_of_many_agree_with_the_exact_ones() -> None:
    rng = random.Random(5)
    values = [rng.gauss(0, 1) for _ in range(121)]
    exact, about = shift_of_pairs(values[:120], 0.95), shift_of_pairs(values, 0.95)
    assert about == pytest.approx(exact, abs=0.02)
    exact, about = shift_of_sides(values[:60], values[60:120], 0.95), shift_of_sides(values[:60], values[60:], 0.95)
    assert about == pytest.approx(exact, abs=0.05)
