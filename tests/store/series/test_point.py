"""Points: the later one of a step wins, whatever order they come in."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from strobe.store.series import BOOL, Points
from tests.store.series.samples import RANK, brute_rows, rows


@st.composite
def crowded_points(draw: st.DrawFn) -> Points:
    """Return points that often share a step and parts of their place."""
    few = st.integers(0, 3)
    drawn = draw(st.lists(st.tuples(few, few, st.integers(-2, 2), st.integers(0, 2), few, few), max_size=30))
    columns = np.array(drawn, np.int64).reshape(-1, 6).T
    # Points of one place are one point, so they are alike.
    return Points.of(
        columns[0],
        columns[1:5].sum(axis=0),
        time_ns=columns[1],
        lag_ns=columns[2],
        writer=columns[3],
        sequence=columns[4],
    )


@given(crowded_points(), st.randoms())
def test_ordering_keeps_the_latest_of_each_step_in_any_arrival_order(points: Points, random: object) -> None:
    shuffled = points.take(np.random.default_rng(abs(hash(random)) % 2**32).permutation(len(points)))
    winners = {step: row[1] + row[2] for step, row in brute_rows(points).items()}
    got = shuffled.ordered(RANK)
    assert (got.time_ns + got.lag_ns).tolist() == list(winners.values())
    assert got.step.tolist() == list(winners)


@given(crowded_points())
def test_ordering_is_by_moment_then_writer_name_then_sequence(points: Points) -> None:
    distinct = list({row[:5]: index for index, row in enumerate(rows(points))}.values())
    unique = points.take(np.array(distinct, np.int64))
    places = unique.time_ns + unique.lag_ns
    same_place = len(
        set(zip(unique.step.tolist(), places.tolist(), unique.writer.tolist(), unique.sequence.tolist(), strict=True))
    )
    if same_place == len(unique):
        assert rows(unique.ordered(RANK)) == list(brute_rows(unique).values())


def test_a_lag_that_wrapped_still_gives_the_moment() -> None:
    lowest, highest = -(2**63), 2**63 - 1
    wrapped = np.array([highest], np.int64) - np.array([lowest], np.int64)  # -1: the difference modulo 2**64
    late = Points.of([1], [2.0], time_ns=lowest, lag_ns=wrapped)
    early = Points.of([1], [1.0], time_ns=0)
    assert Points.concat([late, early]).ordered(RANK).value.tolist() == [2.0]


def test_columns_are_what_was_given() -> None:
    points = Points.of([5, 6], [1.0, 0.0], time_ns=[7, 8], lag_ns=9, writer=2, sequence=[3, 4], kind=BOOL)
    assert rows(points.take(slice(1, 2))) == [(6, 8, 9, 2, 4, BOOL, 0)]
