"""Buckets: joining neighbours gives what brute force over their points gives."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from strobe.store.series import Buckets, Points
from tests.store.series.samples import assert_bucket

_VALUES = st.one_of(
    st.sampled_from([0.0, 1.0, -1.0, float("nan"), float("inf"), float("-inf")]), st.floats(-1e6, 1e6, width=32)
)


@st.composite
def some_points(draw: st.DrawFn) -> Points:
    values = draw(st.lists(_VALUES, min_size=1, max_size=40))
    steps = sorted(draw(st.sets(st.integers(-100, 100), min_size=len(values), max_size=len(values))))
    times = draw(st.lists(st.integers(-5, 5), min_size=len(values), max_size=len(values)))
    return Points.of(steps, values, time_ns=times)


@st.composite
def starts_of(draw: st.DrawFn, count: int) -> list[int]:
    return [0, *sorted(draw(st.sets(st.integers(1, count - 1)) if count > 1 else st.just(set())))]


@given(some_points(), st.data())
def test_buckets_of_buckets_equal_brute_force_over_their_points(points: Points, data: st.DataObject) -> None:
    fine = data.draw(starts_of(len(points)))
    coarse = data.draw(starts_of(len(fine)))
    buckets = Buckets.of_points(points).grouped(np.array(fine)).grouped(np.array(coarse))
    edges = [*(fine[index] for index in coarse), len(points)]
    assert len(buckets) == len(coarse)
    for index, (start, end) in enumerate(pairwise(edges)):
        assert_bucket(buckets, index, points.take(slice(start, end)))


def test_a_sum_past_the_float_range_is_inf_and_no_warning() -> None:
    huge = Buckets.of_points(Points.of([1, 2], [1e308, 1e308]))
    assert huge.grouped(np.array([0])).sum[0] == np.inf


def test_extremes_at_the_last_step_there_can_be() -> None:
    top = 2**63 - 1
    buckets = Buckets.of_points(Points.of([top - 1, top], [1.0, 2.0])).grouped(np.array([0]))
    assert [*buckets.min_step, *buckets.max_step] == [top - 1, top]


def test_is_raw_while_each_bucket_is_one_point() -> None:
    buckets = Buckets.of_points(Points.of([1, 2], [1.0, 2.0]))
    assert buckets.is_raw
    assert not buckets.grouped(np.array([0])).is_raw
