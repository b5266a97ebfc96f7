"""A machine that does not exist, with the noise of one that does: for experiments whose truth is known.

The time of a process is its true time, times: a state that each session begins with, a slow drift (an AR(1) process
that goes on from process to process), the jitter of each process, one of two modes that it may begin in, and now and
then a neighbour that takes the cores away (a one-sided, heavy tail). These are the kinds of noise that break textbook
tests: nothing here is normal, and neighbours in time resemble each other.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from strobe.bench.compare import Side
from strobe.bench.records import THROUGHPUT, Environment, Record, make_id


@dataclass(frozen=True, slots=True)
class Noise:
    """Standard deviations of the logarithm of time, and how often a neighbour disturbs."""

    session: float
    drift: float
    jitter: float
    disturbed: float
    #: what a disturbance costs: 1 + cost * (Pareto with tail 2.5), relative
    cost: float
    #: how far the two modes lie apart, in either of which a process may begin: where its memory lies, which core it got
    modes: float = 0.0


#: a machine of one's own
QUIET = Noise(session=0.003, drift=0.003, jitter=0.006, disturbed=0.03, cost=0.05)
#: two virtual cores, with neighbours: what the suite's own figures come from
SHARED = Noise(session=0.012, drift=0.015, jitter=0.02, disturbed=0.10, cost=0.10)
#: nobody should measure here
NOISY = Noise(session=0.10, drift=0.15, jitter=0.20, disturbed=0.30, cost=0.60)
#: quiet within a session, another machine in the next: what makes two sessions look different with great certainty
MOODY = Noise(session=0.10, drift=0.0, jitter=0.01, disturbed=0.0, cost=0.0)
#: processes begin in one of two modes, and are quiet otherwise: what makes a few pairs look alike
MODAL = Noise(session=0.003, drift=0.003, jitter=0.002, disturbed=0.0, cost=0.0, modes=0.10)

#: how much of the drift stays from one process to the next
_MEMORY = 0.95
HARDWARE = {"cpu": "simulated"}


class Machine:
    """Measures benchmarks whose true speed is given; the state of the machine goes on from one to the next."""

    def __init__(self, noise: Noise, seed: int) -> None:
        self._noise = noise
        self._rng = random.Random(seed)
        self._drift = self._rng.gauss(0, noise.drift)
        self._session: dict[str, float] = {}

    def begin_session(self) -> None:
        """Come back another day: nothing of the machine's state is as it was."""
        self._session.clear()
        self._drift = self._rng.gauss(0, self._noise.drift)

    def score(self, name: str, speed: float) -> float:
        """Return the examples per second that one process shows."""
        noise, rng = self._noise, self._rng
        step = noise.drift * math.sqrt(1 - _MEMORY**2)
        self._drift = _MEMORY * self._drift + rng.gauss(0, step)
        state = self._session.setdefault(name, rng.gauss(0, noise.session))
        log_time = state + self._drift + rng.gauss(0, noise.jitter) + noise.modes * (rng.random() < 0.5)
        if rng.random() < noise.disturbed:
            log_time += math.log1p(noise.cost * rng.paretovariate(2.5))
        return 100.0 * speed * math.exp(-log_time)

    def session(self, speeds: Sequence[float], *, repeats: int, commit: str = "") -> list[Record]:
        """Return a session: each benchmark in `repeats` processes, rounds over all, as the runner does it."""
        self.begin_session()
        scores: list[list[float]] = [[] for _ in speeds]
        for _ in range(repeats):
            for number, speed in enumerate(speeds):
                scores[number].append(self.score(str(number), speed))
        return [_record(number, samples, commit) for number, samples in enumerate(scores)]

    def in_turns(
        self, speeds_of_a: Sequence[float], speeds_of_b: Sequence[float], *, repeats: int
    ) -> list[tuple[Record, Record]]:
        """Return a session in which each benchmark of A is followed by that of B, as `--pairs` does it."""
        self.begin_session()
        rows = list(enumerate(zip(speeds_of_a, speeds_of_b, strict=True)))
        scores: list[tuple[list[float], list[float]]] = [([], []) for _ in rows]
        for _ in range(repeats):
            for number, speeds in rows:
                for side, speed in enumerate(speeds):
                    scores[number][side].append(self.score(str(number), speed))
        return [(_record(number, a, ""), _record(number, b, "")) for number, (a, b) in enumerate(scores)]

    def measure(self, speeds_of_a: Sequence[float], speeds_of_b: Sequence[float], side: Side, row: Record) -> Record:
        """Measure one process of a side, for `confirm`; both sides of a benchmark share the session's state."""
        number = int(row.benchmark.rsplit("/", 1)[-1])
        speed = (speeds_of_a if side == "A" else speeds_of_b)[number]
        return msgspec.structs.replace(row, samples=(self.score(str(number), speed),))


def _record(number: int, samples: Sequence[float], commit: str) -> Record:
    return Record(
        id=make_id(),
        benchmark=f"simulated/ootb/inference/{number}",
        subject="OOTB",
        metric=THROUGHPUT,
        unit="ex/s",
        better="more",
        version=1,
        batch_size=1,
        samples=tuple(samples),
        environment=Environment(hardware=HARDWARE, git_commit=commit),
    )
