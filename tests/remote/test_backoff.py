from __future__ import annotations

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from strobe.remote.backoff import Backoff


@given(st.integers(0, 2**32), st.integers(1, 100))
def test_waits_lie_between_nothing_and_a_ceiling_that_doubles_up_to_the_cap(seed: int, num_failures: int) -> None:
    backoff = Backoff(Random(seed), first_s=1.0, cap_s=60.0)
    waits = [backoff.fail(float(second)) for second in range(num_failures)]
    assert all(0 <= wait <= min(60.0, 2.0**index) for index, wait in enumerate(waits))


def test_jitter_spreads_clients_over_the_whole_time() -> None:
    waits = []
    for seed in range(400):
        backoff = Backoff(Random(seed), first_s=1.0, cap_s=8.0)
        waits.append([backoff.fail(0.0) for _ in range(5)][-1])
    assert min(waits) < 0.8
    assert max(waits) > 7.2
    assert 3.0 < sum(waits) / len(waits) < 5.0


def test_what_the_server_asks_for_is_waited_for_in_full() -> None:
    assert all(Backoff(Random(seed)).fail(0.0, at_least_s=7.0) >= 7.0 for seed in range(50))


def test_a_success_forgets_and_failures_have_a_beginning() -> None:
    backoff = Backoff(Random(1), first_s=1.0)
    assert backoff.failing_for(5.0) == 0
    for second in range(10, 20):
        backoff.fail(float(second))
    assert backoff.failing_for(30.0) == 20.0
    backoff.succeed()
    assert (backoff.failing_for(31.0), backoff.num_failures) == (0, 0)
    assert backoff.fail(40.0) <= 1.0


def test_a_clock_that_jumps_back_does_no_harm() -> None:
    backoff = Backoff(Random(1))
    backoff.fail(100.0)
    assert backoff.failing_for(50.0) == 0.0
