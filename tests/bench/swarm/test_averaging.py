"""`strobe bench swarm averaging`: hivemind's parameters and lines, and a small run of our own."""

from __future__ import annotations

from typing import Any

import pytest

from strobe.bench.swarm import averaging, benchmark
from strobe.bench.swarm.benchmark import Case
from strobe.bench.swarm.event import Progress
from strobe.bench.swarm.program import Phase
from strobe.bench.swarm.subject import STROBE
from strobe.errors import UsageError


def test_lines_are_those_of_hivemind() -> None:
    lines: list[str] = []
    listener = averaging.Lines(lines.append)
    listener.progress(Progress("work", 1, 80, {"peer": 3, "step": 0, "is_good": 1}))
    listener.progress(Progress("work", 2, 80, {"peer": 12, "step": 4, "is_good": 0}))
    listener.ended(Phase("create", 1.0, 1.0, 0, {}))
    listener.ended(Phase("work", 41.23456, 1.0, 0, {"good": 79, "count": 80}))
    assert lines == [
        "Averager 3: finished step #0",
        "Averager 12: failed step #4",
        "Benchmark finished in 41.235 seconds.",
        "Success rate: 0.9875 (79 out of 80 attempts)",
    ]


def test_parameters_are_those_of_hivemind() -> None:
    job = averaging.Job()
    assert (job.num_peers, job.target_group_size, job.num_rounds, job.hid_size, job.num_layers) == (16, 4, 5, 256, 3)
    assert (job.min_matchmaking_time, job.round_timeout, job.request_timeout, job.spawn_dtime) == (5.0, 15.0, 1.0, 0.1)
    assert benchmark.command_of("averaging", averaging.Job(num_peers=8, plain=True)) == (
        "strobe bench swarm averaging --num_peers 8 --plain"
    )


@pytest.mark.parametrize("wrong", [{"num_peers": 3}, {"target_group_size": 1}, {"num_rounds": 0}, {"round_timeout": 0}])
def test_what_cannot_be_measured_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=f"--{'target_group_size' if 'num_peers' in wrong else next(iter(wrong))}"):
        averaging.Job(**wrong)


@pytest.mark.slow
@pytest.mark.frameworks
def test_a_small_run_of_ours() -> None:
    lines: list[str] = []
    job = averaging.Job(num_peers=4, target_group_size=2, num_rounds=2, hid_size=8, num_layers=1, request_timeout=20.0)
    case = Case("test", job, job.variant, lambda: averaging.Lines(lines.append))
    records = benchmark.run("averaging", case, averaging.METRICS, [STROBE], timeout_s=100)
    found = {record.metric: record for record in records}
    assert [record.error for record in records if record.error] == []
    assert found.keys() == {metric.name for metric in averaging.METRICS}
    assert found["success"].samples[0] > 0
    assert found["spread"].samples[0] < 1
    assert found["step"].config == "peers4-of-2-rounds2-tensors1x8-encrypted"
    assert len(lines) == 4 * 2 + 2
