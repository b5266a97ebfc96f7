"""The binomial rule gives the published numbers of queries, and is right as often as it says."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strobe.bench import latency
from strobe.bench.records import Repeat
from strobe.bench.spec import Latency as Limit

#: queries that MLPerf's early stopping needs (confidence 99 %, tolerance 0) by percentile and number of late ones
PUBLISHED = {
    0.90: {0: 44, 1: 64, 2: 81, 5: 127, 10: 197},
    0.95: {0: 90, 1: 130, 2: 165, 5: 259, 10: 398},
    0.99: {0: 459, 1: 662, 2: 838, 5: 1307, 10: 2010},
}


@pytest.mark.parametrize("share", PUBLISHED)
def test_as_many_steps_are_needed_as_published(share: float) -> None:
    assert {late: latency.steps_needed(late, share) for late in PUBLISHED[share]} == PUBLISHED[share]


@pytest.mark.parametrize("share", PUBLISHED)
def test_one_step_fewer_is_undecided_and_one_more_late_is_too(share: float) -> None:
    for late, needed in PUBLISHED[share].items():
        assert latency.decide(needed, late, share) == "met"
        assert latency.decide(needed - 1, late, share) == "undecided"
        assert latency.most_over(needed, share) == late
        assert latency.decide(needed, late + 1, share) == "undecided"


def test_many_late_steps_are_a_miss() -> None:
    assert latency.decide(100, 30, 0.95) == "missed"
    assert latency.decide(1, 1, 0.99) == "missed"  # a 1 % event at once: that is the confidence asked for
    assert latency.decide(1, 1, 0.95) == "undecided"
    assert latency.decide(0, 0, 0.99) == "undecided"


def test_too_few_steps_to_ever_meet() -> None:
    assert latency.most_over(458, 0.99) is None


@given(st.integers(1, 60), st.data(), st.floats(0.01, 0.99))
def test_tails_are_the_sums_of_the_definition(n: int, data: st.DataObject, chance: float) -> None:
    k = data.draw(st.integers(0, n))
    terms = [math.comb(n, i) * chance**i * (1 - chance) ** (n - i) for i in range(n + 1)]
    assert latency.at_most(k, n, chance) == pytest.approx(sum(terms[: k + 1]), abs=1e-9)
    assert latency.at_least(k, n, chance) == pytest.approx(sum(terms[k:]), abs=1e-9)


def test_a_million_steps_are_judged_at_once() -> None:
    assert latency.decide(1_000_000, 9_000, 0.99) == "met"
    assert latency.decide(1_000_000, 10_000, 0.99) == "undecided"
    assert latency.decide(1_000_000, 11_000, 0.99) == "missed"


def test_a_system_at_the_limit_is_called_met_at_most_once_in_a_hundred() -> None:
    rng = random.Random(5)
    trials = 2000
    met = missed = 0
    for _ in range(trials):
        late = sum(rng.random() < 0.05 for _ in range(200))
        met += latency.decide(200, late, 0.95) == "met"
        missed += latency.decide(200, late, 0.95) == "missed"
    # 1 % of 2000 is 20; 35 is 3.4 standard deviations above
    assert met <= 35
    assert missed <= 35


def test_percentiles_are_samples_that_occurred_and_round_to_the_slower() -> None:
    ten = [float(value) for value in range(1, 11)]
    assert latency.percentile(ten, 0.5) == 5
    assert latency.percentile(ten, 0.95) == 10
    assert latency.percentile(ten, 0.90) == 9
    assert latency.percentile([3.0], 0.99) == 3
    twenty = [float(value) for value in range(1, 21)]
    assert latency.percentile(twenty, 0.95) == 19  # not 20, which 0.95 * 20 > 19 in floats would give


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=50), st.floats(0.01, 1))
def test_a_percentile_covers_its_share(samples: list[float], share: float) -> None:
    found = latency.percentile(samples, share)
    assert sum(value <= found for value in samples) >= share * len(samples) - 1e-6


def test_judging_step_times() -> None:
    judged = latency.judge([0.010] * 99 + [0.200], Limit(limit_ms=100, percentile=90))
    assert (judged.status, judged.n, judged.num_over) == ("met", 100, 1)
    assert (judged.p50_ms, judged.p99_ms) == pytest.approx((10.0, 10.0))
    assert latency.judge([0.2] * 10, Limit(limit_ms=100, percentile=90)).status == "missed"
    assert latency.judge([0.01] * 10, Limit(limit_ms=100, percentile=90)).status == "undecided"


@given(st.lists(st.lists(st.floats(0.001, 0.3), min_size=4, max_size=4), min_size=1, max_size=300), st.floats(50, 99.9))
def test_what_is_decided_of_steps_timed_together_is_what_they_show_one_by_one(
    quartets: list[list[float]], percentile: float
) -> None:
    limit = Limit(limit_ms=100, percentile=percentile)
    means = tuple(sum(four) / 4 for four in quartets)
    together = latency.judge_repeats([Repeat(wall_s=means, cpu_s=(), inner_loops=4)], limit)
    one_by_one = latency.judge([step for four in quartets for step in four], limit)
    assert together.n == one_by_one.n
    assert together.status in ("undecided", one_by_one.status)


def test_repeats_with_other_numbers_of_steps_together_are_judged_as_what_they_are() -> None:
    """One late step that was timed alone is one late step, whatever was timed beside it."""
    alone = Repeat(wall_s=(*(0.01,) * 999, 0.5), cpu_s=())
    together = Repeat(wall_s=(0.01,) * 100, cpu_s=(), inner_loops=5)
    judged = latency.judge_repeats([alone, together], Limit(limit_ms=100, percentile=99))
    assert (judged.status, judged.n, judged.num_over) == ("met", 1500, 1)


@pytest.mark.parametrize(("n", "late", "share"), [(3, 4, 0.9), (3, -1, 0.9), (3, 1, 1.0), (3, 1, 99)])
def test_what_makes_no_sense_is_refused(n: int, late: int, share: float) -> None:
    with pytest.raises(ValueError, match=r"steps"):
        latency.decide(n, late, share)
