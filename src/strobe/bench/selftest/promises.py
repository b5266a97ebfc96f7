"""The promises, each an experiment: how often something may (or must) happen, and how often it did.

A rate that is promised not to exceed α is refuted when so many cases among so many trials would be seen in fewer than
one of a thousand self-tests at exactly α; likewise for power. So the self-test itself cries wolf seldom.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import msgspec

from strobe.bench import stats
from strobe.bench.compare import Comparison, History, Pair, Pairs, Rule, Side, compare, confirm, pair
from strobe.bench.history import Step, trace
from strobe.bench.latency import at_least, at_most
from strobe.bench.records import Record
from strobe.bench.selftest.machine import MODAL, MOODY, NOISY, QUIET, SHARED, Machine, Noise

RULE = Rule()
#: rows of a simulated comparison; those in turns are as many as the suite has pairs
NUM_ROWS = 8
NUM_PAIRS = 20
_SLOWER = 0.95
_RESAMPLES = 400


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


# --- how a simulated comparison goes


def _speeds(changed: float) -> list[float]:
    """Return the true speeds of side B: one row changed, the others as in A."""
    return [changed, *[1.0] * (NUM_ROWS - 1)]


def first_look(
    noise: Noise, speeds: Sequence[float], repeats: int, num_earlier: int, seed: int, rule: Rule = RULE
) -> Comparison:
    """Compare two sessions, with so many earlier ones of A's commit to know the noise from."""
    return _two_sessions(Machine(noise, seed), speeds, repeats, num_earlier, rule)


def _two_sessions(machine: Machine, speeds: Sequence[float], repeats: int, num_earlier: int, rule: Rule) -> Comparison:
    equal = [1.0] * len(speeds)
    earlier = [r for _ in range(num_earlier) for r in machine.session(equal, repeats=repeats, commit="base")]
    a = machine.session(equal, repeats=repeats, commit="base")
    b = machine.session(speeds, repeats=repeats, commit="head")
    return compare(pair(a, b), history=History([*earlier, *a]), rule=rule)


def look_and_confirm(noise: Noise, speeds: Sequence[float], repeats: int, num_earlier: int, seed: int) -> Comparison:
    """Compare two sessions, and confirm what they left open: all that `compare --confirm` does."""
    machine = Machine(noise, seed)
    first = _two_sessions(machine, speeds, repeats, num_earlier, Rule(num_occasions=2))
    return _confirm(first, machine, speeds)


def confirmed(noise: Noise, speeds: Sequence[float], seed: int) -> Comparison:
    """Confirm a comparison that left everything open, on the same machine."""
    # One repeat a side decides nothing: all rows are measured again, and what is counted is confirm alone.
    machine = Machine(noise, seed)
    return _confirm(_two_sessions(machine, [1.0] * len(speeds), 1, 0, RULE), machine, speeds)


def _confirm(first: Comparison, machine: Machine, speeds: Sequence[float]) -> Comparison:
    machine.begin_session()
    equal = [1.0] * len(speeds)

    def measure(side: Side, row: Record, n: int) -> Record:
        return machine.measure(equal, speeds, side, row)

    return confirm(first, measure)


def in_turns(noise: Noise, speeds: Sequence[float], repeats: int, seed: int) -> Comparison:
    """Compare two implementations of one session."""
    rows = Machine(noise, seed).in_turns([1.0] * len(speeds), speeds, repeats=repeats)
    return compare(Pairs(tuple(Pair(a, b, is_interleaved=True) for a, b in rows)), rule=RULE)


def _is_any_different(found: Comparison) -> bool:
    return any(row.verdict in ("faster", "slower") for row in found.rows)


def _identical_is_called_different(noise: Noise, repeats: int, num_earlier: int, seed: int) -> bool:
    return _is_any_different(first_look(noise, _speeds(1.0), repeats, num_earlier, seed))


def _identical_is_confirmed_different(noise: Noise, seed: int) -> bool:
    return _is_any_different(confirmed(noise, _speeds(1.0), seed))


def _identical_is_different_after_all(noise: Noise, repeats: int, num_earlier: int, seed: int) -> bool:
    return _is_any_different(look_and_confirm(noise, _speeds(1.0), repeats, num_earlier, seed))


def _identical_in_turns_is_different(noise: Noise, repeats: int, seed: int) -> bool:
    return _is_any_different(in_turns(noise, [1.0] * NUM_PAIRS, repeats, seed))


def _bounds_hold(noise: Noise, repeats: int, is_interleaved: bool, seed: int) -> bool:
    """Whether the bounds of one row hold its true speed-up."""
    if is_interleaved:
        (row,) = in_turns(noise, [1.1], repeats, seed).rows
    else:
        (row,) = first_look(noise, [1.1], repeats, 0, seed).rows
    found = row.estimate
    assert found is not None
    return found.low is not None and found.high is not None and found.low <= 1.1 <= found.high


def _bootstrap_bounds_hold(noise: Noise, repeats: int, seed: int) -> bool:
    """Whether a bootstrap over pairs, which is not what we use, would hold the true speed-up of a row."""
    ((a, b),) = Machine(noise, seed).in_turns([1.0], [1.1], repeats=repeats)
    ratios = [y / x for x, y in zip(a.samples, b.samples, strict=True)]
    rng = random.Random(seed)
    medians = sorted(stats.median(rng.choices(ratios, k=repeats)) for _ in range(_RESAMPLES))
    tail = round((1 - RULE.confidence) / 2 * _RESAMPLES)
    return medians[tail] <= 1.1 <= medians[-1 - tail]


def _verdict_of_change(noise: Noise, speed: float, wanted: str, seed: int) -> bool:
    return confirmed(noise, [speed], seed).rows[0].verdict == wanted


def _slow_row_among_others_is_found(noise: Noise, seed: int) -> bool:
    return confirmed(noise, _speeds(_SLOWER), seed).rows[0].verdict == "slower"


def _twice_is_found_with_three_repeats(noise: Noise, seed: int) -> bool:
    return first_look(noise, [2.0], 3, 0, seed).rows[0].verdict == "faster"


def _half_more_is_found_in_three_turns(noise: Noise, seed: int) -> bool:
    return in_turns(noise, [1.5], 3, seed).rows[0].verdict == "faster"


def _steps(noise: Noise, speeds: Sequence[float], seed: int) -> tuple[Step, ...]:
    machine = Machine(noise, seed)
    sessions = [record for speed in speeds for record in machine.session([speed], repeats=5)]
    (series,) = trace([msgspec.structs.replace(one, id=f"{number:04}") for number, one in enumerate(sessions)])
    return series.steps


def _slower_rows(noise: Noise, before: int, after: int, speed: float, seed: int) -> list[bool]:
    """Return which of the rows the history calls slower than at their best, after the first of them changed."""
    machine = Machine(noise, seed)
    sessions = [
        machine.session(_speeds(1.0 if number < before else speed), repeats=5) for number in range(before + after)
    ]
    numbered = [msgspec.structs.replace(one, id=f"{number:04}") for number, rows in enumerate(sessions) for one in rows]
    return [series.is_worse for series in trace(numbered)]


def _steady_history_has_a_loss(noise: Noise, num_sessions: int, seed: int) -> bool:
    return any(_slower_rows(noise, num_sessions, 0, 1.0, seed))


def _loss_of_a_row_is_found(noise: Noise, before: int, after: int, speed: float, seed: int) -> bool:
    return _slower_rows(noise, before, after, speed, seed)[0]


def _steady_history_has_a_step(noise: Noise, seed: int) -> bool:
    return bool(_steps(noise, [1.0] * 30, seed))


def _step_of_the_history_is_found(noise: Noise, seed: int) -> bool:
    steps = _steps(noise, [*[1.0] * 20, *[_SLOWER] * 20], seed)
    return any(abs(step.index - 20) <= 4 and step.change < 0 for step in steps)


EXPERIMENTS: tuple[Experiment, ...] = (
    at_most_in(
        RULE.alpha,
        f"identical code, two sessions on a shared machine, no history: any of {NUM_ROWS} rows called different",
        partial(_identical_is_called_different, SHARED, 10, 0),
    ),
    at_most_in(
        RULE.alpha,
        f"identical code, two sessions on a shared machine with a history: any of {NUM_ROWS} rows called different",
        partial(_identical_is_called_different, SHARED, 10, 8),
    ),
    at_most_in(
        RULE.alpha,
        f"identical code, three repeats a side: any of {NUM_ROWS} rows called different",
        partial(_identical_is_called_different, SHARED, 3, 0),
    ),
    *(
        at_most_in(
            RULE.alpha,
            f"identical code, sessions that differ by 10 %, {repeats} repeats, no history: any of {NUM_ROWS} rows "
            "called different",
            partial(_identical_is_called_different, MOODY, repeats, 0),
        )
        for repeats in (3, 10)
    ),
    *(
        at_most_in(
            RULE.alpha,
            f"identical code in turns, processes in two modes 10 % apart, {repeats} pairs: any of {NUM_PAIRS} rows "
            "called different",
            partial(_identical_in_turns_is_different, MODAL, repeats),
        )
        for repeats in (2, 3, 5, 10)
    ),
    at_most_in(
        RULE.alpha,
        f"identical code in turns on a noisy machine, 3 pairs: any of {NUM_PAIRS} rows called different",
        partial(_identical_in_turns_is_different, NOISY, 3),
    ),
    at_most_in(
        RULE.alpha,
        f"identical code, --confirm on a shared machine: any of {NUM_ROWS} rows called different",
        partial(_identical_is_confirmed_different, SHARED),
    ),
    at_most_in(
        RULE.alpha,
        f"identical code, first look with a history and --confirm together, shared machine: any of {NUM_ROWS} rows "
        "called different",
        partial(_identical_is_different_after_all, SHARED, 10, 8),
    ),
    at_most_in(
        RULE.alpha,
        f"identical code, first look and --confirm together, sessions that differ by 10 %: any of {NUM_ROWS} rows "
        "called different",
        partial(_identical_is_different_after_all, MOODY, 3, 0),
    ),
    at_most_in(
        RULE.alpha,
        f"identical code, --confirm on a noisy machine: any of {NUM_ROWS} rows called different",
        partial(_identical_is_confirmed_different, NOISY),
    ),
    at_least_in(
        0.90,
        "a 5 % slow-down on a shared machine is found by --confirm",
        partial(_verdict_of_change, SHARED, _SLOWER, "slower"),
    ),
    at_least_in(
        0.80,
        f"a 5 % slow-down of one of {NUM_ROWS} rows on a shared machine is found by --confirm",
        partial(_slow_row_among_others_is_found, SHARED),
    ),
    at_most_in(
        RULE.alpha,
        "a 5 % slow-down is confirmed as the same",
        partial(_verdict_of_change, SHARED, _SLOWER, "same"),
    ),
    at_least_in(
        0.90,
        "identical code on a quiet machine is confirmed as the same",
        partial(_verdict_of_change, QUIET, 1.0, "same"),
    ),
    at_least_in(
        0.90,
        "a 5 % slow-down on a noisy machine stays inconclusive",
        partial(_verdict_of_change, NOISY, _SLOWER, "inconclusive"),
    ),
    at_least_in(
        0.75,
        "a factor of two on a shared machine is found with three repeats a side",
        partial(_twice_is_found_with_three_repeats, SHARED),
    ),
    at_least_in(
        0.75,
        "a factor of 1.5 in turns on a shared machine is found with three pairs",
        partial(_half_more_is_found_in_three_turns, SHARED),
    ),
    *(
        at_least_in(
            RULE.confidence,
            f"the bounds of {repeats} {where} hold the truth",
            partial(_bounds_hold, noise, repeats, is_interleaved),
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
            partial(_bootstrap_bounds_hold, SHARED, repeats),
        )
        for repeats in (2, 3)
    ),
    at_most_in(
        0.05,
        "a history of 30 sessions of unchanged speed on a shared machine shows a step",
        partial(_steady_history_has_a_step, SHARED),
    ),
    at_least_in(
        0.90,
        "a 5 % slow-down in the middle of 40 sessions on a shared machine is found, to within 4 sessions",
        partial(_step_of_the_history_is_found, SHARED),
    ),
    *(
        at_most_in(
            0.05,
            f"a history of {num_sessions} sessions of unchanged speed on a shared machine: any of {NUM_ROWS} rows "
            "called slower than at its best",
            partial(_steady_history_has_a_loss, SHARED, num_sessions),
        )
        for num_sessions in (8, 12, 30)
    ),
    at_least_in(
        0.90,
        f"a loss of 20 % of one of {NUM_ROWS} rows on a shared machine is seen after three of 12 sessions",
        partial(_loss_of_a_row_is_found, SHARED, 9, 3, 0.8),
    ),
    at_least_in(
        0.90,
        f"a loss of 5 % of one of {NUM_ROWS} rows on a shared machine is seen in the middle of 40 sessions",
        partial(_loss_of_a_row_is_found, SHARED, 20, 20, _SLOWER),
    ),
)
