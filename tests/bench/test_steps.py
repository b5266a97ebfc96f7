"""The fitted line is the best one, by comparison with trying them all."""

from __future__ import annotations

import itertools
import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strobe.bench import stats, steps
from strobe.bench.steps import MIN_POINTS, Level, fit, lasting, merge

series = st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=9)


def _noisy(levels: list[float], length: int, spread: float, seed: int = 0) -> list[float]:
    rng = random.Random(seed)
    return [level + rng.gauss(0, spread) for level in levels for _ in range(length)]


def _cost(values: list[float], cuts: tuple[int, ...], price: float) -> float:
    ends = [0, *cuts, len(values)]
    parts = [values[start:stop] for start, stop in itertools.pairwise(ends)]
    deviations = sum(abs(value - stats.median(part)) for part in parts for value in part)
    return deviations + price * len(cuts)


@given(series)
def test_no_other_way_to_cut_is_cheaper(values: list[float]) -> None:
    price = steps.noise_scale(values) * 2.0 * math.log(max(2, len(values)))
    found = _cost(values, tuple(level.start for level in fit(values)[1:]), price)
    for num in range(3):
        for cuts in itertools.combinations(range(1, len(values)), num):
            ends = [0, *cuts, len(values)]
            if num == 0 or all(stop - start >= MIN_POINTS for start, stop in itertools.pairwise(ends)):
                assert found <= _cost(values, cuts, price) * (1 + 1e-9) + 1e-6


@given(series)
def test_levels_follow_each_other_without_a_gap(values: list[float]) -> None:
    levels = fit(values)
    assert (levels[0].start, levels[-1].stop) == (0, len(values))
    assert all(before.stop == after.start for before, after in itertools.pairwise(levels))


def test_a_step_is_found_where_it_is() -> None:
    levels = fit(_noisy([1.0, 0.9], 10, spread=0.01))
    assert [level.start for level in levels] == [0, 10]
    assert levels[1].value == pytest.approx(0.9, abs=0.01)


def test_single_outliers_are_no_steps() -> None:
    values = _noisy([1.0], 30, spread=0.005)
    values[7] = values[13] = values[20] = 0.5
    assert len(fit(values)) == 1


def test_equal_values_have_no_steps() -> None:
    assert fit([5.0] * 40) == [Level(0, 40, 5.0)]
    assert fit([]) == []


def test_small_steps_are_joined() -> None:
    values = _noisy([1.0, 1.1, 1.11], 10, spread=1e-4)
    assert len(fit(values)) == 3
    assert [level.start for level in merge(fit(values), values, least=0.03)] == [0, 10]


def test_two_hundred_sessions_are_quick_enough_to_try() -> None:
    assert len(fit(_noisy([1.0, 0.95, 1.05, 1.0], 50, spread=0.01))) == 4


def test_a_level_that_few_of_its_points_are_near_does_not_last() -> None:
    values = [1.0, 1.0, 1.0, 1.5, 1.0, 1.5, 1.0, 1.0, 1.0]
    levels = [Level(0, 3, 1.0), Level(3, 6, 1.5), Level(6, 9, 1.0)]
    assert lasting(levels, values) == [Level(0, 9, 1.0)]
    values[4] = 1.4
    assert lasting(levels, values) == levels
    assert lasting([Level(0, 2, 1.0)], [1.0, 1.0]) == [Level(0, 2, 1.0)]


@given(series)
def test_levels_that_last_follow_each_other_too(values: list[float]) -> None:
    levels = lasting(fit(values), values)
    assert (levels[0].start, levels[-1].stop) == (0, len(values))
    assert all(before.stop == after.start for before, after in itertools.pairwise(levels))
