"""The measuring loop: warm up until steps take equally long, choose how many make a sample, take samples.

A sample is at least a millisecond, so that reading two clocks costs well under a percent of it; steps longer than that
are timed one by one. Where steps have a limit, a sample takes half of that at most: it would hide which of its steps
kept the limit once it is longer itself, and samples vary. How many samples are taken is settled before the first one,
because in a group all processes must take the same steps. Knows nothing of workloads: a step is a function.
"""

from __future__ import annotations

import gc
import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from strobe.bench import stats

Step = Callable[[int], object]

SAMPLE_NS = 1_000_000
#: of the limit of a step, what a sample of several may take
_LIMIT_SHARE = 0.5
MIN_SAMPLES = 4
MAX_SAMPLES = 5_000
#: two windows in a row must agree to this
_STABLE = 0.05
_WINDOW_NS = 20_000_000
_WINDOW_STEPS = 3
_WARM_UP_NS = 2_000_000_000
#: of a step of this length, calling it is well below a percent anywhere
_LONG_S = 50e-6


@dataclass(frozen=True, slots=True)
class Clocks:
    """Nanoseconds on the wall, and of CPU time of all threads of this process."""

    wall: Callable[[], int] = time.perf_counter_ns
    cpu: Callable[[], int] = time.process_time_ns


@dataclass(frozen=True, slots=True, kw_only=True)
class Warm:
    """What warming up has shown; `is_stable` is None when steps are too long to tell."""

    num_steps: int
    step_ns: float
    is_stable: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Samples:
    """Seconds per step, sample by sample."""

    wall_s: tuple[float, ...]
    cpu_s: tuple[float, ...]
    inner_loops: int
    #: samples after which their work comes again: 1 where each has whole turns in it
    turn: int = 1


def _nothing(num_steps: int = 0) -> None:
    pass


class Loop:
    """Counts the steps that it takes; `announce` is told before each batch of steps how many there will be.

    Steps come in turns of `turn`, after which their work is the same again: they are judged by whole turns only.
    """

    def __init__(
        self,
        step: Step,
        *,
        fence: Callable[[], None] = _nothing,
        announce: Callable[[int], None] = _nothing,
        clocks: Clocks | None = None,
        first: int = 0,
        turn: int = 1,
    ) -> None:
        self._step = step
        # Accelerators work on behind the back of the program; a time is true once they have caught up.
        self._fence = fence
        self._announce = announce
        self._clocks = clocks or Clocks()
        self.index = first
        self._turn = turn

    def take(self, num_steps: int) -> object:
        """Take steps without timing them; returns the last output."""
        self._announce(num_steps)
        output: object = None
        for _ in range(num_steps):
            output = self._step(self.index)
            self.index += 1
        self._fence()
        return output

    def warm_up(self) -> Warm:
        """Take steps until two windows in a row take equally long, or two seconds have passed."""
        wall = self._clocks.wall
        began, first = wall(), self.index
        before: float | None = None
        while True:
            times = self._window()
            now = stats.middle_of_turns(times, self._turn)
            if before is not None and abs(now - before) <= _STABLE * before:
                return Warm(num_steps=self.index - first, step_ns=now, is_stable=True)
            if wall() - began >= _WARM_UP_NS:
                stable = None if len(times) < max(_WINDOW_STEPS, self._turn) or before is None else False
                return Warm(num_steps=self.index - first, step_ns=now, is_stable=stable)
            before = now

    def _window(self) -> list[float]:
        wall = self._clocks.wall
        began = before = wall()
        times: list[float] = []
        # Of steps that are seconds long one is a window: a model that is warm after one should not cost a minute.
        while before - began < _WARM_UP_NS and (
            len(times) < _WINDOW_STEPS or len(times) % self._turn or before - began < _WINDOW_NS
        ):
            self.take(1)
            now = wall()
            times.append(float(now - before))
            before = now
        return times

    def measure(self, warm: Warm, seconds: float, limit_s: float | None = None) -> Samples:
        """Take samples for about so many seconds, without the garbage collector; `limit_s` is that of a step."""
        step_ns = max(warm.step_ns, 1.0)
        inner_loops = math.ceil(SAMPLE_NS / step_ns)
        if inner_loops > 1:
            inner_loops = _whole(inner_loops, self._turn)
        if limit_s is not None:
            room = int(_LIMIT_SHARE * 1e9 * limit_s / step_ns)
            inner_loops = min(inner_loops, max(1, room - room % self._turn))
        turn = self._turn if inner_loops == 1 else 1
        sample_ns = step_ns * inner_loops
        num_samples = min(MAX_SAMPLES, max(MIN_SAMPLES, round(seconds * 1e9 / sample_ns)))
        with no_garbage_collection():
            return self._samples(_whole(num_samples, turn), inner_loops, turn)

    def _samples(self, num_samples: int, inner_loops: int, turn: int = 1) -> Samples:
        step, fence, index = self._step, self._fence, self.index
        wall, cpu = self._clocks.wall, self._clocks.cpu
        walls, cpus = [0] * num_samples, [0] * num_samples
        self._announce(num_samples * inner_loops)
        for sample in range(num_samples):
            cpu_began, began = cpu(), wall()
            for number in range(index, index + inner_loops):
                step(number)
            fence()
            walls[sample] = wall() - began
            cpus[sample] = cpu() - cpu_began
            index += inner_loops
        self.index = index
        scale = 1e-9 / inner_loops
        return Samples(
            wall_s=tuple(ns * scale for ns in walls),
            cpu_s=tuple(ns * scale for ns in cpus),
            inner_loops=inner_loops,
            turn=turn,
        )


def _whole(number: int, turn: int) -> int:
    """Return the least number of whole turns that has so many."""
    return -(-number // turn) * turn


@contextmanager
def no_garbage_collection() -> Iterator[None]:
    """Keep Python from looking for garbage, which would stop a step at any moment; it looks once before."""
    was_enabled = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def call_ns(num_calls: int = 20_000) -> float:
    """Return the CPU nanoseconds that calling a step takes which does nothing: the harness's part of every step."""
    loop = Loop(_nothing)
    loop._samples(1, num_calls)
    began = time.process_time_ns()
    loop._samples(1, num_calls)
    return (time.process_time_ns() - began) / num_calls


def call_share(step_s: float) -> float:
    """Return which share of a step is the harness's; 0 for steps that are longer than it could matter for."""
    return 0.0 if step_s > _LONG_S else min(1.0, call_ns() / max(1.0, 1e9 * step_s))


def overhead_percent(num_samples: int = 2_000) -> float:
    """Return what timing adds to a sample of a millisecond, in percent: empty steps in a loop take it for nothing.

    Counted in CPU time, which a busy machine does not take from us.
    """
    loop = Loop(_nothing)
    loop._samples(num_samples, 1)
    began = time.process_time_ns()
    loop._samples(num_samples, 1)
    return 100.0 * (time.process_time_ns() - began) / num_samples / SAMPLE_NS
