"""Verdicts: what it takes to be called faster, and what may never be."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from typing import Any

import msgspec
import pytest

from strobe.bench.compare import (
    Comparison,
    History,
    Pair,
    Pairs,
    Rule,
    compare,
    pair,
    pair_implementations,
    report,
)
from strobe.bench.compare.estimate import estimate
from strobe.bench.compare.verdict import DEFAULT
from strobe.bench.records import Record, Repeat
from tests.bench.results import HERE, latency, result, wrong


def _around(middle: float, n: int, spread: float = 0.005, seed: int = 1) -> list[float]:
    rng = random.Random(seed)
    return [middle * math.exp(rng.gauss(0, spread)) for _ in range(n)]


def _sessions(middle: float, n: int, spread: float = 0.002) -> list[Record]:
    return [result(_around(middle * math.exp(random.Random(i).gauss(0, spread)), 5, seed=i)) for i in range(n)]


def _verdict(a: Sequence[float], b: Sequence[float], history: History | None = None, **fields: Any) -> str:
    return compare(pair([result(a)], [result(b, **fields)]), history=history).rows[0].verdict


def test_without_a_history_two_sessions_show_only_what_is_large() -> None:
    base = _around(100, 10)
    assert _verdict(base, _around(150, 10, seed=2)) == "faster"
    assert _verdict(base, _around(60, 10, seed=2)) == "slower"
    assert _verdict(base, _around(105, 10, seed=2)) == "inconclusive"
    assert _verdict(base, _around(100, 10, seed=2)) == "inconclusive"


def test_a_history_of_quiet_sessions_decides_small_differences() -> None:
    history = History(_sessions(100, 9))
    base = _around(100, 10)
    assert _verdict(base, _around(105, 10, seed=2), history) == "faster"
    assert _verdict(base, _around(100, 10, seed=2), history) == "same"


def test_a_history_of_wild_sessions_does_not() -> None:
    history = History(_sessions(100, 9, spread=0.05))
    base = _around(100, 10)
    assert _verdict(base, _around(105, 10, seed=2), history) == "inconclusive"
    row = compare(pair([result(base)], [result(_around(105, 10))]), history=history).rows[0]
    assert row.floor.source == "history"
    assert row.floor.value > 0.08


def test_uncommitted_code_is_no_history() -> None:
    dirty = msgspec.structs.replace(HERE, is_dirty=True)
    sessions = [msgspec.structs.replace(record, environment=dirty) for record in _sessions(100, 9)]
    row = compare(pair([result(_around(100, 5))], [result(_around(100, 5))]), history=History(sessions)).rows[0]
    assert row.floor.source == "assumed"


def test_few_repeats_decide_only_what_is_large() -> None:
    assert _verdict([100, 101, 102], [300, 301, 299]) == "faster"
    assert _verdict([100, 101, 102], [115, 116, 117]) == "inconclusive"
    assert _verdict([100, 160, 102], [150, 300, 170]) == "inconclusive"


def test_one_repeat_decides_nothing_and_has_no_bounds() -> None:
    found = compare(pair([result([100])], [result([300])]))
    (row,) = found.rows
    assert (row.verdict, row.reason) == ("inconclusive", "one repeat has no bounds")
    assert row.estimate is not None
    assert row.estimate.value == pytest.approx(3.0)
    assert (row.estimate.low, row.estimate.high) == (None, None)
    assert found.geomean is not None
    assert found.geomean.value == pytest.approx(3.0)
    assert found.geomean.low is None


def test_few_pairs_may_all_be_lucky() -> None:
    """A process may begin in one of two modes 10 % apart; three pairs that all say so prove nothing."""
    a, b = result([100.0, 100.1, 99.9]), result([110.0, 110.1, 109.9])
    (row,) = _interleaved(Pair(a, b)).rows
    assert (row.verdict, row.floor.source) == ("inconclusive", "few")
    assert row.reason.startswith("within the noise floor of 25 %")
    assert _interleaved(Pair(a, result([160.0, 160.1, 159.9]))).rows[0].verdict == "faster"


def test_an_inconclusive_row_says_why() -> None:
    def reason(a: list[float], b: list[float], **how: bool) -> str:
        return compare(Pairs((Pair(result(a), result(b), **how),))).rows[0].reason

    base = _around(100, 10)
    assert reason(base, _around(110, 10)) == (
        "within the noise floor of 33 % (assumed, since no history of one commit is known: sessions scatter by 10 %)"
    )
    assert reason(base, _around(101, 10)).startswith("a noise floor of 33 % hides it")
    wild = [100 * math.exp(0.1 * (-1) ** number) for number in range(10)]
    assert "too wide" in reason(wild, [*wild[1:], wild[0]], is_interleaved=True)
    assert reason(_around(100, 10, 0.5), _around(120, 10, 0.5, seed=3), is_interleaved=True).startswith("p is ")


def test_less_is_better_turns_the_ratio_round() -> None:
    a = result(_around(1.0, 10), better="less", unit="s")
    b = result(_around(2.0, 10, seed=2), better="less", unit="s")
    row = compare(pair([a], [b])).rows[0]
    assert row.verdict == "slower"
    assert row.estimate is not None
    assert row.estimate.value == pytest.approx(0.5, rel=0.02)


def test_an_incorrect_row_is_never_called_faster() -> None:
    fast = result(_around(500, 10), correctness=wrong())
    found = compare(pair([result(_around(100, 10))], [fast]))
    assert found.rows[0].verdict == "incorrect"
    assert "B is incorrect: error 0.5, tolerance 0.001" in found.rows[0].notes
    assert found.geomean is None
    assert found.is_worse


def test_nan_as_an_error_is_said() -> None:
    found = compare(pair([result([1.0])], [result([1.0], correctness=wrong(None))]))
    assert "B is incorrect: error not a number" in found.rows[0].notes


def test_what_was_broken_before_is_not_b_s_fault() -> None:
    before, after = (result(_around(100, 10), correctness=wrong()) for _ in "ab")
    assert not compare(pair([before], [after])).is_worse


def test_a_failed_row_says_so_and_fails_the_gate() -> None:
    found = compare(pair([result(_around(100, 10))], [result([], error="out of memory\nlast\nwords")]))
    assert found.rows[0].verdict == "failed"
    assert found.rows[0].notes == ("B failed: out of memory",)  # and not the process's last lines
    assert found.is_worse


ABSENT = "not on this machine: needs a card with tf32"


def test_rows_that_neither_side_could_measure_are_not_failures() -> None:
    names = [f"toy/ootb/inference/{number}-tf32" for number in range(12)]
    sides = [[result(_around(speed, 10)), *(result([], name, error=ABSENT) for name in names)] for speed in (1, 2)]
    found = compare(pair(*sides))
    assert found.counts == {"faster": 1}
    assert [one.reason for one in found.left_out] == [ABSENT] * 12
    assert not found.is_open
    assert not found.is_worse
    comment = report.markdown(found)
    assert "failed" not in comment
    assert f"Left out by both sides: 12 rows, such as `{names[0]} B=8` ({ABSENT})" in comment


def test_a_row_that_only_b_could_not_measure_is_missing() -> None:
    found = compare(pair([result([1.0])], [result([], error=ABSENT)]))
    assert [one.reason for one in found.missing] == [f"in B {ABSENT}"]
    assert (found.rows, found.is_open, found.is_worse) == ((), True, False)


def test_a_row_that_only_a_could_not_measure_is_new() -> None:
    found = compare(pair([result([], error=ABSENT)], [result([1.0])]))
    assert [one.reason for one in found.left_out] == [f"in A {ABSENT}"]
    assert not found.is_open


def test_a_row_that_a_could_not_measure_is_not_missed_in_b() -> None:
    found = compare(
        pair([result([], error=ABSENT), result([1.0], "toy/ootb/x/one")], [result([1.0], "toy/ootb/x/one")])
    )
    assert found.missing == ()


def test_implementations_that_are_not_on_this_machine_are_no_failures() -> None:
    rows = [result([], f"toy/{name}/inference/one-tf32", error=ABSENT) for name in ("ootb", "optimized")]
    found = compare(pair_implementations(rows))
    assert (found.rows, found.is_open) == ((), False)
    assert [one.reason for one in found.left_out] == [ABSENT]


def test_what_can_no_longer_be_measured_again_is_open_and_not_worse() -> None:
    found = compare(Pairs((Pair(result([1.0]), result([], error=ABSENT), is_interleaved=True),)))
    assert (found.rows[0].verdict, found.rows[0].notes) == ("inconclusive", (f"in B {ABSENT}",))
    assert (found.is_open, found.is_worse) == (True, False)


def test_latency_that_is_now_missed_fails_the_gate_whatever_the_throughput() -> None:
    a = result(_around(100, 10), latency=latency("met"))
    found = compare(pair([a], [result(_around(200, 10), latency=latency("missed"))]))
    assert found.rows[0].verdict == "faster"
    assert found.rows[0].notes == ("p95 now misses 100 ms",)
    assert found.is_worse


def test_latency_that_a_may_have_missed_too_is_not_b_s_fault() -> None:
    a = result(_around(100, 10), latency=latency("undecided"))
    assert not compare(pair([a], [result(_around(200, 10), latency=latency("missed"))])).is_worse


def test_noise_that_the_runner_saw_is_passed_on() -> None:
    repeat = Repeat(wall_s=(0.1,), cpu_s=(0.1,), noisy=("steal 12 %",))
    found = compare(pair([result([1.0], repeats=(repeat, repeat))], [result([1.0])]))
    assert found.rows[0].notes == ("A was noisy: steal 12 %",)


def _busy(n: int, num_disturbed: int, reason: str = "other processes used 50 % of the CPUs") -> tuple[Repeat, ...]:
    return tuple(
        Repeat(wall_s=(0.1,), cpu_s=(0.1,), noisy=(reason,) if number < num_disturbed else ()) for number in range(n)
    )


@pytest.mark.parametrize("reason", ["other processes used 50 % of the CPUs", "steal 12 %"])
@pytest.mark.parametrize("side", ["A", "B"])
def test_a_session_beside_other_processes_is_not_called_slower(side: str, reason: str) -> None:
    samples, doubtful = _around(100, 10), _busy(10, 6, reason)
    a = result(samples, repeats=doubtful if side == "A" else _busy(10, 0))
    b = result(_around(0.3, 10, seed=2), repeats=doubtful if side == "B" else _busy(10, 5))
    found = compare(pair([a], [b]))
    assert found.rows[0].verdict == "inconclusive"
    assert found.rows[0].reason == f"others used the CPUs in most repeats of {side}"
    assert found.undecided == found.rows  # and so `--confirm` measures it again
    assert (found.is_open, found.is_worse) == (True, False)


def test_a_session_that_was_mostly_left_alone_is_judged() -> None:
    a = result(_around(100, 10), repeats=_busy(10, 5))
    assert compare(pair([a], [result(_around(30, 10, seed=2))])).rows[0].verdict == "slower"
    doubtful = _busy(10, 10, "steps vary by 12 %")  # their spread speaks for itself
    assert compare(pair([a], [result(_around(30, 10, seed=2), repeats=doubtful)])).rows[0].verdict == "slower"


def test_turns_beside_other_processes_are_judged_all_the_same() -> None:
    a, b = (result(_around(speed, 10), repeats=_busy(10, 10)) for speed in (100, 50))
    assert _interleaved(Pair(a, b)).rows[0].verdict == "slower"


def test_a_limit_that_is_missed_beside_other_processes_is_not_b_s_fault() -> None:
    a = result(_around(100, 10), latency=latency("met"))
    b = result(_around(100, 10), latency=latency("missed"), repeats=_busy(10, 10))
    assert not compare(pair([a], [b])).is_worse


def test_many_reasons_of_noise_are_counted() -> None:
    repeats = [Repeat(wall_s=(0.1,), cpu_s=(0.1,), noisy=(f"steal {n} %",)) for n in range(5)]
    found = compare(pair([result([1.0])], [result([1.0], repeats=tuple(repeats))]))
    assert found.rows[0].notes == ("B was noisy: steal 0 to 4 %",)


def test_zero_is_no_speed() -> None:
    row = compare(pair([result([0.0, 1.0])], [result([1.0, 1.0])])).rows[0]
    assert row.verdict == "inconclusive"
    assert "cannot tell: a ratio needs positive samples, there is 0" in row.notes


def _interleaved(*pairs: Pair, rule: Rule = DEFAULT) -> Comparison:
    return compare(Pairs(tuple(Pair(one.a, one.b, is_interleaved=True) for one in pairs)), rule=rule)


def _rows(factor: float, num: int) -> Comparison:
    pairs = [
        Pair(
            result(_around(100, 10, seed=n), f"toy/ootb/x/{n}"),
            result(_around(100 * factor, 10, seed=99 + n), f"toy/ootb/x/{n}"),
        )
        for n in range(num)
    ]
    return _interleaved(*pairs)


def test_more_rows_need_more_evidence() -> None:
    assert _rows(1.05, 5).counts == {"faster": 5}
    # ten pairs give p = 0.002 at best, which a hundred rows turn into 0.2
    assert set(_rows(1.05, 100).counts) == {"inconclusive"}


def test_pairs_that_drift_together_are_told_apart_where_sessions_are_not() -> None:
    drift = [math.exp(0.3 * math.sin(i)) for i in range(12)]
    a = result([100 * d for d in drift])
    b = result([106 * d * math.exp(random.Random(i).gauss(0, 0.002)) for i, d in enumerate(drift)])
    assert compare(pair([a], [b])).rows[0].verdict == "inconclusive"
    assert _interleaved(Pair(a, b)).rows[0].verdict == "faster"


def test_the_geometric_mean_has_bounds_that_shrink_with_rows() -> None:
    few, many = _rows(1.05, 2).geomean, _rows(1.05, 30).geomean
    assert few is not None
    assert many is not None
    assert many.value == pytest.approx(1.05, abs=0.005)
    assert many.low is not None
    assert many.high is not None
    assert many.low <= many.value <= many.high
    assert few.low is not None
    assert few.high is not None
    assert many.high - many.low < 0.5 * (few.high - few.low)


def test_the_same_records_give_the_same_answer() -> None:
    first, second = _rows(1.01, 3), _rows(1.01, 3)
    assert [row.estimate and (row.estimate.low, row.estimate.high) for row in first.rows] == [
        row.estimate and (row.estimate.low, row.estimate.high) for row in second.rows
    ]


@pytest.mark.parametrize("is_interleaved", [True, False])
@pytest.mark.parametrize("n", [2, 3, 5, 10])
def test_bounds_hold_the_truth_as_often_as_they_say(n: int, is_interleaved: bool) -> None:
    rng = random.Random(n)

    def time() -> float:
        """A neighbour disturbs one of ten processes, some of them much."""
        disturbed = 0.1 * rng.paretovariate(2.5) if rng.random() < 0.1 else 0.0
        return math.exp(rng.gauss(0, 0.02)) * (1 + disturbed)

    trials, held = 500, 0
    for _ in range(trials):
        a, b = ([time() for _ in range(n)] for _ in "ab")
        found = estimate(a, b, "less", is_interleaved=is_interleaved)
        assert found.low is not None
        assert found.high is not None
        held += found.low <= 1.0 <= found.high
    # At exactly 95 % so few would be seen in one of a thousand tests.
    assert held / trials > 0.92


def test_the_bounds_of_the_mean_hold_the_truth_with_three_repeats() -> None:
    rng = random.Random(8)
    trials, held = 300, 0
    for _ in range(trials):
        sides = [[math.exp(rng.gauss(0, 0.05)) for _ in range(3)] for _ in range(10)]
        pairs = [Pair(result(a), result(b), is_interleaved=True) for a, b in zip(sides[:5], sides[5:], strict=True)]
        mean = compare(Pairs(tuple(pairs))).geomean
        assert mean is not None
        held += mean.low is not None and mean.high is not None and mean.low <= 1.0 <= mean.high
    assert held / trials > 0.91


def test_a_rule_of_one_s_own() -> None:
    pairs = [Pair(result(_around(100, 12)), result(_around(102, 12, seed=5)))]
    assert _interleaved(*pairs, rule=Rule(threshold=0.01)).rows[0].verdict == "faster"
    assert _interleaved(*pairs, rule=Rule(threshold=0.05)).rows[0].verdict == "same"


@pytest.mark.parametrize("alpha", [1e-5, 1e-12, 1e-30])
@pytest.mark.parametrize("is_interleaved", [True, False])
def test_two_repeats_and_a_rule_that_nothing_satisfies_are_inconclusive(alpha: float, is_interleaved: bool) -> None:
    pairs = Pairs((Pair(result([100.0, 101.0]), result([150.0, 140.0]), is_interleaved=is_interleaved),))
    found = compare(pairs, rule=Rule(alpha=alpha))
    (row,) = found.rows
    assert row.verdict == "inconclusive"
    assert row.estimate is not None
    assert row.estimate.low is not None
    assert 0 < row.estimate.low < 1
    assert found.geomean is not None
    assert report.cells(row)


def test_the_mood_of_a_session_does_not_average_out_over_the_rows() -> None:
    """All rows of a session may be slow together, so that many of them say no more about it than one."""
    pairs = [Pair(result(_around(100, 10, seed=n)), result(_around(105, 10, seed=50 + n))) for n in range(30)]
    mean, in_turns = compare(Pairs(tuple(pairs))).geomean, _interleaved(*pairs).geomean
    assert mean is not None
    assert in_turns is not None
    assert mean.low is not None
    assert in_turns.low is not None
    assert mean.low < 0.8 * mean.value
    assert in_turns.low > 0.99 * in_turns.value


def test_half_of_alpha_is_left_for_measuring_again() -> None:
    rule = Rule(num_occasions=2)
    assert (rule.level, rule.confidence, Rule(alpha=0.1).level) == (0.025, 0.975, 0.1)
    # Six pairs give p = 0.031 at best.
    pairs = [Pair(result(_around(100, 6)), result(_around(110, 6, seed=2)))]
    assert _interleaved(*pairs).rows[0].verdict == "faster"
    assert _interleaved(*pairs, rule=rule).rows[0].verdict == "inconclusive"


def test_what_a_failed_row_does_not_know_is_no_difference_of_the_environment() -> None:
    """Versions of libraries come from the process that measures, and that one has died."""
    unknown = msgspec.structs.replace(HERE, software={}, python="3.14")
    failed = result([], environment=unknown, error="killed")
    for a, b in ((result([1.0, 1.1]), failed), (failed, result([1.0, 1.1]))):
        assert [name for name, *_ in compare(pair([a], [b])).environment if name == "torch"] == []
    assert ("python", "", "3.14") in compare(pair([result([1.0], environment=HERE)], [failed])).environment
