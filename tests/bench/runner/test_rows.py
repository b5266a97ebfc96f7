"""From outcomes to a record: scores, latency, checks, energy, and what a failure leaves."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from strobe.bench import registry
from strobe.bench.records import Correct, Environment, Latency, LatencyStatus, Record, Repeat
from strobe.bench.runner.message import Outcome, Served
from strobe.bench.runner.options import Cell, Options, reproduce
from strobe.bench.runner.rows import blank_record, fill_record, score
from strobe.bench.spec import Latency as Limit
from strobe.bench.workload import Work
from strobe.errors import UsageError
from tests.bench.declared import declare

WORK = Work(examples=8, flops=2e12, bytes=4e9)
BENCHMARK = declare(
    "strobe.bench.workloads.own:make",
    config="a-fp32",
    version=3,
    batch_sizes=(8,),
    max_batch=64,
    latency=Limit(limit_ms=100, percentile=90),
)
CELL = Cell(BENCHMARK, 8)


def _correct(is_correct: bool) -> Correct:
    return Correct(is_correct=is_correct, error=0.0, max_error=0.0, tolerance=1e-3, reference="itself")


def _outcome(*wall_s: float, inner_loops: int = 1, energy_j: float | None = None, check: bool | None = None) -> Outcome:
    repeat = Repeat(wall_s=wall_s, cpu_s=wall_s, inner_loops=inner_loops, energy_j=energy_j)
    return Outcome(
        repeat=repeat, work=WORK, correctness=None if check is None else _correct(check), software={"torch": "2"}
    )


def _record(outcomes: list[Outcome], error: str | None = None, options: Options | None = None) -> Record:
    blank = blank_record(CELL, options or Options(), Environment(software={"python": "3"}), "abc")
    return fill_record(blank, CELL, outcomes, error)


def test_a_score_is_the_work_of_a_second() -> None:
    assert score(WORK, 2.0, "ex/s") == 4.0
    assert score(WORK, 2.0, "TF/s") == 1.0
    assert score(WORK, 2.0, "GB/s") == 2.0


def test_a_step_takes_what_the_middle_one_does() -> None:
    assert Repeat(wall_s=(1.0, 2.0, 9.0), cpu_s=()).step_s == 2.0


@pytest.mark.parametrize("num_turns", [1, 2, 5])
def test_unlike_steps_count_by_whole_turns_and_a_disturbed_one_does_not(num_turns: int) -> None:
    """The middle of such samples is that of one batch or two: 1.2 here, where four steps take 6."""
    wall_s = num_turns * (1.0, 1.4, 3.0, 0.6)
    assert Repeat(wall_s=wall_s, cpu_s=(), turn=4).step_s == 1.5
    if num_turns > 2:
        assert Repeat(wall_s=(*wall_s[:-1], 50.0), cpu_s=(), turn=4).step_s == 1.5


def test_repeats_become_samples() -> None:
    record = _record([_outcome(1.0, 2.0, 2.0, check=True), _outcome(4.0)])
    assert record.samples == (4.0, 2.0)
    assert (record.benchmark, record.subject, record.version, record.seal) == (BENCHMARK.key, "OOTB", 3, "abc")
    assert record.environment.software == {"python": "3", "torch": "2"}
    assert record.correctness is not None
    assert record.correctness.is_correct
    assert record.error is None


def test_nodes_of_other_hardware_are_part_of_the_system() -> None:
    alone, alike, unlike = (
        _record([msgspec.structs.replace(_outcome(1.0), machines=machines)]).environment
        for machines in ((), ("a",), ("a", "b", "c"))
    )
    assert alike == alone
    assert unlike.hardware["other_nodes"] == "b, c"
    assert unlike.fingerprint != alone.fingerprint


def test_a_row_is_wrong_if_its_first_repeat_is_which_alone_is_checked() -> None:
    record = _record([_outcome(1.0, check=False), _outcome(1.0)])
    assert record.correctness is not None
    assert not record.correctness.is_correct


def test_a_failure_keeps_the_repeats_and_has_no_samples() -> None:
    record = _record([_outcome(1.0)], "killed")
    assert record.samples == ()
    assert record.error == "killed"
    assert len(record.repeats) == 1


@pytest.mark.parametrize(
    ("outcome", "status"),
    [
        (_outcome(*[0.05] * 50), "met"),
        (_outcome(*[0.05] * 5), "undecided"),
        (_outcome(*[0.2] * 50), "missed"),
        # 50 steps of 1 ms each, timed together, could hide no step over 100 ms
        (_outcome(*[0.001] * 50, inner_loops=50), "met"),
        # 1000 of them could hide nine, which is less than every tenth; of 20 ms each nearly every fifth
        (_outcome(*[0.001] * 50, inner_loops=1000), "met"),
        (_outcome(*[0.02] * 50, inner_loops=1000), "undecided"),
        # a mean over the limit does not tell how many steps were, but one at least
        (_outcome(*[0.2] * 50, inner_loops=2), "missed"),
        (_outcome(*[0.2] * 50, inner_loops=100), "undecided"),
    ],
)
def test_latency(outcome: Outcome, status: str) -> None:
    record = _record([outcome])
    assert record.latency is not None
    assert record.latency.status == status


def test_energy_is_per_example() -> None:
    record = _record([_outcome(1.0, 1.0, inner_loops=5, energy_j=160.0)])
    assert record.energy_j_per_example == 2.0
    assert _record([_outcome(1.0)]).energy_j_per_example is None


def test_a_step_without_examples_has_no_energy_per_example() -> None:
    outcome = _outcome(1.0, energy_j=160.0)
    none = msgspec.structs.replace(outcome, work=replace(WORK, examples=0))
    assert _record([none]).energy_j_per_example is None


def _served(qps: float | None, *, is_cut: bool = False, status: LatencyStatus | None = None) -> Outcome:
    status = status or ("missed" if qps is None else "met")
    judged = Latency(
        limit_ms=100, percentile=90, status=status, n=9, num_over=0, p50_ms=1, p90_ms=2, p95_ms=2, p99_ms=2
    )
    repeat = Repeat(wall_s=(1.0,), cpu_s=(1.0,))
    return Outcome(repeat=repeat, work=WORK, served=Served(qps=qps, latency=judged, is_cut=is_cut))


def test_serving_has_rates_as_samples() -> None:
    record = _record([_served(50.0), _served(60.0)], options=Options(scenario="serving"))
    assert record.samples == (50.0, 60.0)
    assert record.metric == "serving"
    assert record.command.endswith("--serving")


def test_a_rate_of_queries_is_in_examples_whatever_the_benchmark_counts() -> None:
    cell = Cell(replace(BENCHMARK, units="TF/s"), 8)
    assert blank_record(cell, Options(scenario="serving"), Environment(), "").unit == "ex/s"
    assert blank_record(cell, Options(), Environment(), "").unit == "TF/s"


def test_serving_without_a_rate_within_the_limit_says_so() -> None:
    record = _record([_served(50.0), _served(None)], options=Options(scenario="serving"))
    assert record.samples == ()
    assert record.error == "no rate of queries keeps the latency limit"
    assert record.latency is not None
    assert record.latency.status == "missed"


def test_an_undecided_limit_is_not_called_missed_when_serving() -> None:
    undecided = _served(None, status="undecided")
    record = _record([_served(50.0), undecided], options=Options(scenario="serving"))
    assert record.samples == ()
    assert record.error is not None
    assert "is undecided" in record.error
    assert record.error.endswith("measure again on a quieter machine")
    assert record.latency is not None
    assert record.latency.status == "undecided"
    missed = _record([undecided, _served(None)], options=Options(scenario="serving"))
    assert missed.error == "no rate of queries keeps the latency limit"


def test_the_command_says_all_that_matters() -> None:
    command = reproduce(CELL, Options(repeats=2, seconds=0.5, threads=1, seed=7))
    assert command == (
        "strobe bench run own/ootb/inference/a-fp32 --batch 8 --repeats 2 --seconds 0.5 --threads 1 --seed 7"
    )


def test_a_batch_beyond_the_limit_is_refused() -> None:
    with pytest.raises(UsageError, match="not between 1 and 64"):
        Cell(BENCHMARK, 65)
    with pytest.raises(UsageError, match="repeats must be a number above 0"):
        Options(repeats=0)


def test_the_command_works_from_any_directory_and_keeps_the_limits() -> None:
    options = Options(
        threads=4, device="cuda", timeout_s=30, memory_limit_bytes=1_500_000_000, node=1, master="n0:29500",
        files=(Path("mine.py"),),
    )  # fmt: skip
    command = reproduce(Cell(replace(BENCHMARK, workload="mine.py:Own"), 8), options)
    assert command.endswith(
        f"--device cuda --timeout 30 --memory-limit 1.5 --node 1 --master n0:29500 --file {Path.cwd() / 'mine.py'}"
    )


def test_a_configuration_of_ones_own_of_a_workload_of_the_suite_is_found_again() -> None:
    (suites,) = registry.find(["dlrm/ootb/inference/tiny-100k"])
    options = Options(files=(Path("mine.py"),))
    own = reproduce(Cell(replace(suites, config="mine-200k"), 1), options)
    assert own.endswith(f"--file {Path.cwd() / 'mine.py'}")
    assert "--file" not in reproduce(Cell(suites, 1), options)


def test_a_row_says_what_it_ran_on() -> None:
    record = blank_record(CELL, Options(threads=4, device="cuda:1"), Environment(), "")
    assert (record.device, record.threads) == ("cuda:1", 4)
    two = blank_record(Cell(replace(BENCHMARK, devices=2), 8), Options(threads=5), Environment(), "")
    assert (two.device, two.threads) == ("cpu", 2)


def test_a_search_that_ran_out_of_time_takes_no_rate_from_the_others() -> None:
    cut = _served(None, is_cut=True)
    record = _record([cut, _served(50.0), _served(40.0, is_cut=True)], options=Options(scenario="serving"))
    assert record.samples == (50.0, 40.0)
    assert record.latency is not None
    assert record.latency.status == "met"
    unjudged = msgspec.structs.replace(cut, served=Served(qps=None, latency=None, is_cut=True))
    nothing = _record([cut, unjudged], options=Options(scenario="serving"))
    assert nothing.samples == ()
    assert nothing.error is not None
    assert nothing.error.endswith("before time was up; more of it: --timeout")
