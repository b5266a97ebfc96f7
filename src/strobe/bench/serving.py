"""Serving-like inference: queries arrive at random, and the question is how many a second are served in time.

Arrivals are a Poisson process; waiting queries go together into the next step, up to its batch. The clock is virtual:
`serve` does a real step and says how long it took, waiting for the next arrival costs nothing. So the measurement knows
neither the model nor the wall clock, and a trial lasts only as long as its steps. The best rate is searched by
bisection with the same arrivals, merely closer together, and then has to hold for arrivals it has not seen.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass

from strobe.bench import latency
from strobe.bench.records import Latency
from strobe.bench.spec import Latency as Limit

#: does one step for so many queries, and returns the seconds it took
Serve = Callable[[int], float]

#: a trial has so many times the queries that a perfect one needs, so that a few late ones do not end it undecided
_SLACK = 4
_MAX_TRIALS = 24


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


def arrival_times(qps: float, num_queries: int, seed: int) -> list[float]:
    """Return when queries arrive, in seconds: gaps of exponential length. A seed gives one pattern at every rate."""
    if qps <= 0:
        raise ValueError(f"queries per second must be positive, got {qps}")
    rng = random.Random(seed)
    now, times = 0.0, []
    for _ in range(num_queries):
        now += rng.expovariate(1.0)
        times.append(now / qps)
    return times


def queries_per_trial(limit: Limit) -> int:
    """Return how many queries a trial has."""
    return _SLACK * latency.steps_needed(0, limit.percentile / 100)


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
    arrivals = arrival_times(qps, queries_per_trial(limit), seed)
    # At most so many may be late; one more and the outcome is settled, which is no peeking at a lucky moment.
    allowed = latency.most_over(len(arrivals), limit.percentile / 100) or 0
    waits: list[float] = []
    num_over = num_steps = 0
    now = 0.0
    while len(waits) < len(arrivals) and num_over <= allowed and not (waits and is_over()):
        first = len(waits)
        now = max(now, arrivals[first])
        last = first
        while last < len(arrivals) and last - first < batch_size and arrivals[last] <= now:
            last += 1
        now += serve(last - first)
        num_steps += 1
        for arrival in arrivals[first:last]:
            waits.append(now - arrival)
            num_over += 1e3 * waits[-1] > limit.limit_ms
    is_cut = len(waits) < len(arrivals)
    return Trial(qps, latency.judge(waits, limit), mean_batch=len(waits) / num_steps, is_cut=is_cut)


def find_best(
    serve: Serve,
    *,
    batch_size: int,
    limit: Limit,
    precision: float = 0.05,
    seed: int = 0,
    probes: int = 3,
    is_over: Callable[[], bool] = _never,
) -> Serving:
    """Return the greatest rate whose limit is met, to `precision`, confirmed with arrivals not used in the search.

    `is_over` is asked before each step whether time is up; the best rate that was met until then is what is left.
    """
    step_times = [serve(batch_size) for _ in range(probes) if not is_over()]
    trials: list[Trial] = []

    def is_met(qps: float, *, seed: int) -> bool:
        trials.append(try_rate(serve, qps, batch_size=batch_size, limit=limit, seed=seed, is_over=is_over))
        return trials[-1].judged.status == "met"

    def serving(best: Trial | None, *, is_cut: bool = False) -> Serving:
        return Serving(limit, batch_size, best, tuple(trials), is_cut)

    if is_over():
        return serving(None, is_cut=True)
    step_s = sorted(step_times)[len(step_times) // 2]
    # Faster than full batches without a pause no queue lasts; a pause of jitter is given on top.
    low, high = 0.0, 1.1 * batch_size / step_s
    qps = 0.5 * high
    while len(trials) < _MAX_TRIALS and (high - low > precision * high) and not is_over():
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
            refuted, low = low, low * (1.0 - precision)
    if not is_over():
        return serving(None)
    met = [trial for trial in trials if trial.judged.status == "met" and trial.qps < refuted]
    return serving(max(met, key=lambda trial: trial.qps, default=None), is_cut=True)
