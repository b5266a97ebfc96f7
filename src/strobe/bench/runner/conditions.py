"""What else went on while a worker measured: load, time stolen by the hypervisor, work of other processes, a quota.

Looks only at the CPUs that the worker is pinned to, of several ranks those of rank 0, but for the quota, which is the
container's. The load average is kept for the record, but doubt rests on what was used meanwhile: the average still
remembers the worker before.
"""

from __future__ import annotations

import os
import time
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from strobe.agent import cgroup
from strobe.bench import stats
from strobe.bench.machine import load_average
from strobe.bench.records import OTHERS, QUOTA, STEAL
from strobe.bench.runner.loop import Samples, Warm, call_share

MAX_STEAL_PERCENT = 2.0
MAX_THROTTLED_PERCENT = 2.0
MAX_OTHERS_PERCENT = 5.0
MAX_SPREAD = 0.1
MAX_CALL_SHARE = 0.01
# Shares of less than this are too coarse: the kernel counts in hundredths of a second.
_SHORTEST_S = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """Counters at one moment; CPU times in seconds since boot."""

    load: float | None
    wall_s: float
    own_s: float
    busy_s: float | None
    stolen_s: float | None
    #: for how long a quota held CPUs back, of everything in the same container
    throttled_s: float


def look(cpus: Collection[int]) -> Moment:
    """Read the counters of these CPUs (of all, if none are named)."""
    busy, stolen = _cpu_times(cpus)
    return Moment(
        load=load_average(),
        wall_s=time.monotonic(),
        own_s=time.process_time(),
        busy_s=busy,
        stolen_s=stolen,
        throttled_s=cgroup.throttled_s(os.getpid()),
    )


@dataclass(frozen=True, slots=True)
class Between:
    """What happened between two moments on `num_cpus` CPUs."""

    before: Moment
    after: Moment
    num_cpus: int

    @property
    def _capacity_s(self) -> float:
        return (self.after.wall_s - self.before.wall_s) * self.num_cpus

    @property
    def steal_percent(self) -> float | None:
        """Share of the CPUs that the hypervisor gave to others."""
        if self.before.stolen_s is None or self.after.stolen_s is None or self._capacity_s <= 0:
            return None
        return 100.0 * (self.after.stolen_s - self.before.stolen_s) / self._capacity_s

    @property
    def throttled_percent(self) -> float:
        """Share of the CPUs that the container's quota held back; all of them, if also others than ours were."""
        if self._capacity_s <= 0:
            return 0.0
        return min(100.0, 100.0 * (self.after.throttled_s - self.before.throttled_s) / self._capacity_s)

    @property
    def others_percent(self) -> float | None:
        """Share of the CPUs that other processes used."""
        if self.before.busy_s is None or self.after.busy_s is None or self._capacity_s <= 0:
            return None
        own = self.after.own_s - self.before.own_s
        return max(0.0, 100.0 * (self.after.busy_s - self.before.busy_s - own) / self._capacity_s)


def disturbances(between: Between, *, is_alone: bool = True) -> tuple[str, ...]:
    """Return what kept the CPUs from us; `is_alone` is False where processes of the same measurement share them."""
    found = []
    if between.after.wall_s - between.before.wall_s >= _SHORTEST_S:
        if (steal := between.steal_percent) is not None and steal > MAX_STEAL_PERCENT:
            found.append(f"{STEAL}{steal:.0f} %")
        if (throttled := between.throttled_percent) > MAX_THROTTLED_PERCENT:
            found.append(f"{QUOTA}{throttled:.0f} % of the CPUs")
        if is_alone and (others := between.others_percent) is not None and others > MAX_OTHERS_PERCENT:
            found.append(f"{OTHERS}{others:.0f} % of the CPUs")
    return tuple(found)


def doubts(between: Between, warm: Warm, samples: Samples, *, is_alone: bool) -> tuple[str, ...]:
    """Return why the samples deserve doubt."""
    found = [*disturbances(between, is_alone=is_alone), *coldness(warm)]
    if (spread := _spread(samples)) > MAX_SPREAD:
        found.append(f"steps vary by {100 * spread:.0f} %")
    return (*found, *brevity(samples))


def coldness(warm: Warm) -> tuple[str, ...]:
    """Return that steps were not yet alike when warming up had to end, if so."""
    return (f"still warming up after {warm.num_steps} steps",) if warm.is_stable is False else ()


def brevity(samples: Samples) -> tuple[str, ...]:
    """Return that steps are so short that the harness is more than a percent of them, if so."""
    share = call_share(stats.median(samples.wall_s))
    return (f"calling so short a step is {100 * share:.0f} % of it",) if share > MAX_CALL_SHARE else ()


def _spread(samples: Samples) -> float:
    """Return how much samples of the same work differ."""
    places = [samples.wall_s[place :: samples.turn] for place in range(samples.turn)]
    return max(stats.mad(place) / middle if (middle := stats.median(place)) > 0 else 0.0 for place in places)


def _cpu_times(cpus: Collection[int]) -> tuple[float | None, float | None]:
    """Return (busy, stolen) seconds from /proc/stat, (None, None) where there is none."""
    try:
        lines = Path("/proc/stat").read_text(encoding="ascii").splitlines()
    except OSError:
        return None, None
    wanted = {f"cpu{number}" for number in cpus} if cpus else {"cpu"}
    tick_s = 1.0 / os.sysconf("SC_CLK_TCK")
    busy = stolen = 0.0
    for line in lines:
        name, *ticks = line.split()
        if name in wanted:
            # Interrupts are no process's: what ranks send each other is dealt with in them.
            user, nice, system, _idle, _wait, _irq, _soft_irq, steal = (int(value) for value in ticks[:8])
            busy += (user + nice + system) * tick_s
            stolen += steal * tick_s
    return busy, stolen
