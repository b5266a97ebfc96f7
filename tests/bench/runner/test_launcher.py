"""A launcher around the runner: its variables do not reach workers, and several of us at once are refused."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from strobe.bench.runner.launcher import without_launcher
from strobe.cli import OK, USAGE, main
from tests.bench.known_peaks import know_peaks
from tests.cli.test_bench_suite import QUICK

#: what torchrun told a process of two
TORCHRUN = {
    "RANK": "1", "LOCAL_RANK": "1", "WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "2", "GROUP_RANK": "0", "ROLE_RANK": "1",
    "ROLE_NAME": "default", "GROUP_WORLD_SIZE": "1", "ROLE_WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1",
    "MASTER_PORT": "29500", "TORCHELASTIC_RUN_ID": "none", "TORCHELASTIC_USE_AGENT_STORE": "True",
    "TORCHELASTIC_RESTART_COUNT": "0", "TORCHELASTIC_MAX_RESTARTS": "0", "TORCHELASTIC_ERROR_FILE": "/tmp/error.json",
}  # fmt: skip


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STROBE_HOME", str(tmp_path))
    know_peaks(tmp_path)


def test_only_what_a_launcher_says_is_left_out() -> None:
    assert without_launcher({**TORCHRUN, "PATH": "/bin", "CUDA_VISIBLE_DEVICES": "1", "TORCH_LOGS": "dynamo"}) == {
        "PATH": "/bin",
        "CUDA_VISIBLE_DEVICES": "1",
        "TORCH_LOGS": "dynamo",
    }


def test_several_at_once_are_refused(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    for name, value in TORCHRUN.items():
        monkeypatch.setenv(name, value)
    assert main(["bench", "run", "own/micro/test/Plain", *QUICK]) == USAGE
    said = capsys.readouterr().err
    assert "torchrun started this 2 times" in said
    assert "`strobe bench run …` without torchrun" in said
    # One process disturbs nobody.
    monkeypatch.setenv("WORLD_SIZE", "1")
    monkeypatch.setenv("RANK", "0")
    assert main(["bench", "run", "own/micro/test/Plain", "--no-track", *QUICK]) == OK


@pytest.mark.slow
@pytest.mark.frameworks
def test_workers_find_each_other_below_torchrun(tmp_path: Path) -> None:
    """As one of torchrun's processes, rank 0 would be a client of the store that torchrun opened for its own."""
    row = ["dlrm/micro/all_reduce/2dev-22372B", "--repeats", "1", "--seconds", "0.05", "--timeout", "60", "--no-track"]
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=1"]
    done = subprocess.run(
        [*torchrun, "-m", "strobe", "bench", "run", *row],
        capture_output=True,
        text=True,
        timeout=110,
    )
    assert done.returncode == OK, done.stdout + done.stderr
