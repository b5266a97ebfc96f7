"""The harness on a real model: the row is right, and torch's own timer sees the same."""

from __future__ import annotations

import math
import time

import pytest

pytest.importorskip("torch")

from strobe.bench import registry, stats
from strobe.bench.runner.loop import Loop
from strobe.bench.runner.options import Cell, Options
from strobe.bench.runner.session import measure
from strobe.bench.spec import load_workload
from strobe.bench.workloads.dlrm import model

KEY = "dlrm/ootb/inference/tiny-100k"
BATCH = 64


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_model_of_the_smoke_tier() -> None:
    (record,) = measure([Cell(registry.find_one(KEY), BATCH)], Options(repeats=1, seconds=0.2)).records
    assert record.error is None
    assert record.correctness is not None
    assert record.correctness.is_correct
    assert record.samples[0] > 0
    assert record.latency is not None
    assert {"torch", "torch_build", "numpy"} <= set(record.environment.software)
    assert record.work is not None
    assert record.work.examples == BATCH
    rows = model.CONFIGS["tiny-100k"]
    assert record.repeats[0].peak_rss_bytes > rows.num_tables * rows.num_rows * rows.width * 4


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_torchs_own_timer_agrees() -> None:
    """Our loop and torch's timer take turns on one model, so that both see the same machine.

    By the clock on the wall, which others disturb, the bounds are what they are; in CPU time they have to be narrow, so
    that "agrees" says something.
    """
    from torch.utils.benchmark import Timer

    workload = load_workload(registry.find_one(KEY))
    workload.setup(BATCH, 0, "cpu", 1)
    loop = Loop(workload.step)
    warm = loop.warm_up()
    steps = iter(range(10**9))
    names = {"step": workload.step, "steps": steps}
    wall, cpu = (
        Timer("step(next(steps))", globals=names, num_threads=1, timer=clock)
        for clock in (time.perf_counter, time.process_time)
    )
    ours: dict[str, list[float]] = {"wall": [], "cpu": []}
    theirs: dict[str, list[float]] = {"wall": [], "cpu": []}
    for _ in range(8):
        samples = loop.measure(warm, 0.3)
        ours["wall"].append(stats.median(samples.wall_s))
        ours["cpu"].append(stats.median(samples.cpu_s))
        theirs["wall"].append(float(wall.blocked_autorange(min_run_time=0.3).median))
        theirs["cpu"].append(float(cpu.blocked_autorange(min_run_time=0.3).median))
    for name, widest in (("wall", math.inf), ("cpu", 0.3)):
        found = stats.ratio(ours[name], theirs[name])
        assert found.low is not None
        assert found.high is not None
        # Bounds of 95 % miss the truth in one of twenty runs of this test; a hundredth more on either side makes that
        # rare.
        assert found.low <= 1.01, name
        assert found.high >= 0.99, name
        assert found.high - found.low < widest, name


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_two_processes_joined_by_gloo() -> None:
    cell = Cell(registry.find_one("dlrm/micro/all_reduce/2dev-22372B"), 1)
    (record,) = measure([cell], Options(repeats=1, seconds=0.05)).records
    assert record.error is None
    assert record.devices == 2
    assert record.correctness is not None
    assert record.correctness.is_correct
    assert record.samples[0] > 0
