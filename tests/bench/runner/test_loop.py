"""The measuring loop against a clock of its own: warm-up, calibration, samples."""

from __future__ import annotations

import gc
import random
import statistics
import time
from collections.abc import Callable

import pytest

from strobe.bench import stats
from strobe.bench.latency import judge_repeats
from strobe.bench.records import Repeat
from strobe.bench.runner.conditions import Between, brevity, doubts, look
from strobe.bench.runner.loop import (
    MAX_SAMPLES,
    MIN_SAMPLES,
    Clocks,
    Loop,
    Samples,
    Warm,
    call_ns,
    call_share,
)
from strobe.bench.spec import Latency as Limit

QUIET = Between(look(()), look(()), 1)


class FakeTime:
    """A clock that only steps move."""

    def __init__(self, step_ns: Callable[[int], float]) -> None:
        self.now = 0.0
        self.step_ns = step_ns
        self.indices: list[int] = []
        self.was_collecting: list[bool] = []

    def step(self, index: int) -> int:
        self.indices.append(index)
        self.was_collecting.append(gc.isenabled())
        self.now += self.step_ns(index)
        return index

    def loop(self, announce: Callable[[int], None] = lambda num_steps: None, turn: int = 1) -> Loop:
        clocks = Clocks(wall=lambda: round(self.now), cpu=lambda: round(self.now / 2))
        return Loop(self.step, announce=announce, clocks=clocks, turn=turn)


def test_warm_up_ends_once_steps_take_equally_long() -> None:
    time = FakeTime(lambda index: max(2e6, 10e6 - 1e6 * index))
    warm = time.loop().warm_up()
    assert warm.is_stable is True
    assert warm.step_ns == 2e6
    assert warm.num_steps < 40


def test_warm_up_gives_up_on_steps_that_never_settle() -> None:
    time = FakeTime(lambda index: 1e6 * 1.05**index)
    warm = time.loop().warm_up()
    assert warm.is_stable is False
    assert 2e9 < time.now < 8e9


def test_a_step_of_seconds_is_warm_after_a_few() -> None:
    time = FakeTime(lambda index: 5e9)
    warm = time.loop().warm_up()
    assert warm.num_steps == 1
    assert warm.is_stable is None


@pytest.mark.parametrize(
    ("step_ns", "inner_loops", "num_samples"),
    [(1e3, 1000, 1000), (1e5, 10, 1000), (2e6, 1, 500), (3e8, 1, MIN_SAMPLES), (1e6, 1, 1000), (7e5, 2, 714)],
)
def test_samples_are_long_enough_to_time_and_fill_the_time(step_ns: float, inner_loops: int, num_samples: int) -> None:
    time = FakeTime(lambda index: step_ns)
    samples = time.loop().measure(Warm(num_steps=1, step_ns=step_ns, is_stable=True), 1.0)
    assert samples.inner_loops == inner_loops
    assert len(samples.wall_s) == len(samples.cpu_s) == num_samples
    assert samples.wall_s[0] == pytest.approx(step_ns * 1e-9)
    assert samples.cpu_s[0] == pytest.approx(step_ns * 0.5e-9)


@pytest.mark.parametrize(
    ("step_ns", "limit_s", "turn", "inner_loops"),
    [
        (1e5, 0.0005, 1, 2),
        (1e5, 0.1, 1, 10),
        (2e5, 0.0005, 1, 1),
        (2e5, 0.0001, 1, 1),
        (2e6, 0.0005, 1, 1),
        (1e3, 0.0005, 1, 250),
        # whole turns, or steps one by one
        (2e4, 0.0005, 4, 12),
        (1e5, 0.0005, 4, 1),
        (1e5, 0.1, 4, 12),
    ],
)
def test_samples_are_shorter_than_the_limit_of_a_step(
    step_ns: float, limit_s: float, turn: int, inner_loops: int
) -> None:
    """More steps than fit into it could never show that each of them kept it."""
    time = FakeTime(lambda index: step_ns)
    samples = time.loop(turn=turn).measure(Warm(num_steps=1, step_ns=step_ns, is_stable=True), 1.0, limit_s)
    assert samples.inner_loops == inner_loops


@pytest.mark.parametrize("step_ns", [5e4, 1e5, 1.25e5, 1.66e5, 2.4e5, 2.5e5, 4e5])
def test_a_limit_below_a_millisecond_that_all_steps_keep_is_met(step_ns: float) -> None:
    rng = random.Random(7)
    time = FakeTime(lambda index: rng.gauss(step_ns, 0.02 * step_ns))
    samples = time.loop().measure(Warm(num_steps=1, step_ns=step_ns, is_stable=True), 1.0, 0.0005)
    repeat = Repeat(wall_s=samples.wall_s, cpu_s=samples.cpu_s, inner_loops=samples.inner_loops)
    assert judge_repeats([repeat], Limit(limit_ms=0.5, percentile=99)).status == "met"


@pytest.mark.parametrize("seconds", [0.01, 0.0473, 0.3, 1.0])
@pytest.mark.parametrize("scale_ns", [1e4, 1e6, 7e6, 4e8], ids=["short", "ms", "longer", "long"])
def test_unlike_steps_are_measured_by_whole_turns(scale_ns: float, seconds: float) -> None:
    """Texts of any length in a ring of four: what a step takes on average, however many there is time for."""
    lengths = (1.18, 0.72, 0.72, 1.38)
    time = FakeTime(lambda index: scale_ns * lengths[index % 4])
    loop = time.loop(turn=4)
    loop.take(3)
    warm = loop.warm_up()
    assert warm.is_stable is not False
    samples = loop.measure(warm, seconds)
    middle = stats.middle_of_turns(samples.wall_s, samples.turn)
    assert middle == pytest.approx(1e-9 * scale_ns, rel=1e-6)
    assert len(samples.wall_s) * samples.inner_loops % 4 == 0
    assert not [reason for reason in doubts(QUIET, warm, samples, is_alone=True) if "vary" in reason]


def test_there_are_never_more_samples_than_anybody_reads() -> None:
    time = FakeTime(lambda index: 1e6)
    assert len(time.loop().measure(Warm(num_steps=1, step_ns=1e6, is_stable=True), 60.0).wall_s) == MAX_SAMPLES


def test_every_step_has_its_own_index_and_is_announced() -> None:
    time = FakeTime(lambda index: 1e6)
    announced: list[int] = []
    loop = time.loop(announced.append)
    loop.take(3)
    loop.measure(loop.warm_up(), 0.01)
    assert time.indices == list(range(len(time.indices)))
    assert sum(announced) == loop.index == len(time.indices)
    assert announced[-1] == 10


def test_no_garbage_is_collected_while_measuring() -> None:
    time = FakeTime(lambda index: 1e7)
    time.loop().measure(Warm(num_steps=1, step_ns=1e7, is_stable=True), 0.05)
    assert not any(time.was_collecting)
    assert gc.isenabled()


def test_the_fence_is_inside_what_is_timed() -> None:
    now = 0

    def fence() -> None:
        nonlocal now
        now += 5_000_000

    loop = Loop(lambda index: None, fence=fence, clocks=Clocks(wall=lambda: now, cpu=lambda: now))
    samples = loop.measure(Warm(num_steps=1, step_ns=5e6, is_stable=True), 0.02)
    assert set(samples.wall_s) == {0.005}


def test_the_harness_costs_less_than_a_percent_of_a_real_loop() -> None:
    """The same work by hand and in the loop, in turns, in CPU time: the least of each, once found, nobody disturbed."""
    # About a millisecond, as short as steps of the suite get, and no memory, so that others in the caches do not count.
    numbers = range(30_000)

    def step(index: int) -> int:
        return sum(numbers)

    def by_hand(num_steps: int) -> float:
        began = time.process_time_ns()
        for index in range(num_steps):
            step(index)
        return (time.process_time_ns() - began) / num_steps

    loop = Loop(step)
    warm = loop.warm_up()
    hand, ours = [], []
    for turn in range(300):
        hand.append(by_hand(20))
        ours.append(1e9 * statistics.mean(loop.measure(warm, 20e-9 * warm.step_ns).cpu_s))
        # Steps by hand must have shown their least, too: an unlucky one would let the loop look cheap.
        is_settled = turn > 40 and min(hand[-20:]) >= min(hand[:-20])
        if is_settled and min(ours) < 1.01 * min(hand):
            return
    pytest.fail(f"{min(ours) / min(hand):.3f} of the time that the same steps take by hand")


def test_steps_so_short_that_calling_them_counts_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("strobe.bench.runner.loop.call_ns", lambda: 50.0)
    assert call_share(1e-6) == pytest.approx(0.05)
    assert call_share(1e-9) == 1.0
    assert call_share(1e-4) == 0.0
    short, long = (Samples(wall_s=(step_s,) * 3, cpu_s=(), inner_loops=1) for step_s in (2e-7, 1e-3))
    assert brevity(short) == ("calling so short a step is 25 % of it",)
    assert brevity(long) == ()


def test_what_a_call_takes_is_measured() -> None:
    assert call_ns() > 0
