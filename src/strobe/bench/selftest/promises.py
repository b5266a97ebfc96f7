"""The promises, each an experiment: how often something may (or must) happen, and how often it did.

A rate that is promised not to exceed α is refuted when so many cases among so many trials would be seen in fewer than
one of a thousand self-tests at exactly α; likewise for power. So the self-test itself cries wolf seldom.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from strobe.bench.latency import at_least, at_most
from strobe.bench.selftest import trials
from strobe.bench.selftest.machine import MODAL, MOODY, NOISY, QUIET, SHARED
from strobe.bench.selftest.trials import NUM_PAIRS, NUM_ROWS, RULE, SLOWER


@dataclass(frozen=True, slots=True)
class Promise:
    """A claim about a rate, and what the simulation counted."""

    claim: str
    #: the greatest (or least) share of cases that the claim allows
    rate: float
    is_upper_bound: bool
    num_cases: int
    num_trials: int

    @property
    def seen(self) -> float:
        return self.num_cases / self.num_trials

    @property
    def is_kept(self) -> bool:
        tail = at_least if self.is_upper_bound else at_most
        return tail(self.num_cases, self.num_trials, self.rate) > 1e-3

    def __str__(self) -> str:
        sign = "≤" if self.is_upper_bound else "≥"
        word = "kept" if self.is_kept else "BROKEN"
        return f"{word}: {self.claim}: {self.seen:.1%} of {self.num_trials} (promised {sign} {self.rate:.0%})"


@dataclass(frozen=True, slots=True)
class Experiment:
    """Counts in how many of its trials something happened."""

    claim: str
    rate: float
    is_upper_bound: bool
    #: seed → whether it happened
    trial: Callable[[int], bool]

    def run(self, num_trials: int, seed: int) -> Promise:
        rng = random.Random(f"{self.claim}{seed}")
        num_cases = sum(self.trial(rng.getrandbits(48)) for _ in range(num_trials))
        return Promise(self.claim, self.rate, self.is_upper_bound, num_cases, num_trials)


def at_most_in(rate: float, claim: str, trial: Callable[[int], bool]) -> Experiment:
    return Experiment(claim, rate, True, trial)


def at_least_in(rate: float, claim: str, trial: Callable[[int], bool]) -> Experiment:
    return Experiment(claim, rate, False, trial)


def run(num_trials: int = 400, seed: int = 0) -> Iterator[Promise]:
    """Yield every promise as its experiment ends."""
    for experiment in EXPERIMENTS:
        yield experiment.run(num_trials, seed)


EXPERIMENTS: tuple[Experiment, ...] = (
    at_most_in(
        RULE.alpha,
        f"identical code, two sessions on a shared machine, no history: any of {NUM_ROWS} rows called different",
        partial(trials.identical_is_called_different, SHARED, 10, 0),
    ),
    at_most_in(
        RULE.alpha,
        f"identical code, two sessions on a shared machine with a history: any of {NUM_ROWS} rows called different",
        partial(trials.identical_is_called_different, SHARED, 10, 8),
    ),
    at_most_in(
        RULE.alpha,
        f"identical code, three repeats a side: any of {NUM_ROWS} rows called different",
        partial(trials.identical_is_called_different, SHARED, 3, 0),
    ),
    *(
        at_most_in(
            RULE.alpha,
            f"identical code, sessions that differ by 10 %, {repeats} repeats, no history: any of {NUM_ROWS} rows "
            "called different",
            partial(trials.identical_is_called_different, MOODY, repeats, 0),
        )
        for repeats in (3, 10)
    ),
    *(
        at_most_in(
            RULE.alpha,
            f"identical code in turns, processes in two modes 10 % apart, {repeats} pairs: any of {NUM_PAIRS} rows "
            "called different",
            partial(trials.identical_in_turns_is_different, MODAL, repeats),
        )
        for repeats in (2, 3, 5, 10)
    ),
    at_most_in(
        RULE.alpha,
        f"identical code in turns on a noisy machine, 3 pairs: any of {NUM_PAIRS} rows called different",
        partial(trials.identical_in_turns_is_different, NOISY, 3),
    ),
    at_most_in(
        RULE.alpha,
        f"identical code, --confirm on a shared machine: any of {NUM_ROWS} rows called different",
        partial(trials.identical_is_confirmed_different, SHARED),
    ),
    at_most_in(
        RULE.alpha,
        f"identical code, first look with a history and --confirm together, shared machine: any of {NUM_ROWS} rows "
        "called different",
        partial(trials.identical_is_different_after_all, SHARED, 10, 8),
    ),
    at_most_in(
        RULE.alpha,
        f"identical code, first look and --confirm together, sessions that differ by 10 %: any of {NUM_ROWS} rows "
        "called different",
        partial(trials.identical_is_different_after_all, MOODY, 3, 0),
    ),
    at_most_in(
        RULE.alpha,
        f"identical code, --confirm on a noisy machine: any of {NUM_ROWS} rows called different",
        partial(trials.identical_is_confirmed_different, NOISY),
    ),
    at_least_in(
        0.90,
        "a 5 % slow-down on a shared machine is found by --confirm",
        partial(trials.verdict_of_change, SHARED, SLOWER, "slower"),
    ),
    at_least_in(
        0.80,
        f"a 5 % slow-down of one of {NUM_ROWS} rows on a shared machine is found by --confirm",
        partial(trials.slow_row_among_others_is_found, SHARED),
    ),
    at_most_in(
        RULE.alpha,
        "a 5 % slow-down is confirmed as the same",
        partial(trials.verdict_of_change, SHARED, SLOWER, "same"),
    ),
    at_least_in(
        0.90,
        "identical code on a quiet machine is confirmed as the same",
        partial(trials.verdict_of_change, QUIET, 1.0, "same"),
    ),
    at_least_in(
        0.90,
        "a 5 % slow-down on a noisy machine stays inconclusive",
        partial(trials.verdict_of_change, NOISY, SLOWER, "inconclusive"),
    ),
    at_least_in(
        0.75,
        "a factor of two on a shared machine is found with three repeats a side",
        partial(trials.twice_is_found_with_three_repeats, SHARED),
    ),
    at_least_in(
        0.75,
        "a factor of 1.5 in turns on a shared machine is found with three pairs",
        partial(trials.half_more_is_found_in_three_turns, SHARED),
    ),
    *(
        at_least_in(
            RULE.confidence,
            f"the bounds of {repeats} {where} hold the truth",
            partial(trials.bounds_hold, noise, repeats, is_interleaved),
        )
        for noise, is_interleaved, where in (
            (SHARED, True, "pairs on a shared machine"),
            (MOODY, False, "repeats a side of sessions that differ by 10 %"),
        )
        for repeats in (2, 3, 5, 10)
    ),
    *(
        # Why the bounds are none of a bootstrap: of few repeats it knows no more than the least and the greatest.
        at_most_in(
            0.90,
            f"the bounds of a bootstrap of {repeats} pairs on a shared machine would hold the truth",
            partial(trials.bootstrap_bounds_hold, SHARED, repeats),
        )
        for repeats in (2, 3)
    ),
    at_most_in(
        0.05,
        "a history of 30 sessions of unchanged speed on a shared machine shows a step",
        partial(trials.steady_history_has_a_step, SHARED),
    ),
    at_least_in(
        0.90,
        "a 5 % slow-down in the middle of 40 sessions on a shared machine is found, to within 4 sessions",
        partial(trials.step_of_the_history_is_found, SHARED),
    ),
    *(
        at_most_in(
            0.05,
            f"a history of {num_sessions} sessions of unchanged speed on a shared machine: any of {NUM_ROWS} rows "
            "called slower than at its best",
            partial(trials.steady_history_has_a_loss, SHARED, num_sessions),
        )
        for num_sessions in (8, 12, 30)
    ),
    at_least_in(
        0.90,
        f"a loss of 20 % of one of {NUM_ROWS} rows on a shared machine is seen after three of 12 sessions",
        partial(trials.loss_of_a_row_is_found, SHARED, 9, 3, 0.8),
    ),
    at_least_in(
        0.90,
        f"a loss of 5 % of one of {NUM_ROWS} rows on a shared machine is seen in the middle of 40 sessions",
        partial(trials.loss_of_a_row_is_found, SHARED, 20, 20, SLOWER),
    ),
)
