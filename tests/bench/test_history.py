"""What the sessions of a benchmark show: steps, losses that add up, and what to measure again."""

from __future__ import annotations

import math
import random
from typing import Any

import msgspec
import pytest

from strobe.bench import stats
from strobe.bench.history import Series, suspicion, trace
from strobe.bench.records import Record
from tests.bench.compare.results import ELSEWHERE, HERE, result, wrong


def _sessions(levels: list[float], length: int, spread: float = 0.01, **fields: Any) -> list[Record]:
    rng = random.Random(7)
    records = []
    for number, level in enumerate(level for level in levels for _ in range(length)):
        environment = msgspec.structs.replace(HERE, git_commit=f"commit{number:02}")
        samples = [level * math.exp(rng.gauss(0, spread)) for _ in range(5)]
        records.append(result(samples, **{"environment": environment, "id": f"{number:04}", **fields}))
    return records


def _only(records: list[Record]) -> Series:
    (series,) = trace(records)
    return series


def test_a_step_names_the_commits_on_both_sides() -> None:
    series = _only(_sessions([100, 90], 8))
    (step,) = series.steps
    assert step.commits == ("commit07", "commit08")
    assert step.change == pytest.approx(-0.1, abs=0.015)
    assert [level.value for level in series.levels] == pytest.approx([100, 90], rel=0.02)
    assert series.is_worse
    again = suspicion(series)
    assert again is not None
    assert (again.a.environment.git_commit, again.b.environment.git_commit) == ("commit07", "commit15")


def test_times_that_rise_are_slower_too() -> None:
    series = _only(_sessions([1.0, 1.25], 8, better="less", unit="s"))
    assert series.steps[0].change == pytest.approx(-0.2, abs=0.02)
    assert [level.value for level in series.levels] == pytest.approx([1.0, 1.25], rel=0.02)
    assert series.is_worse


def test_small_losses_add_up() -> None:
    series = _only(_sessions([100, 98, 96, 94], 10, spread=0.002))
    assert all(abs(step.change) < 0.05 for step in series.steps)
    assert series.against_best == pytest.approx(-0.06, abs=0.01)
    assert series.is_worse


def test_a_gain_is_a_step_but_nothing_to_worry_about() -> None:
    series = _only(_sessions([100, 120], 8))
    assert series.steps[0].change > 0.15
    assert not series.is_worse
    assert suspicion(series) is None


def test_one_slow_session_is_no_step() -> None:
    records = _sessions([100], 20)
    records[11] = msgspec.structs.replace(records[11], samples=(50.0, 51.0, 50.0))
    assert _only(records).steps == ()


def test_versions_machines_and_batches_are_series_of_their_own() -> None:
    records = [
        *_sessions([100], 3),
        *_sessions([50], 3, version=2),
        *_sessions([10], 3, batch_size=64),
        *_sessions([900], 3, environment=ELSEWHERE),
    ]
    assert [len(series.records) for series in trace(records)] == [3, 3, 3, 3]


def test_wrong_and_failed_results_are_no_points() -> None:
    records = [*_sessions([100], 3), result([500.0], correctness=wrong()), result([], error="killed")]
    assert len(_only(records).records) == 3


def test_the_band_holds_what_noise_does() -> None:
    series = _only(_sessions([100, 80], 20, spread=0.05))
    middles = [stats.median(record.samples) for record in series.records]
    outside = [
        number
        for level in series.levels
        for number in range(level.start, level.stop)
        if not level.value / (1 + series.band) <= middles[number] <= level.value * (1 + series.band)
    ]
    assert len(outside) <= 4
    assert 0.03 < series.band < 0.15
    assert _only(_sessions([100], 2)).band == 0.0  # too few to tell


def test_devices_threads_and_sizes_are_series_of_their_own_and_trials_are_none() -> None:
    rows = [
        result([1.0]),
        result([1.0], device="cuda"),
        result([1.0], threads=1),
        result([1.0], threads=2),
        result([1.0], options={"steps": 10}),
        result([1.0], is_trial=True),
        result([1.0], is_changed=True),
    ]
    assert [len(series.records) for series in trace(rows)] == [1] * 5
