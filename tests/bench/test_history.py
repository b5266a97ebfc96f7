"""What the sessions of a benchmark show: steps, losses that add up, and what to measure again."""

from __future__ import annotations

import math
import random
from typing import Any

import msgspec
import pytest

from strobe.bench import stats
from strobe.bench.history import Series, distinctions, suspicion, trace
from strobe.bench.records import Record, make_id
from tests.bench.results import ELSEWHERE, HERE, result, wrong


def _sessions(levels: list[float], length: int, spread: float = 0.01, **fields: Any) -> list[Record]:
    rng = random.Random(7)
    records = []
    for number, level in enumerate(level for level in levels for _ in range(length)):
        environment = msgspec.structs.replace(HERE, git_commit=f"commit{number:02}")
        samples = [level * math.exp(rng.gauss(0, spread)) for _ in range(5)]
        records.append(result(samples, **{"environment": environment, "id": f"{number:04}{make_id()}", **fields}))
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


def test_uncommitted_code_is_not_measured_again_where_committed_code_was_as_fast() -> None:
    records = _sessions([100, 90], 8)
    for number in (6, 7, 15):
        edited = msgspec.structs.replace(records[number].environment, is_dirty=True)
        records[number] = msgspec.structs.replace(records[number], environment=edited)
    again = suspicion(_only(records))
    assert again is not None
    assert (again.a.environment.git_commit, again.b.environment.git_commit) == ("commit05", "commit15")


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


def test_a_result_that_two_files_have_is_one_session() -> None:
    records = _sessions([100, 97], 2)
    assert trace([*records, *records]) == trace(records)
    nameless = [msgspec.structs.replace(one, id="") for one in records]  # of an older Strobe: nobody could tell
    assert len(_only(nameless).records) == len(records)


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


def test_another_seal_or_unit_is_another_series() -> None:
    """Code that changed under its version cannot be compared: its speed is neither a loss nor a gain."""
    fast = _sessions([100], 6, seal="aaaaaaaaaa")
    slow = [msgspec.structs.replace(one, id=f"1{one.id}") for one in _sessions([50], 6, seal="bbbbbbbbbb")]
    found = trace([*fast, *slow])
    assert [len(series.records) for series in found] == [6, 6]
    assert not any(series.is_worse or series.steps for series in found)
    assert [len(series.records) for series in trace([*fast, *_sessions([0.1], 3, seal="aaaaaaaaaa", unit="k/s")])] == [
        6,
        3,
    ]


def test_results_from_before_there_were_seals_go_on_in_the_newest_series() -> None:
    old = _sessions([100], 3)
    first, second = (
        [msgspec.structs.replace(one, id=f"{number}{one.id}", seal=seal) for one in old]
        for number, seal in ((1, "aaaaaaaaaa"), (2, "bbbbbbbbbb"))
    )
    found = trace([*first, *second, *old])
    assert sorted(len(series.records) for series in found) == [3, 6]
    longest = max(found, key=lambda series: len(series.records))
    assert (longest.records[0].seal, longest.records[-1].seal) == ("", "bbbbbbbbbb")


@pytest.mark.parametrize("spread", [0.0, 0.005])
@pytest.mark.parametrize("outliers", [(4, 5), (4, 6)])
@pytest.mark.parametrize("speed", [1.035, 1.2])
def test_two_quick_sessions_are_not_the_best_level(spread: float, outliers: tuple[int, ...], speed: float) -> None:
    """Scores that are equal to the last digit, such as counts or whole milliseconds, look free of noise."""
    records = _sessions([100], 12, spread=spread)
    for number in outliers:
        quick = tuple(speed * sample for sample in records[number].samples)
        records[number] = msgspec.structs.replace(records[number], samples=quick)
    series = _only(records)
    assert series.steps == ()
    assert not series.is_worse


def test_three_quick_sessions_are_a_level_also_without_noise() -> None:
    series = _only(_sessions([100, 104, 100, 100], 3, spread=0.0))
    assert [step.index for step in series.steps] == [3, 6]
    assert series.is_worse


def test_many_rows_are_not_many_chances_to_be_slower() -> None:
    """Of fifty steady rows one always has a few slow sessions: what is a loss of one row alone is none of them."""
    rng = random.Random(5)
    others = [
        result([100 * math.exp(rng.gauss(0, 0.01))], f"toy/ootb/inference/{row}", id=f"{number:04}{row}")
        for row in range(50)
        for number in range(12)
    ]
    slight, clear = (
        [
            msgspec.structs.replace(one, samples=tuple(loss * sample for sample in one.samples)) if number >= 9 else one
            for number, one in enumerate(_sessions([100], 12, spread=0.02, benchmark=f"toy/ootb/inference/{loss}"))
        ]
        for loss in (0.955, 0.8)
    )
    assert _only(slight).is_worse
    assert [series.name for series in trace([*others, *slight, *clear]) if series.is_worse] == [_only(clear).name]


def _later(records: list[Record], **fields: Any) -> list[Record]:
    return [msgspec.structs.replace(one, id=f"1{one.id}", **fields) for one in records]


@pytest.mark.parametrize("change", [{"version": 2}, {"seal": "bbbbbbbbbb"}, {"unit": "k/s"}])
def test_a_version_that_is_no_longer_measured_is_ended_and_not_worse(change: dict[str, Any]) -> None:
    slower = _sessions([100, 80], 8, seal="aaaaaaaaaa")
    assert _only(slower).is_worse
    old, new = trace([*slower, *_later(_sessions([90], 3, seal="aaaaaaaaaa"), **change)])
    assert (old.is_ended, old.is_worse, new.is_ended) == (True, False, False)
    assert old.against_best == pytest.approx(-0.2, abs=0.02)
    assert suspicion(old) is None


def test_a_new_version_that_fails_ends_the_old_one_but_what_is_beside_the_sessions_does_not() -> None:
    slower = _sessions([100, 80], 8)
    (failed,) = _later([result([], id="9", version=2, error="killed")])
    assert _only([*slower, failed]).is_ended
    for beside in ({"is_trial": True}, {"is_confirmation": True}, {"environment": ELSEWHERE}, {"batch_size": 9}):
        aside = _later([msgspec.structs.replace(result([1.0], id="9", version=2), **beside)])
        assert trace([*slower, *aside])[0].is_worse


def test_series_of_one_name_are_told_apart_by_what_differs() -> None:
    first = result([1.0], seal="aaaaaaaaaa")
    again = msgspec.structs.replace(first, version=2, seal="bbbbbbbbbb")
    sealed = msgspec.structs.replace(again, seal="cccccccccc")
    sized = [result([1.0], options={"steps": steps}) for steps in (10, 20)]
    away, twin = (msgspec.structs.replace(place, host="box") for place in (ELSEWHERE, HERE))

    def told(*records: Record) -> list[str]:
        return distinctions(trace(msgspec.structs.replace(one, id=make_id()) for one in records))

    assert told(first) == [""]
    assert told(first, result([1.0], "toy/ootb/inference/two")) == ["", ""]
    assert told(first, again) == ["v1", "v2"]
    assert told(again, sealed) == ["seal bbbbbbbb", "seal cccccccc"]
    assert told(first, again, sealed) == ["v1", "v2 seal bbbbbbbb", "v2 seal cccccccc"]
    assert told(*sized) == ["steps=10", "steps=20"]
    assert told(first, msgspec.structs.replace(first, environment=away)) == [
        f"on {HERE.fingerprint}",
        "on box",
    ]
    assert told(*(msgspec.structs.replace(first, environment=place) for place in (away, twin))) == [
        f"on {away.fingerprint}",
        f"on {twin.fingerprint}",
    ]
