"""Real worker processes on benchmarks that behave, and on those that do not."""

from __future__ import annotations

import json
import os
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest

from strobe.bench import machine, registry
from strobe.bench.records import Record, Repeat
from strobe.bench.runner import session
from strobe.bench.runner.group import free_ports
from strobe.bench.runner.message import Outcome
from strobe.bench.runner.options import Cell, Options
from strobe.bench.runner.session import Progress, Results, measure
from strobe.bench.workload import Work

OWN = Path(__file__).parents[1] / "own.py"
pytestmark = pytest.mark.slow


def _cells(*configs: str) -> list[Cell]:
    return [Cell(registry.find_one(f"own/micro/test/{config}", [OWN]), 1) for config in configs]


def _options(*, repeats: int = 1, timeout_s: float = 60.0, memory_limit_bytes: int | None = None) -> Options:
    return Options(
        repeats=repeats, seconds=0.05, files=(OWN,), timeout_s=timeout_s, memory_limit_bytes=memory_limit_bytes
    )


def _measure_one(config: str, options: Options | None = None) -> Record:
    (record,) = measure(_cells(config), options or _options()).records
    return record


def test_a_sleep_takes_as_long_as_it_says() -> None:
    record = _measure_one("Sleep", _options(repeats=2))
    assert record.error is None
    assert len(record.samples) == len(record.repeats) == 2
    # At most 500 a second; far fewer when other processes have the CPU.
    assert all(sample < 501 for sample in record.samples)
    assert record.samples == pytest.approx([1 / statistics.median(repeat.wall_s) for repeat in record.repeats])
    first = record.repeats[0]
    assert first.compile_s > 0.049
    assert first.warmup_steps >= 6
    assert sum(first.cpu_s) < sum(first.wall_s)
    assert first.peak_rss_bytes > 5_000_000
    assert record.environment.fingerprint
    assert record.environment.software["threads"] == str(record.environment.cpu_count)
    assert record.correctness is not None
    assert record.correctness.is_correct


def test_a_product_by_numpy_is_measured_and_checked() -> None:
    record = _measure_one("Product")
    assert record.error is None
    assert record.correctness is not None
    assert record.correctness.is_correct
    assert record.samples[0] > 1e-6
    assert "numpy" in record.environment.software


def test_an_early_output_is_checked_when_everything_is_measured() -> None:
    """The check takes memory, and what a process has freed changes its speed: no repeat may differ from the others."""
    (record,) = measure(_cells("Reuses"), _options(repeats=1)).records
    assert record.error is None
    assert record.correctness is not None
    assert record.correctness.is_correct


@pytest.mark.parametrize("config", ["Wrong", "NotANumber"])
def test_a_wrong_answer_is_told(config: str) -> None:
    record = _measure_one(config)
    assert record.error is None
    assert record.correctness is not None
    assert not record.correctness.is_correct


def test_what_fails_is_a_row_with_its_last_lines_and_is_not_repeated() -> None:
    told: list[Progress] = []
    results = measure(_cells("Fails", "Plain"), _options(repeats=2), report=told.append)
    failed, fine = results.records
    assert failed.error is not None
    assert failed.error.startswith("RuntimeError: the fifth step is one too many (exit code 1)\n")
    assert failed.error.endswith("RuntimeError: the fifth step is one too many")
    assert failed.samples == ()
    assert len(fine.samples) == 2
    assert [one.repeat for one in told if one.outcome is not None] == [1, 1, 2]
    assert told[-1].num_done == told[-1].num_repeats == 4


def test_memory_has_a_limit() -> None:
    record = _measure_one("Hungry", _options(memory_limit_bytes=400_000_000))
    assert record.error is not None
    assert "more than the 0.4 GB allowed (--memory-limit)" in record.error.splitlines()[0]


def test_children_count_and_end_with_their_worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHILD", str(tmp_path / "child"))
    record = _measure_one("Brood", _options(memory_limit_bytes=500_000_000))
    assert record.error is not None
    assert "more than the 0.5 GB allowed (--memory-limit)" in record.error.splitlines()[0]
    child = int((tmp_path / "child").read_text())
    _wait_until(lambda: not psutil.pid_exists(child) or psutil.Process(child).status() == psutil.STATUS_ZOMBIE)


def test_a_search_for_a_rate_keeps_what_it_found_when_time_is_up() -> None:
    # A trial takes 1,836 steps of 5 ms, and there are dozens of them.
    options = Options(repeats=1, seconds=0.05, files=(OWN,), scenario="serving", timeout_s=12.0)
    record = _measure_one("Serves", options)
    assert "the search for a rate was ended by --timeout" in record.repeats[0].noisy
    # On a busy machine no rate may have been met so early.
    assert record.samples or (record.error or "").endswith("before time was up; more of it: --timeout")


def test_time_has_a_limit_and_nothing_is_left_running() -> None:
    record = _measure_one("Hangs", _options(timeout_s=3.0))
    assert record.error is not None
    assert record.error.splitlines()[0] == "not done after 3 s (--timeout)"
    assert not [child for child in psutil.Process().children() if "strobe.bench.runner.worker" in child.cmdline()]


def test_a_killed_worker_is_told() -> None:
    record = _measure_one("Dies")
    assert record.error is not None
    assert record.error.splitlines()[0] == "killed by SIGKILL (out of memory?)"


def test_a_worker_that_leaves_without_an_outcome_costs_no_other_row() -> None:
    left, fine = measure(_cells("Leaves", "Plain"), _options()).records
    assert left.error == "ended before it was done (exit code 0)\nwhat it said before it left"
    assert len(fine.samples) == 1


@pytest.mark.parametrize("config", ["Lingers", "Aborts"])
def test_how_a_worker_ends_after_it_has_measured_costs_nothing(config: str) -> None:
    record = _measure_one(config, _options(timeout_s=3600.0))  # whoever waited for that would not end
    assert record.error is None
    assert len(record.samples) == 1


def test_work_that_is_no_number_costs_no_other_row() -> None:
    boundless, fine = measure(_cells("Boundless", "Plain"), _options()).records
    assert boundless.error is not None
    assert boundless.error.startswith("ValueError: the work of a step must be finite, got Work(examples=1")
    assert len(fine.samples) == 1


def test_ctrl_c_keeps_what_is_done() -> None:
    def interrupt(progress: Progress) -> None:
        if progress.num_done == 3:
            raise KeyboardInterrupt

    results = measure(_cells("Plain", "Wrong"), _options(repeats=3), report=interrupt)
    assert results == Results(results.records, is_interrupted=True)
    assert [len(record.samples) for record in results.records] == [2, 1]


def test_time_that_is_up_costs_repeats_but_no_row() -> None:
    options = Options(repeats=1000, seconds=0.02, files=(OWN,), budget_s=0.5)
    records = measure(_cells("Plain", "Wrong", "Product"), options).records
    assert [record.config for record in records] == ["Plain", "Wrong", "Product"]
    assert all(1 <= len(record.repeats) < 5 for record in records)


@pytest.mark.parametrize(
    ("budget_s", "left_s"),
    [
        # rows of 1, 3 and 5 seconds, three times: what is left after each
        (None, [8, 14, 18, 17, 14, 9, 8, 5, 0]),
        (13, [8, 9, 4, 3, 0]),
        # too little time: rows that must still be measured once take what they take
        (2, [2, 2, 0]),
    ],
)
def test_the_time_that_is_left_is_what_rows_have_taken(
    budget_s: float | None, left_s: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 0.0

    def take(cell: Cell, options: Options, *, is_checked: bool) -> Outcome:
        nonlocal now
        now += {"Plain": 1.0, "Wrong": 3.0, "Product": 5.0}[cell.benchmark.config]
        return Outcome(repeat=Repeat(wall_s=(1.0,), cpu_s=(1.0,)), work=Work(examples=1, flops=1, bytes=1))

    monkeypatch.setattr(session, "run_repeat", take)
    monkeypatch.setattr(session, "time", SimpleNamespace(monotonic=lambda: now))
    told: list[float | None] = []
    measure(
        _cells("Plain", "Wrong", "Product"),
        Options(repeats=3, files=(OWN,), budget_s=budget_s),
        report=lambda progress: told.append(progress.left_s) if progress.outcome else None,
    )
    assert told == left_s


def _facts(directory: Path) -> dict[str, list[str]]:
    """Return per rank and process: pid, steps, CPUs, OMP_NUM_THREADS, threads, whether garbage is collected."""
    found = {}
    for path in sorted(directory.iterdir()):
        pid, steps, rest = path.read_text().split(" ", 2)
        cpus, _, counts = rest.partition("] ")
        found[path.name] = [pid, steps, f"{cpus}]", *counts.split()]
    return found


def test_each_repeat_is_a_fresh_pinned_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FACTS", str(tmp_path))
    options = Options(repeats=2, seconds=0.01, threads=1, files=(OWN,))
    (record,) = measure(_cells("Facts"), options).records
    assert record.error is None
    facts = list(_facts(tmp_path).values())
    assert len({pid for pid, *_ in facts} | {str(os.getpid())}) == 3
    for _, _, cpus, omp_threads, threads, _ in facts:
        assert json.loads(cpus) == [min(os.sched_getaffinity(0))]
        assert omp_threads == threads == "1"


def test_two_devices_are_two_processes_that_take_the_same_steps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FACTS", str(tmp_path))
    record = _measure_one("Facts-2dev")
    assert record.error is None
    assert record.devices == 2
    facts = _facts(tmp_path)
    assert [name.rpartition("-")[0] for name in facts] == ["rank-0", "rank-1"]
    (_, steps, *_, is_collecting), (_, other_steps, *_, is_other_collecting) = facts.values()
    assert steps == other_steps
    assert int(steps) > 10
    # The one that is timed waits for the other at every collective.
    assert (is_collecting, is_other_collecting) == ("False", "False")


def test_a_group_in_which_one_fails_ends() -> None:
    record = _measure_one("Fails-2dev")
    assert record.error is not None
    assert "the fifth step is one too many" in record.error


def test_who_crashed_is_blamed_and_not_whom_we_ended_for_it() -> None:
    record = _measure_one("Crashes-2dev")
    assert record.error == "killed by SIGSEGV\nwhat the crashed one said"


def test_rows_of_several_files_are_one_session(tmp_path: Path) -> None:
    other = tmp_path / "other.py"
    other.write_text(OWN.read_text().replace('model="Own"', 'model="Other"'))
    cells = [*_cells("Plain"), Cell(registry.find_one("other/micro/test/Plain", [other]), 1)]
    found = measure(cells, Options(repeats=1, seconds=0.02, files=(OWN, other))).records
    (moment,) = {record.environment.started_at for record in found}
    assert moment.count(".") == 1  # sessions of one second are told apart


def test_two_nodes_meet_at_the_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FACTS", str(tmp_path))
    (port,) = free_ports(1)
    nodes = [
        Options(repeats=2, seconds=0.01, threads=1, files=(OWN,), node=node, master=f"127.0.0.1:{port}")
        for node in range(2)
    ]
    with ThreadPoolExecutor() as pool:
        first, second = pool.map(lambda options: measure(_cells("Facts-2nodes"), options), nodes)
    (record,) = first.records
    assert record.error is None
    assert record.nodes == 2
    assert record.environment.fingerprint == machine.describe().fingerprint  # both nodes are alike
    assert len(record.samples) == 2
    assert second.records == []
    facts = _facts(tmp_path)
    assert [name.rpartition("-")[0] for name in facts] == ["rank-0"] * 2 + ["rank-1"] * 2
    steps = [[one[1] for name, one in facts.items() if name.startswith(rank)] for rank in ("rank-0", "rank-1")]
    assert sorted(steps[0]) == sorted(steps[1])


def test_a_row_for_two_nodes_says_so_on_one() -> None:
    record = _measure_one("Facts-2nodes")
    assert record.error == "not on this machine: needs 2 nodes; run it on each with --node N --master HOST:PORT"
    assert record.is_left_out


def test_a_row_for_cuda_says_so_on_a_cpu() -> None:
    (benchmark,) = registry.find(["dlrm/micro/gemm/gemm_A-Bx1024x1024-tf32"])
    (record,) = measure([Cell(benchmark, 128)], Options(repeats=1)).records
    assert record.error == "not on this machine: needs CUDA"
    assert record.is_left_out


def _workers_of(path: Path) -> list[psutil.Process]:
    """Return the processes that measure with this as their temporary directory."""
    found = []
    for process in psutil.process_iter(["cmdline"]):
        words = process.info["cmdline"] or []
        if "strobe.bench.runner.worker" in words and words[-1].startswith(str(path)):
            found.append(process)
    return found


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_a_worker_ends_with_its_parent(how: signal.Signals, tmp_path: Path) -> None:
    parent = subprocess.Popen(
        [sys.executable, "-m", "strobe", "bench", "run", "own/micro/test/Hangs", "--file", str(OWN), "-q"],
        env={**os.environ, "TMPDIR": str(tmp_path), "STROBE_HOME": str(tmp_path / "home")},
        stdout=subprocess.DEVNULL,
    )
    try:
        _wait_until(lambda: bool(_workers_of(tmp_path)))
        parent.send_signal(how)
        parent.wait(60)
        _wait_until(lambda: not _workers_of(tmp_path))
    finally:
        parent.kill()
        parent.wait()


def _wait_until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.05)
