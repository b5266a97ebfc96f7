"""Lines: attempts that follow each other, that overlap, that were superseded or forked, seen as one curve."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from strobe.store.series import Axis, Line, Part, Points, Window, digest, fold, query, read_points
from strobe.store.series.cover import select
from tests.store.series.memory import MemoryPages
from tests.store.series.samples import RANK, assert_bucket, long_points, rows
from tests.store.series.test_query import assert_answers

_RARELY = settings(max_examples=30, deadline=None)


def attempt(seed: int, start: int, count: int) -> Points:
    """Return points from a step on, later in time than those of lower seeds."""
    points = long_points(seed, count, gaps=True, odd=0.002)
    points.ints[0] += start
    points.ints[1] += seed * 10**15
    return points


@st.composite
def lines(draw: st.DrawFn) -> tuple[MemoryPages, Line, Points]:
    """Return attempts in a store, a line over them, and the points that it must show, found one by one."""
    store, parts = MemoryPages(), []
    shown: dict[int, Points] = {}
    start = 0
    window = draw(
        st.sampled_from(
            [
                Window(),
                Window(9000, 40_000),
                Window(30_000),
                Window(last_step=100),
                Window(first_time=17 * 10**17 + 10**15),
            ]
        )
    )
    for seed in range(draw(st.integers(1, 4))):
        start = max(0, start + draw(st.sampled_from([-30_000, -3000, -1, 0, 1, 500])))
        points = attempt(seed, start, draw(st.integers(1, 12_000)))
        before = draw(st.sampled_from([None, None, start - 1, int(points.step[len(points) // 2])]))
        num_folded = draw(st.sampled_from([0, 1, len(points) // 2, len(points)]))
        fold(store, {seed: points.take(slice(num_folded))}, RANK)
        tail = points.take(slice(num_folded, None)) if num_folded < len(points) else None
        parts.append(Part(seed, before, tail))
        for index, step in enumerate(points.step.tolist()):
            if before is None or step < before:
                shown[step] = points.take(slice(index, index + 1))
        start = int(points.step[-1]) + 1
    expected = Points.concat([Points.none(), *(shown[step] for step in sorted(shown))])
    return store, Line(tuple(parts), window), select(expected, window)


@_RARELY
@given(lines(), st.integers(1, 1500), st.sampled_from(["step", "time"]))
def test_attempts_are_one_curve(given_lines: tuple[MemoryPages, Line, Points], pixels: int, axis: Axis) -> None:
    store, line, expected = given_lines
    [buckets] = query(store, [line], pixels, axis)
    assert_answers(buckets, expected, pixels)
    [bucket] = digest(store, [line])
    if len(expected):
        assert_bucket(bucket, 0, expected)


@_RARELY
@given(lines(), st.one_of(st.none(), st.integers(0, 30_000)))
def test_reading_raw_points(given_lines: tuple[MemoryPages, Line, Points], limit: int | None) -> None:
    store, line, expected = given_lines
    pieces = list(read_points(store, line, limit))
    assert all(len(piece) for piece in pieces)
    assert rows(Points.concat([Points.none(), *pieces])) == rows(expected)[:limit]


def test_reading_streams_and_stops_at_the_limit() -> None:
    store, points = MemoryPages(), long_points(1, 400_000)
    fold(store, {1: points}, RANK)
    for _ in read_points(store, Line((Part(1),)), 5000):
        pass
    assert len(store.read) <= 16
    store.read.clear()
    [piece] = read_points(store, Line((Part(1),), Window(200_000, 200_002)))
    assert piece.step.tolist() == [200_000, 200_001, 200_002]
    assert len(store.read) == 1


def test_a_resumed_run_costs_two_calls() -> None:
    """The usual case: the old attempt is superseded where the new one begins."""
    store = MemoryPages()
    first, second = attempt(0, 0, 100_000), attempt(1, 120_000, 100_000)
    fold(store, {0: first, 1: second}, RANK)
    store.calls = 0
    [buckets] = query(store, [Line((Part(0, before=120_000), Part(1)))], 300)
    assert store.calls == 2
    assert_answers(buckets, Points.concat([first.take(first.step < 120_000), second]), 300)


def test_a_run_and_its_forks_in_one_chart() -> None:
    store = MemoryPages()
    parent, child = attempt(0, 0, 50_000), attempt(1, 60_000, 20_000)
    fold(store, {0: parent, 1: child}, RANK)
    forks = [Line((Part(0, before=60_000), Part(1))), Line((Part(0),)), Line((Part(0, before=10),))]
    whole = Points.concat([parent.take(parent.step < 60_000), child])
    for buckets, points in zip(query(store, forks, 200), (whole, parent, parent.take(parent.step < 10)), strict=True):
        assert_answers(buckets, points, 200)


def test_a_long_overlap_is_merged_with_bounded_memory() -> None:
    store = MemoryPages()
    even = Points.of(np.arange(0, 400_000, 2), np.zeros(200_000))
    every = Points.of(np.arange(0, 400_000, 4), np.ones(100_000))
    fold(store, {0: even, 1: every}, RANK)
    store.largest_call = 0
    [buckets] = query(store, [Line((Part(0), Part(1)))], 100)
    assert store.largest_call <= 16
    assert int(buckets.count.sum()) == 200_000
    assert buckets.sum.sum() == 100_000
    assert len(buckets) == 100
