"""Joins: exact by step up to the limit, labelled and near beyond it."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from strobe.store.series import Line, Part, Points, Window, fold, join
from tests.store.series.memory import MemoryPages
from tests.store.series.samples import RANK

_STEPS = st.sets(st.integers(0, 60), max_size=40).map(sorted)


def _stored(x: Points, y: Points) -> MemoryPages:
    store = MemoryPages()
    fold(store, {1: x, 2: y}, RANK)
    return store


@given(_STEPS, _STEPS)
def test_an_exact_join_has_each_step_that_both_have(x_steps: list[int], y_steps: list[int]) -> None:
    store = _stored(Points.of(x_steps, [s * 0.5 for s in x_steps]), Points.of(y_steps, [-float(s) for s in y_steps]))
    joined = join(store, Line((Part(1),)), Line((Part(2),)), 5)
    both = sorted(set(x_steps) & set(y_steps))
    assert not joined.approximate
    assert joined.y.is_raw
    assert joined.y.first_step.tolist() == both
    assert joined.x.tolist() == [s * 0.5 for s in both]
    assert joined.y.first.tolist() == [-float(s) for s in both]


def test_beyond_the_limit_the_answer_is_approximate_and_says_so() -> None:
    steps = np.arange(100_000)
    store = _stored(Points.of(steps, steps * 2.0), Points.of(steps, np.sqrt(steps)))
    x, y = Line((Part(1),)), Line((Part(2),))
    joined = join(store, x, y, 200)
    assert joined.approximate
    assert len(joined.x) == len(joined.y) == 200
    assert joined.y.min.min() == 0.0
    assert joined.y.max.max() == np.sqrt(99_999)
    middle = (joined.y.first_step + joined.y.last_step) / 2
    assert np.abs(joined.x - middle * 2).max() <= 2 * 64  # x may be off by the width of a bucket, not more
    assert not join(store, x, y, 200, limit=100_000).approximate
    assert join(store, x, y, 200, limit=99_999).approximate


def test_keys_logged_at_different_rates_and_places() -> None:
    often, seldom = np.arange(200_000), np.arange(0, 400_000, 100)
    store = _stored(Points.of(seldom, seldom * 1.0), Points.of(often, often * 1.0))
    joined = join(store, Line((Part(1),)), Line((Part(2),)), 100)
    assert joined.approximate
    assert len(joined.x) == 100
    assert np.abs(joined.x - joined.y.sum / joined.y.count).max() <= 500  # a quarter of a column
    apart = join(store, Line((Part(1),), Window(first_step=300_000)), Line((Part(2),)), 100)
    assert (len(apart.x), len(apart.y), apart.approximate) == (0, 0, True)


def test_a_column_whose_x_is_never_finite_has_no_place() -> None:
    steps = np.arange(70_000)
    store = _stored(Points.of(steps, np.where(steps < 35_000, np.nan, 1.0)), Points.of(steps, steps * 1.0))
    joined = join(store, Line((Part(1),)), Line((Part(2),)), 10)
    assert np.isnan(joined.x[0])
    assert joined.x[-1] == 1.0
    assert join(store, Line((Part(3),)), Line((Part(2),)), 10).y.is_raw
