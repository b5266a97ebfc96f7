"""Queries: every bucket is what brute force says of exactly the points in the window, and few pages are read."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strobe.errors import UsageError
from strobe.store.series import Axis, Buckets, Line, PageCorrupt, Part, Points, Window, digest, fold, query
from strobe.store.series.column import Array
from strobe.store.series.cover import choose_level, select
from strobe.store.series.page import BUCKETS_PER_PAGE
from tests.store.series.memory import MemoryPages
from tests.store.series.samples import RANK, assert_bucket, long_points

_RARELY = settings(max_examples=30, deadline=None)
_PIXELS = st.one_of(st.integers(1, 20), st.integers(1, 1500))
_AXES = st.sampled_from(["step", "time"])


def assert_answers(buckets: Buckets, points: Points, pixels: int) -> None:
    """Check an answer against the (ordered) points in its window."""
    assert len(buckets) <= pixels
    assert int(buckets.count.sum()) == len(points)
    assert (buckets.last_step[:-1] < buckets.first_step[1:]).all()
    assert (buckets.first_step <= buckets.last_step).all()
    for index in range(len(buckets)):
        start = np.searchsorted(points.step, buckets.first_step[index])
        end = np.searchsorted(points.step, buckets.last_step[index], side="right")
        assert_bucket(buckets, index, points.take(slice(int(start), int(end))))
    if len(points) <= pixels:
        assert buckets.is_raw
        assert buckets.first_step.tolist() == points.step.tolist()


@cache
def folded(seed: int, count: int, wild_time: bool = False) -> tuple[MemoryPages, Points]:
    points, store = long_points(seed, count, gaps=True, odd=0.002, wild_time=wild_time), MemoryPages()
    fold(store, {1: points}, RANK)
    return store, points


@st.composite
def windows(draw: st.DrawFn, points: Points, axis: Axis) -> Window:
    """Return a window with ends that are at, beside or between points, or open."""
    x = points.step if axis == "step" else points.time_ns
    ends = []
    for _ in range(2):
        nudge = draw(st.sampled_from([-1, 0, 1, -(10**6), 10**6]))
        ends.append(int(x[draw(st.integers(0, len(points) - 1))]) + nudge)
    first, last = sorted(ends)
    first = draw(st.sampled_from([first, first, first, -(2**63)]))
    last = draw(st.sampled_from([last, last, first + abs(last - first) // 1000, 2**63 - 1]))
    return Window(first, last) if axis == "step" else Window(first_time=first, last_time=last)


@_RARELY
@given(st.data(), st.sampled_from([1, 15, 4095, 4096, 4097, 20_000, 66_000, 83_000]), _PIXELS, _AXES)
def test_a_window_of_steps_or_times(data: st.DataObject, count: int, pixels: int, axis: Axis) -> None:
    store, points = folded(count, count)
    window = data.draw(windows(points, axis))
    [buckets] = query(store, [Line((Part(1),), window)], pixels, axis)
    assert_answers(buckets, select(points, window), pixels)


@_RARELY
@given(st.data(), _PIXELS)
def test_times_that_go_back_and_forth(data: st.DataObject, pixels: int) -> None:
    store, points = folded(7, 70_000, wild_time=True)
    window = data.draw(windows(points, "time"))
    [buckets] = query(store, [Line((Part(1),), window)], pixels, "time")
    assert_answers(buckets, select(points, window), pixels)


@_RARELY
@given(st.data(), st.integers(0, 30_000), st.integers(0, 9000), _PIXELS, _AXES)
def test_points_not_folded_yet_take_part(data: st.DataObject, done: int, tail: int, pixels: int, axis: Axis) -> None:
    points, store = long_points(done, done + tail + 1, gaps=True, odd=0.002), MemoryPages()
    fold(store, {1: points.take(slice(done))}, RANK)
    window = data.draw(windows(points, axis))
    [buckets] = query(store, [Line((Part(1, tail=points.take(slice(done, None))),), window)], pixels, axis)
    assert_answers(buckets, select(points, window), pixels)


@_RARELY
@given(st.integers(1, 50_000), st.one_of(st.none(), st.integers(-5, 200_000)), st.booleans())
def test_a_digest_is_one_bucket_over_what_counts(count: int, before: int | None, has_tail: bool) -> None:
    points, store = long_points(count, count + 50, gaps=True, odd=0.01), MemoryPages()
    fold(store, {1: points.take(slice(count))}, RANK)
    tail = points.take(slice(count, None)) if has_tail else None
    expected = points if has_tail else points.take(slice(count))
    expected = expected if before is None else expected.take(expected.step < before)
    [bucket] = digest(store, [Line((Part(1, before, tail),))])
    assert len(bucket) == min(len(expected), 1)
    if len(expected):
        assert_bucket(bucket, 0, expected)


def test_a_rare_extreme_and_a_rare_nan_are_never_hidden() -> None:
    value = np.zeros(300_000)
    value[[7, 123_456, 299_999]] = 5.0, np.nan, -5.0
    store = MemoryPages()
    fold(store, {1: Points.of(np.arange(len(value)), value)}, RANK)
    [buckets] = query(store, [Line((Part(1),))], 10)
    assert (buckets.max.max(), buckets.max_step[buckets.max.argmax()]) == (5.0, 7)
    assert (buckets.min.min(), buckets.min_step[buckets.min.argmin()]) == (-5.0, 299_999)
    assert buckets.nan.tolist().count(1) == 1


def test_time_is_cut_into_equal_widths_of_time_and_steps_of_steps() -> None:
    time = np.concatenate([np.arange(40), 10**9 + np.arange(120)])
    store = MemoryPages()
    fold(store, {1: Points.of(np.arange(160), np.zeros(160), time_ns=time)}, RANK)
    line = Line((Part(1),))
    assert query(store, [line], 10, "time")[0].count.tolist() == [40, 120]
    assert query(store, [line], 10, "step")[0].count.tolist() == [16] * 10


def test_steps_from_one_end_of_the_integers_to_the_other() -> None:
    points = Points.of([-(2**63), -(2**62), 2**62, 2**63 - 1], [1.0, 2.0, 3.0, 4.0])
    store = MemoryPages()
    fold(store, {1: points}, RANK)
    [buckets] = query(store, [Line((Part(1),))], 2)
    assert_answers(buckets, points, 2)
    assert buckets.count.tolist() == [2, 2]


@pytest.mark.parametrize("window", [Window(), Window(50_000, 350_000), Window(first_step=199_999, last_step=200_100)])
def test_many_lines_cost_two_calls_and_few_rows(window: Window) -> None:
    folded_once, points = folded(5, 160_000)
    store = MemoryPages()
    for series in range(1, 101):
        store.pages[series] = {key: replace(page, series=series) for key, page in folded_once.pages[1].items()}
    pixels = 100
    answers = query(store, [Line((Part(series),), window) for series in range(1, 101)], pixels)
    assert store.calls == 2  # directory, fetch
    read = sum(BUCKETS_PER_PAGE if page.level else page.count for page in store.read) / 100
    assert read <= 16 * pixels + 2 * 4096 + 12 * BUCKETS_PER_PAGE  # at the edges, and past the last complete pages
    assert_answers(answers[-1], select(points, window), pixels)


@given(st.integers(0, 10**9), st.integers(1, 10_000))
def test_the_level_is_raw_up_to_16_points_a_pixel_then_the_coarsest_that_fills_the_pixels(
    count: int, pixels: int
) -> None:
    level = choose_level(count, pixels)
    if count <= 16 * pixels:
        assert level == 0
    else:
        size = 16 * 4 ** (level - 1)
        assert count // size >= pixels > count // (size * 4)


@_RARELY
@given(st.data(), _PIXELS, _AXES)
def test_no_page_beside_the_window_is_read(data: st.DataObject, pixels: int, axis: Axis) -> None:
    store, points = folded(5, 160_000)
    window = data.draw(windows(points, axis))
    store.read.clear()
    query(store, [Line((Part(1),), window)], pixels, axis)
    for page in store.read:
        assert page.last_step >= window.first_step
        assert page.first_step <= window.last_step
        assert page.max_time >= window.first_time
        assert page.min_time <= window.last_time


def test_a_zoom_reads_its_level_the_open_end_and_the_way_down_at_both_edges() -> None:
    store, points = folded(5, 160_000)  # 2 complete pages of level 3, 9 of level 2, 39 of level 1
    store.read.clear()
    query(store, [Line((Part(1),), Window(int(points.step[120_000]), int(points.step[150_000])))], 20)
    level, open_end = {(3, 1)}, {(2, 8), (1, 36)}
    edges = {(2, 7), (1, 29), (0, 29), (0, 36)}
    assert {(page.level, page.number) for page in store.read} == level | open_end | edges


def test_few_points_far_apart_in_a_window_of_time_are_raw() -> None:
    """The directory can only say that they lie between the first and the last page; so it seems a long series."""
    time: Array = np.ones(50_000, np.int64)
    time[:140] = time[-50:] = time[20_000] = 0
    points, store = Points.of(np.arange(50_000), np.arange(50_000) * 1.0, time_ns=time), MemoryPages()
    fold(store, {1: points}, RANK)
    window = Window(last_time=0)
    for pixels in (190, 191):
        [buckets] = query(store, [Line((Part(1),), window)], pixels, "time")
        assert_answers(buckets, select(points, window), pixels)


def test_no_points_and_no_pixels() -> None:
    store = MemoryPages()
    assert [len(b) for b in query(store, [Line((Part(1),)), Line(())], 5)] == [0, 0]
    assert query(store, [], 5) == []
    with pytest.raises(UsageError, match="0 pixels"):
        query(store, [], 0)


def test_a_page_that_is_missing_or_changed_is_named() -> None:
    store, line = MemoryPages(), Line((Part(1),))
    fold(store, {1: long_points(1, 20_000)}, RANK)
    page = store.pages[1][2, 0]
    store.pages[1][2, 0] = replace(page, body=page.body[:-1])
    with pytest.raises(PageCorrupt, match=r"series 1, level 2, page 0: page checksum .*; restore it from a backup"):
        query(store, [line], 10)
    del store.pages[1][2, 0]
    with pytest.raises(PageCorrupt, match=r"series 1 lacks page 0 of level 2; restore it"):
        query(store, [line], 10)
