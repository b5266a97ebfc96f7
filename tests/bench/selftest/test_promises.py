"""The statistics keep what they promise, on a simulated machine with realistic noise."""

from __future__ import annotations

import itertools

import pytest

from strobe.bench.selftest.machine import SHARED, Machine
from strobe.bench.selftest.promises import EXPERIMENTS, Experiment, Promise

#: with so many trials a rate of 5 % is refuted by one of about 15 %, a power of 90 % by one of about 78 %
TRIALS = 80


@pytest.mark.slow
@pytest.mark.parametrize("experiment", EXPERIMENTS, ids=lambda experiment: experiment.claim)
def test_promise_is_kept(experiment: Experiment) -> None:
    promise = experiment.run(TRIALS, seed=1)
    assert promise.is_kept, str(promise)


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.parametrize("experiment", EXPERIMENTS, ids=lambda experiment: experiment.claim)
def test_promise_is_kept_in_a_thousand_trials(experiment: Experiment) -> None:
    promise = experiment.run(1000, seed=2)
    assert promise.is_kept, str(promise)


def test_a_promise_can_be_broken() -> None:
    assert not Promise("too often", 0.05, is_upper_bound=True, num_cases=20, num_trials=100).is_kept
    assert not Promise("too seldom", 0.9, is_upper_bound=False, num_cases=70, num_trials=100).is_kept
    assert Promise("by chance", 0.05, is_upper_bound=True, num_cases=9, num_trials=100).is_kept


def test_the_noise_is_what_it_says_it_is() -> None:
    """Heavy-tailed, autocorrelated, and different from session to session: what breaks textbook tests."""
    machine = Machine(SHARED, seed=3)
    scores = [machine.score("one", 1.0) for _ in range(4000)]
    slow = [100 / score - 1 for score in scores]
    middle = sorted(slow)[len(slow) // 2]
    # The slow tail is several times as long as the fast one.
    assert max(slow) - middle > 4 * (middle - min(slow))
    mean = sum(slow) / len(slow)
    calm = [min(value, 0.1) - mean for value in slow]
    together = sum(x * y for x, y in itertools.pairwise(calm)) / sum(x * x for x in calm)
    assert together > 0.1
