"""Serving-like inference: queries arrive at random, and the question is how many a second are served in time.

Arrivals are a Poisson process; waiting queries go together into the next step, up to its batch. The clock is virtual:
`serve` does a real step and says how long it took, waiting for the next arrival costs nothing. So the measurement knows
neither the model nor the wall clock, and a trial lasts only as long as its steps. The best rate is searched by
bisection with the same arrivals, merely closer together, and then has to hold for arrivals it has not seen.

Queries of one step are late together, so they are no independent witnesses: a trial is sized and judged in units of its
largest step (`_Tally`). And a rate that full steps back to back do not reach is missed, however far the limit still is.
"""

from __future__ import annotations

import itertools
import math
import random
from array import array
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import msgspec

from strobe.bench import latency
from strobe.bench.records import Latency
from strobe.bench.spec import Latency as Limit

#: does one step for so many queries, and returns the seconds it took
Serve = Callable[[int], float]

#: a trial has so many times the steps that a perfect one needs, so that a few late ones do not end it undecided
_SLACK = 4
#: a trial whose steps are mostly far smaller than its largest ends after so many times its steps, with fewer units
_MAX_STRETCH = 4
#: of a step no more waits are kept for the percentiles: a trial at a batch of 2,048 has millions
_KEPT_PER_STEP = 64
_MAX_TRIALS = 24
#: how close to each other a rate that is met and one that is missed have to be
_PRECISION = 0.05


@dataclass(frozen=True, slots=True)
class Trial:
    """What happened to the queries that came at one rate."""

    qps: float
    judged: Latency
    #: queries per step, on average
    mean_batch: float
    #: whether it was ended early, because the limit could no longer be met
    is_cut: bool = False


@dataclass(frozen=True, slots=True)
class Serving:
    """The best rate within the limit, and all that was tried; `best` is None when no rate is."""

    limit: Limit
    batch_size: int
    best: Trial | None
    trials: tuple[Trial, ...]
    #: whether time was up before the search was done: `best` is then the best so far, which had not to win once more
    is_cut: bool = False


def arrivals(qps: float, seed: int) -> Iterator[float]:
    """Yield when queries arrive, in seconds: gaps of exponential length. A seed gives one pattern at every rate."""
    if qps <= 0:
        raise ValueError(f"queries per second must be positive, got {qps}")
    rng = random.Random(seed)
    now = 0.0
    while True:
        now += rng.expovariate(1.0)
        yield now / qps


def steps_per_trial(limit: Limit) -> int:
    """Return how many steps a trial has, if all are as large as its largest; it has more if they are not."""
    return _SLACK * latency.steps_needed(0, limit.percentile / 100)


class _Tally:
    """What became of the queries so far, and whether there are enough of them.

    The limit is about queries: a step with 60 of them matters 60 times as much as one with a single query, and large
    ones are late more often, as there was a queue. So the share of late steps would flatter. But queries that are late
    together, taken as independent, make a trial look surer than it is. Honest is the share of queries in units of the
    largest step: queries and late queries, each over that size. To the rule of `latency` the largest step is then one
    observation, whatever became of it, and smaller ones are less. That a queue makes steps late in a row is not seen.
    """

    def __init__(self, limit: Limit, batch_size: int) -> None:
        self._limit = limit
        self._share = limit.percentile / 100
        self._wanted = steps_per_trial(limit)
        # At most so many may be late; one more and the outcome is settled, which is no peeking at a lucky moment.
        self._allowed = latency.most_over(self._wanted, self._share) or 0
        self._stride = max(1, batch_size // _KEPT_PER_STEP)
        self._waits = array("d")
        self._largest = 1
        self._num_queries = self._num_late = 0
        self.num_steps = 0
        self.busy_s = 0.0

    @property
    def mean_batch(self) -> float:
        return self._num_queries / self.num_steps

    @property
    def is_settled(self) -> bool:
        return self._num_over > self._allowed

    @property
    def is_enough(self) -> bool:
        return self._num_queries >= self._wanted * self._largest or self.num_steps >= _MAX_STRETCH * self._wanted

    @property
    def _num_over(self) -> int:
        return math.ceil(self._num_late / self._largest)

    def add(self, arrived: Sequence[float], step_s: float, now: float) -> None:
        """Count a step that took so long and answers at `now` those who arrived at these times, in order."""
        self.num_steps += 1
        self.busy_s += step_s
        self._waits.extend(now - arrival for arrival in arrived[-self._num_queries % self._stride :: self._stride])
        self._num_queries += len(arrived)
        self._num_late += sum(
            1 for _ in itertools.takewhile(lambda arrival: 1e3 * (now - arrival) > self._limit.limit_ms, arrived)
        )
        self._largest = max(self._largest, len(arrived))

    def judge(self) -> Latency:
        n = self._num_queries // self._largest
        num_over = min(n, self._num_over)
        return msgspec.structs.replace(
            latency.judge(self._waits, self._limit),
            n=n,
            num_over=num_over,
            status=latency.decide(n, num_over, self._share),
        )


def _never() -> bool:
    return False


def try_rate(
    serve: Serve,
    qps: float,
    *,
    batch_size: int,
    limit: Limit,
    seed: int = 0,
    is_over: Callable[[], bool] = _never,
) -> Trial:
    """Serve queries that arrive at a rate and judge how long each had to wait for its answer.

    When time is up, after one step at the least, the queries so far are judged: they were not chosen by how it went.
    """
    coming = arrivals(qps, seed)
    # The last has not arrived yet.
    waiting = deque([next(coming)])
    tally = _Tally(limit, batch_size)
    now = 0.0
    while not (tally.is_enough or tally.is_settled or (tally.num_steps and is_over())):
        now = max(now, waiting[0])
        while waiting[-1] <= now:
            waiting.append(next(coming))
        arrived = [waiting.popleft() for _ in range(min(batch_size, len(waiting) - 1))]
        step_s = serve(len(arrived))
        now += step_s
        tally.add(arrived, step_s, now)
    judged = tally.judge()
    # The queue only grows, at the end of the trial perhaps not yet to the limit: with time every query is late.
    if judged.status == "met" and qps * tally.busy_s >= batch_size * tally.num_steps:
        judged = msgspec.structs.replace(judged, status="missed")
    return Trial(qps, judged, mean_batch=tally.mean_batch, is_cut=not tally.is_enough)


def find_best(
    serve: Serve,
    *,
    batch_size: int,
    step_s: float,
    limit: Limit,
    seed: int = 0,
    is_over: Callable[[], bool] = _never,
) -> Serving:
    """Return the greatest rate whose limit is met, to 5 %, confirmed with arrivals not used in the search.

    It is below what full steps back to back would serve, by the mean step of the trial that confirmed it; `step_s` is
    what such steps were measured to take.
    `is_over` is asked before each step whether time is up; the best rate that was met until then is what is left.
    """
    trials: list[Trial] = []

    def is_met(qps: float, *, seed: int) -> bool:
        trials.append(try_rate(serve, qps, batch_size=batch_size, limit=limit, seed=seed, is_over=is_over))
        return trials[-1].judged.status == "met"

    def serving(best: Trial | None, *, is_cut: bool = False) -> Serving:
        return Serving(limit, batch_size, best, tuple(trials), is_cut)

    if is_over():
        return serving(None, is_cut=True)
    # No rate beyond full steps without a pause is met; those measured may have been slower than the steps of a trial.
    low, high = 0.0, 1.1 * batch_size / step_s
    qps = 0.5 * high
    while len(trials) < _MAX_TRIALS and (high - low > _PRECISION * high) and not is_over():
        if is_met(qps, seed=seed):
            low = qps
        elif qps < 1e-3 / step_s:  # alone on the machine, a thousand steps apart, and still late
            break
        else:
            high = qps
        # Until a rate has been met the answer may be far below: quarter it instead of halving.
        qps = 0.5 * (low + high) if low else 0.25 * high
    # The winner of a search has been lucky; it has to win once more.
    refuted = math.inf
    while low > 0.0 and len(trials) < 2 * _MAX_TRIALS and not is_over():
        if is_met(low, seed=seed + 1 + len(trials)):
            return serving(trials[-1])
        if not is_over():
            refuted, low = low, low * (1.0 - _PRECISION)
    if not is_over():
        return serving(None)
    met = [trial for trial in trials if trial.judged.status == "met" and trial.qps < refuted]
    return serving(max(met, key=lambda trial: trial.qps, default=None), is_cut=True)
