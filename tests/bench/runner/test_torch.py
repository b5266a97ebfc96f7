"""The harness on a real model: the row is right, and torch's own timer sees the same."""

from __future__ import annotations

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
    """Our loop and torch's timer take turns on one model, so that both see the same machine."""
    from torch.utils.benchmark import Timer

    workload = load_workload(registry.find_one(KEY))
    workload.setup(BATCH, 0, "cpu", 1)
    loop = Loop(workload.step)
    warm = loop.warm_up()
    steps = iter(range(10**9))
    timer = Timer("step(next(steps))", globals={"step": workload.step, "steps": steps}, num_threads=1)
    ours: list[float] = []
    theirs: list[float] = []
    for _ in range(8):
        ours.append(stats.median(loop.measure(warm, 0.3).wall_s))
        theirs.append(float(timer.blocked_autorange(min_run_time=0.3).median))
    found = stats.ratio(ours, theirs)
    assert found.low is not None
    assert found.high is not None
    # Bounds of 95 % miss the truth in one of twenty runs of this test; a hundredth more on either side makes that rare.
    assert found.low <= 1.01
    assert found.high >= 0.99


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
