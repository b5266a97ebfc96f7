"""Folding: whatever comes in whatever order, the pages hold the winners, and every bucket what brute force says."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from strobe.store.series import Points, fold
from strobe.store.series.page import POINTS_PER_PAGE, complete_pages
from strobe.store.series.pyramid import load_buckets, load_points
from tests.store.series.memory import MemoryPages
from tests.store.series.samples import RANK, assert_bucket, brute_rows, long_points, rows

_RARELY = settings(max_examples=20, deadline=None)


def stored(store: MemoryPages, series: int = 1) -> Points:
    """Return all points of a series, and check that its pages are where the count says and hold what they must."""
    pages = store.pages[series]
    raw = [pages[0, number] for number in range(sum(level == 0 for level, _ in pages))]
    points = Points.concat([load_points(page) for page in raw])
    assert all(page.count == POINTS_PER_PAGE for page in raw[:-1])
    level, number = 0, 0
    for (level, number), page in sorted(pages.items()):
        size = POINTS_PER_PAGE * 4 ** max(level - 1, 0)
        covered = points.take(slice(number * size, (number + 1) * size))
        assert [page.first_step, page.last_step] == covered.step[[0, -1]].tolist()
        assert [page.min_time, page.max_time] == [covered.time_ns.min(), covered.time_ns.max()]
        assert page.count == len(covered)
    for level in range(1, 8):
        assert sum(at == level for at, _ in pages) == complete_pages(level, len(points))
    return points


def check_buckets(store: MemoryPages, points: Points, seed: int, series: int = 1) -> None:
    """Compare the first, the last and some other buckets of every upper page with brute force."""
    rng = np.random.default_rng(seed)
    for (level, number), page in store.pages[series].items():
        if level:
            (buckets,), size = load_buckets([page]), 16 * 4 ** (level - 1)
            assert len(buckets) == 256
            for index in (0, 255, *rng.integers(0, 256, 3).tolist()):
                start = (number * 256 + index) * size
                assert_bucket(buckets, index, points.take(slice(start, start + size)))


@_RARELY
@given(st.integers(0, 2**32), st.integers(1, 90_000), st.lists(st.integers(0, 90_000), max_size=5))
def test_points_in_order_append_and_no_complete_page_is_written_twice(seed: int, count: int, cuts: list[int]) -> None:
    points = long_points(seed, count, gaps=True, odd=0.01)
    store = MemoryPages()
    edges = [0, *sorted(min(cut, count) for cut in cuts), count]
    for start, end in pairwise(edges):
        fold(store, {1: points.take(slice(start, end))}, RANK)
    assert rows(stored(store)) == rows(points)
    check_buckets(store, points, seed)
    complete = [(page.level, page.number) for page in store.written if page.level or page.count == POINTS_PER_PAGE]
    assert len(complete) == len(set(complete))


@_RARELY
@given(
    st.integers(0, 2**32),
    st.integers(1, 80_000),
    st.lists(st.tuples(st.floats(0, 1.1), st.integers(1, 30_000), st.booleans()), max_size=4),
)
def test_late_repeated_and_replaced_steps(seed: int, count: int, bursts: list[tuple[float, int, bool]]) -> None:
    points = long_points(seed, count, gaps=True, odd=0.01)
    rng = np.random.default_rng(seed)
    store, given_so_far = MemoryPages(), [points]
    fold(store, {1: points}, RANK)
    for place, size, is_sparse in bursts:
        start = int(place * points.step[-1])
        steps = rng.integers(0, int(points.step[-1]) + 1, size) if is_sparse else np.arange(start, start + size)
        burst = Points.of(
            rng.permutation(steps),
            rng.normal(size=size),
            time_ns=points.time_ns[0] + rng.integers(0, count * 20_000_000, size),
            lag_ns=rng.integers(-5, 5, size),
            writer=rng.integers(0, 3, size),
            sequence=rng.integers(0, 10**9, size),
        )
        given_so_far.append(burst)
        fold(store, {1: burst}, RANK)
    expected = list(brute_rows(Points.concat(given_so_far)).values())
    got = stored(store)
    assert rows(got) == expected
    check_buckets(store, got, seed)
    store.written.clear()
    for batch in given_so_far:
        fold(store, {1: batch}, RANK)
    assert store.written == []


def test_of_two_points_of_one_place_the_stored_one_stays() -> None:
    store = MemoryPages()
    fold(store, {1: Points.of([3], [1.0], time_ns=5, lag_ns=2, sequence=8)}, RANK)
    store.written.clear()
    fold(store, {1: Points.of([3], [2.0], time_ns=6, lag_ns=1, sequence=8)}, RANK)
    assert store.written == []


def test_a_replaced_point_rewrites_its_page_and_those_above_it_only() -> None:
    points, store = long_points(1, 70_000), MemoryPages()
    fold(store, {1: points}, RANK)
    store.written.clear()
    fold(store, {1: Points.of([5000], [99.0], time_ns=2**62)}, RANK)
    assert {(page.level, page.number) for page in store.written} == {(0, 1), (1, 1), (2, 0), (3, 0)}
    got = stored(store)
    assert got.value[5000] == 99.0
    check_buckets(store, got, 1)


def test_a_late_point_leaves_the_pages_before_it_alone() -> None:
    points = long_points(2, 60_000)
    store = MemoryPages()
    fold(store, {1: points.take(points.step != 41_000)}, RANK)
    store.written.clear()
    fold(store, {1: points.take(points.step == 41_000)}, RANK)
    assert min(page.number for page in store.written if page.level == 0) == 41_000 // POINTS_PER_PAGE
    assert rows(stored(store)) == rows(points)


def test_a_long_rewrite_holds_few_pages_at_a_time() -> None:
    points, store = long_points(3, 400_000), MemoryPages()
    fold(store, {1: points.take(slice(1, None))}, RANK)
    store.largest_call = 0
    fold(store, {1: points.take(slice(0, 1))}, RANK)
    assert rows(stored(store)) == rows(points)
    assert store.largest_call <= 40  # 16 raw pages, those above them, a few left over; the series has 98 raw pages
    check_buckets(store, points, 3)


def test_more_late_points_than_a_rewrite_holds_pages() -> None:
    points, store = long_points(6, 250_000), MemoryPages()
    late = (points.step < 90_000) | (points.step % 3 == 0)
    fold(store, {1: points.take(~late)}, RANK)
    fold(store, {1: points.take(late)}, RANK)
    assert rows(stored(store)) == rows(points)
    check_buckets(store, points, 6)


def test_many_series_in_order_cost_three_calls() -> None:
    store = MemoryPages()
    points = long_points(4, 40_000)
    fold(store, {series: points.take(slice(0, 30_000 + series)) for series in range(50)}, RANK)
    store.calls = 0
    fold(store, {series: points.take(slice(30_000 + series, None)) for series in range(50)}, RANK)
    assert store.calls == 3  # directory, fetch, put
    assert rows(stored(store, 49)) == rows(points)


def test_the_lowest_and_highest_steps_and_nothing_at_all() -> None:
    store = MemoryPages()
    fold(store, {}, RANK)
    fold(store, {1: Points.none()}, RANK)
    assert store.calls == 0
    extremes = Points.of([-(2**63), 2**63 - 1], [1.0, 2.0], time_ns=[2**63 - 1, -(2**63)])
    fold(store, {1: extremes}, RANK)
    fold(store, {1: extremes}, RANK)
    assert rows(stored(store)) == rows(extremes)
