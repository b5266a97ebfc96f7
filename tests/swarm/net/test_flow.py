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
        trip.learn(sample)
        assert trip.LEAST_S <= trip.timeout_s <= trip.MOST_S


def test_the_time_out_follows_the_path() -> None:
    trip = RoundTrip()
    for _ in range(50):
        trip.learn(0.5)
    assert 0.5 < trip.timeout_s < 0.6


def test_what_is_always_answered_late_is_not_sent_twice_for_ever() -> None:
    trip = RoundTrip()
    for _ in range(50):
        trip.learn(0.001)
    resends = 0
    for _ in range(20):
        sends = 1 + (trip.timeout_s < 0.3)
        resends += sends - 1
        trip.learn(0.3, sends)
    assert resends == 1


def test_a_lost_packet_does_not_make_others_wait_for_long() -> None:
    trip = RoundTrip()
    for sends in (1, 1, 3, 1):
        trip.learn(0.001 if sends == 1 else 0.301, sends)
    assert trip.timeout_s == trip.LEAST_S


def test_one_that_was_away_is_not_taken_for_a_slow_path_at_once_but_a_slow_path_is_in_the_end() -> None:
    trip = RoundTrip()
    for _ in range(50):
        trip.learn(0.001)
    trip.learn(2.9, 4)
    assert trip.timeout_s <= 2 * trip.LEAST_S
    for _ in range(10):
        trip.learn(2.0, 1 if trip.timeout_s > 2.0 else 4)
    assert trip.timeout_s >= 2.0


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
