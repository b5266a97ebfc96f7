"""The trials: a simulated comparison or history, and whether something happened in it that is promised (not) to.

What real results go through is called here with those of a simulated machine; how often it may happen is not known.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

import msgspec

from strobe.bench import stats
from strobe.bench.compare import Comparison, History, Pair, Pairs, Rule, Side, compare, confirm, pair
from strobe.bench.history import Step, trace
from strobe.bench.records import Record
from strobe.bench.selftest.machine import Machine, Noise

RULE = Rule()
#: rows of a simulated comparison; those in turns are as many as the suite has pairs
NUM_ROWS = 8
NUM_PAIRS = 20
SLOWER = 0.95
_RESAMPLES = 400


def _speeds(changed: float) -> list[float]:
    """Return the true speeds of side B: one row changed, the others as in A."""
    return [changed, *[1.0] * (NUM_ROWS - 1)]


def first_look(noise: Noise, speeds: Sequence[float], repeats: int, num_earlier: int, seed: int) -> Comparison:
    """Compare two sessions, with so many earlier ones of A's commit to know the noise from."""
    return _two_sessions(Machine(noise, seed), speeds, repeats, num_earlier, RULE)


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


def identical_is_called_different(noise: Noise, repeats: int, num_earlier: int, seed: int) -> bool:
    return _is_any_different(first_look(noise, _speeds(1.0), repeats, num_earlier, seed))


def identical_is_confirmed_different(noise: Noise, seed: int) -> bool:
    return _is_any_different(confirmed(noise, _speeds(1.0), seed))


def identical_is_different_after_all(noise: Noise, repeats: int, num_earlier: int, seed: int) -> bool:
    return _is_any_different(look_and_confirm(noise, _speeds(1.0), repeats, num_earlier, seed))


def identical_in_turns_is_different(noise: Noise, repeats: int, seed: int) -> bool:
    return _is_any_different(in_turns(noise, [1.0] * NUM_PAIRS, repeats, seed))


def bounds_hold(noise: Noise, repeats: int, is_interleaved: bool, seed: int) -> bool:
    """Whether the bounds of one row hold its true speed-up."""
    if is_interleaved:
        (row,) = in_turns(noise, [1.1], repeats, seed).rows
    else:
        (row,) = first_look(noise, [1.1], repeats, 0, seed).rows
    found = row.estimate
    assert found is not None
    return found.low is not None and found.high is not None and found.low <= 1.1 <= found.high


def bootstrap_bounds_hold(noise: Noise, repeats: int, seed: int) -> bool:
    """Whether a bootstrap over pairs, which is not what we use, would hold the true speed-up of a row."""
    ((a, b),) = Machine(noise, seed).in_turns([1.0], [1.1], repeats=repeats)
    ratios = [y / x for x, y in zip(a.samples, b.samples, strict=True)]
    rng = random.Random(seed)
    medians = sorted(stats.median(rng.choices(ratios, k=repeats)) for _ in range(_RESAMPLES))
    tail = round((1 - RULE.confidence) / 2 * _RESAMPLES)
    return medians[tail] <= 1.1 <= medians[-1 - tail]


def verdict_of_change(noise: Noise, speed: float, wanted: str, seed: int) -> bool:
    return confirmed(noise, [speed], seed).rows[0].verdict == wanted


def slow_row_among_others_is_found(noise: Noise, seed: int) -> bool:
    return confirmed(noise, _speeds(SLOWER), seed).rows[0].verdict == "slower"


def twice_is_found_with_three_repeats(noise: Noise, seed: int) -> bool:
    return first_look(noise, [2.0], 3, 0, seed).rows[0].verdict == "faster"


def half_more_is_found_in_three_turns(noise: Noise, seed: int) -> bool:
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
    numbered = [
        msgspec.structs.replace(one, id=f"{number:04}-{place}")
        for number, rows in enumerate(sessions)
        for place, one in enumerate(rows)
    ]
    return [series.is_worse for series in trace(numbered)]


def steady_history_has_a_loss(noise: Noise, num_sessions: int, seed: int) -> bool:
    return any(_slower_rows(noise, num_sessions, 0, 1.0, seed))


def loss_of_a_row_is_found(noise: Noise, before: int, after: int, speed: float, seed: int) -> bool:
    return _slower_rows(noise, before, after, speed, seed)[0]


def steady_history_has_a_step(noise: Noise, seed: int) -> bool:
    return bool(_steps(noise, [1.0] * 30, seed))


def step_of_the_history_is_found(noise: Noise, seed: int) -> bool:
    steps = _steps(noise, [*[1.0] * 20, *[SLOWER] * 20], seed)
    return any(abs(step.index - 20) <= 4 and step.change < 0 for step in steps)
