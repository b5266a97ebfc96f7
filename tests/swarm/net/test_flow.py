from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from strobe.swarm.net.flow import RoundTrip, TokenBucket, Window


@given(st.lists(st.floats(0, 2), max_size=300))
def test_a_bucket_never_gives_more_than_burst_and_rate(pauses: list[float]) -> None:
    bucket, now, taken = TokenBucket(10.0, 5.0, 0.0), 0.0, 0
    for pause in pauses:
        now += pause
        taken += bucket.take(now)
        assert taken <= 5 + now * 10 + 1e-6


def test_a_bucket_that_is_empty_says_how_long() -> None:
    bucket = TokenBucket(10.0, 2.0, 0.0)
    assert [bucket.take(0.0) for _ in range(3)] == [True, True, False]
    wait = bucket.wait_s()
    assert 0 < wait <= 0.1
    assert not bucket.take(wait * 0.9)
    assert bucket.take(wait * 1.01 + 0.01)


@given(st.lists(st.floats(0.0001, 10), min_size=1, max_size=50))
def test_the_time_out_is_bounded(samples: list[float]) -> None:
    trip = RoundTrip()
    for sample in samples:
        trip.observe(sample)
        assert trip.LEAST_S <= trip.timeout_s <= trip.MOST_S


def test_the_time_out_follows_the_path() -> None:
    trip = RoundTrip()
    for _ in range(50):
        trip.observe(0.5)
    assert 0.5 < trip.timeout_s < 0.6


def test_a_window_grows_with_answers_and_halves_once_per_round_trip() -> None:
    window = Window(64)
    for _ in range(3000):
        window.in_flight += 1
        window.answered()
    assert window.size == 64
    for _ in range(10):
        window.lost(1.0, 0.1)
    assert window.size == 32
    for now in range(2, 20):
        window.lost(now, 0.1)
    assert window.size == 8
