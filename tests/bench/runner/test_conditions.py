"""What else went on: shares of the CPUs, and when they are a reason to doubt."""

from __future__ import annotations

import os

import pytest

from strobe.bench.runner.conditions import Between, Moment, doubts, look
from strobe.bench.runner.loop import Samples, Warm

STEADY = Warm(num_steps=9, step_ns=1e6, is_stable=True)


def _between(
    *, busy_s: float = 0.0, own_s: float = 0.0, stolen_s: float = 0.0, wall_s: float = 1.0, throttled_s: float = 0.0
) -> Between:
    before = Moment(load=0.0, wall_s=10.0, own_s=5.0, busy_s=100.0, stolen_s=1.0, throttled_s=7.0)
    after = Moment(
        load=1.0,
        wall_s=before.wall_s + wall_s,
        own_s=before.own_s + own_s,
        busy_s=100.0 + busy_s,
        stolen_s=1.0 + stolen_s,
        throttled_s=before.throttled_s + throttled_s,
    )
    return Between(before, after, num_cpus=2)


def _samples(*wall_s: float) -> Samples:
    return Samples(wall_s=wall_s, cpu_s=wall_s, inner_loops=1)


def test_what_others_and_the_hypervisor_took_is_a_share_of_our_cpus() -> None:
    between = _between(busy_s=1.5, own_s=1.0, stolen_s=0.2)
    assert between.others_percent == pytest.approx(25.0)
    assert between.steal_percent == pytest.approx(10.0)
    assert doubts(between, STEADY, _samples(1.0, 1.0), is_alone=True) == (
        "steal 10 %",
        "other processes used 25 % of the CPUs",
    )


@pytest.mark.parametrize(
    ("throttled_s", "found"),
    [
        (0.0, ()),
        (0.03, ()),
        (0.5, ("the container's quota held back 25 % of the CPUs",)),
        (9.0, ("the container's quota held back 100 % of the CPUs",)),
    ],
)
def test_a_quota_that_holds_the_process_back_is_a_doubt(throttled_s: float, found: tuple[str, ...]) -> None:
    assert doubts(_between(throttled_s=throttled_s), STEADY, _samples(1.0, 1.0), is_alone=True) == found


def test_in_a_group_the_others_are_our_own() -> None:
    between = _between(busy_s=2.0, own_s=1.0, stolen_s=0.0)
    assert doubts(between, STEADY, _samples(1.0, 1.0), is_alone=False) == ()


def test_a_quiet_machine_raises_no_doubt() -> None:
    assert doubts(_between(busy_s=2.0, own_s=1.99, stolen_s=0.0), STEADY, _samples(1.0, 1.01), is_alone=True) == ()


def test_too_short_to_tell() -> None:
    between = _between(busy_s=0.1, own_s=0.0, stolen_s=0.1, wall_s=0.1)
    assert doubts(between, STEADY, _samples(1.0), is_alone=True) == ()


def test_steps_that_vary_or_never_got_warm_are_doubtful() -> None:
    calm = _between(busy_s=0.0, own_s=0.0, stolen_s=0.0)
    cold = Warm(num_steps=50, step_ns=1e6, is_stable=False)
    assert doubts(calm, cold, _samples(1.0, 2.0, 3.0, 4.0), is_alone=True) == (
        "still warming up after 50 steps",
        "steps vary by 40 %",
    )


def test_the_counters_of_this_machine_only_rise() -> None:
    before = look(os.sched_getaffinity(0))
    sum(range(300_000))
    after = look(os.sched_getaffinity(0))
    assert after.own_s > before.own_s
    assert after.busy_s is not None
    assert before.busy_s is not None
    assert after.busy_s >= before.busy_s
