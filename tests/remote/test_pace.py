from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strobe.remote.pace import Pace


def sent_in(pace: Pace, seconds: float, piece: int = 10_000) -> float:
    """Return the bytes that get out in so many seconds, sending as fast as the pace allows."""
    now, sent = 0.0, 0
    while now < seconds:
        now += pace.take(piece, now)
        sent += piece
    return sent


@given(st.integers(10_000, 10_000_000), st.integers(1_000, 200_000))
def test_a_limit_holds_whatever_the_size_of_the_pieces(limit: int, piece: int) -> None:
    sent = sent_in(Pace(float(limit), automatic=False), 20.0, piece)
    assert sent <= limit * 20.25 + 2 * piece
    assert sent >= limit * 19.0


def test_without_a_limit_nobody_waits() -> None:
    pace = Pace()
    assert sum(pace.take(1 << 20, second / 1000) for second in range(1000)) == 0


def test_a_queue_on_the_way_halves_the_rate_and_short_round_trips_free_it_again() -> None:
    pace = Pace()
    now = 0.0
    for _ in range(100):  # 2 MB/s over a way of 20 ms
        now += 0.1
        pace.take(200_000, now)
        pace.note_round_trip(0.02, now)
    assert pace.rate is None
    for _ in range(5):  # the way fills up
        now += 2.0
        pace.take(200_000, now)
        pace.note_round_trip(0.4, now)
    assert pace.rate is not None
    assert pace.rate < 1_000_000
    lowest = pace.rate
    for _ in range(20):
        now += 0.5
        pace.note_round_trip(0.02, now)
    assert pace.rate > lowest
    for _ in range(2000):
        now += 0.5
        pace.take(1000, now)
        pace.note_round_trip(0.02, now)
    assert pace.rate is None


def test_it_never_stops_altogether() -> None:
    pace, now = Pace(), 0.0
    pace.note_round_trip(0.01, now)
    for _ in range(200):
        now += 10.0
        pace.note_round_trip(5.0, now)
    assert pace.rate is None or pace.rate >= 32_000


def test_a_limit_is_the_ceiling_of_the_automatic_mode() -> None:
    pace, now = Pace(100_000.0, automatic=True), 0.0
    pace.note_round_trip(0.01, now)
    for _ in range(10):
        now += 10.0
        pace.note_round_trip(1.0, now)
    assert pace.rate is not None
    assert pace.rate < 100_000
    for _ in range(1000):
        now += 1.0
        pace.note_round_trip(0.01, now)
    assert pace.rate == pytest.approx(100_000)


def test_a_longer_way_becomes_the_normal_one_after_a_while() -> None:
    pace, now = Pace(), 0.0
    pace.note_round_trip(0.01, now)
    for _ in range(2000):  # 200 ms for ever: another route, not a queue
        now += 1.0
        pace.note_round_trip(0.2, now)
    pace.take(1000, now)
    assert pace.rate is None or pace.rate > 1_000_000


def test_a_clock_that_jumps_does_no_harm() -> None:
    pace = Pace(1000.0, automatic=False)
    pace.take(1000, 1000.0)
    assert 0 <= pace.take(100, 0.0) < 10
    assert 0 <= pace.take(100, 1e9) < 10
