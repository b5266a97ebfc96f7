"""Several processes: collectives and training on parts give what one process gives on the whole."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from strobe.bench.workload import Workload
from strobe.bench.workloads.distributed import DdpTraining
from strobe.bench.workloads.dlrm.model_parallel import ModelParallelTraining
from strobe.bench.workloads.group import Group
from strobe.bench.workloads.micro.collectives import collective
from strobe.errors import Error
from tests.bench.workloads import tiny

pytestmark = pytest.mark.frameworks


def make(name: str) -> Workload:
    """Make a workload; also what the processes of the tests below call."""
    made: dict[str, Workload] = {
        "all_reduce": collective("all_reduce", 4000),
        "all_to_all": collective("all_to_all", 4000),
        "ddp": DdpTraining(tiny.REGNET, 1e-2),
        "model-parallel": ModelParallelTraining(tiny.DLRM, 1e-2),
    }
    return made[name]


_PROCESS = """
import os, sys, torch
from tests.bench.workloads.test_distributed import make
for name in sys.argv[1:]:
    workload = make(name)
    workload.setup(8, seed=5, device="cpu", threads=1)
    outputs = [workload.step(index).clone() for index in range(3)]
    for index in range(3, 20):  # rows are checked when they are measured
        workload.step(index)
    verdict = workload.check(outputs[2], workload.reference(2))
    assert verdict.is_correct, (name, verdict)
    assert not workload.check(outputs[2] * 1.5, workload.reference(2)).is_correct, name
    print(name, workload.work().examples, workload.work().bytes)
torch.distributed.destroy_process_group()
sys.stdout.flush()
os._exit(0)  # once in many runs, threads of gloo abort a process that ends by itself
"""


def _run(size: int, names: list[str]) -> list[str]:
    """Run as many processes as torchrun would; give what each prints."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    shared = {**os.environ, "WORLD_SIZE": str(size), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", _PROCESS, *names],
            env={**shared, "RANK": str(rank)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(size)
    ]
    try:
        results = [process.communicate(timeout=100) for process in processes]
    finally:
        for process in processes:
            process.kill()
    assert [process.returncode for process in processes] == [0] * size, results[0][1] + results[-1][1]
    return [stdout for stdout, _ in results]


NAMES = ["all_reduce", "all_to_all", "ddp", "model-parallel"]


def test_one_process_is_a_group_of_its_own() -> None:
    (printed,) = _run(1, NAMES)
    # Alone, nothing crosses a link.
    assert printed.splitlines()[:2] == ["all_reduce 1 0.0", "all_to_all 1 0.0"]


@pytest.mark.slow
def test_two_processes_give_what_one_gives() -> None:
    printed = _run(2, NAMES)
    assert printed[0] == printed[1]
    lines = printed[0].splitlines()
    assert lines[:2] == ["all_reduce 1 4000.0", "all_to_all 1 2000.0"]
    # The batch is that of both together.
    assert [line.split()[1] for line in lines[2:]] == ["8.0", "8.0"]


@pytest.mark.slow
def test_torchrun_itself_runs_ddp_and_model_parallel_tables(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(_PROCESS)
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    done = subprocess.run(
        [*command, "--redirects=1", f"--log-dir={tmp_path / 'logs'}", str(script), "ddp", "model-parallel"],
        env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        timeout=110,
    )
    assert done.returncode == 0, done.stderr
    printed = [path.read_text() for path in sorted((tmp_path / "logs").rglob("stdout.log"))]
    assert len(printed) == 2
    assert printed[0] == printed[1]
    assert [line.split()[:2] for line in printed[0].splitlines()] == [["ddp", "8.0"], ["model-parallel", "8.0"]]


@pytest.mark.slow
def test_three_processes_share_what_does_not_divide_evenly() -> None:
    _run(3, ["all_reduce", "all_to_all"])


def test_tables_are_dealt_out_evenly_and_batches_must_be() -> None:
    group = Group(rank=1, size=3)
    assert group.spread(8) == [range(2), range(2, 5), range(5, 8)]
    assert group.share(9) == 3
    with pytest.raises(Error, match="a batch of 8 cannot be shared evenly by 3 processes"):
        group.share(8)
