"""Containers and read-only mounts, with the kernel's own means; skipped where those may not be used."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from strobe._version import __version__
from strobe.agent import launch
from strobe.home import Home, RunPath

from .scene import agent_pids, events_of, serving_pid, wait_for

TRAINER = Path(__file__).with_name("trainer.py")


def _may_unshare() -> bool:
    unshare = shutil.which("unshare")
    return bool(unshare) and subprocess.run(["unshare", "-pmf", "true"], capture_output=True).returncode == 0


pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not _may_unshare(), reason="needs unshare(1) and the right to make namespaces"),
]


def test_a_run_in_another_container_is_not_judged(
    home: Home, stop_agents: list[Home], monkeypatch: pytest.MonkeyPatch
) -> None:
    stop_agents.append(home)
    monkeypatch.setenv("STROBE_AGENT_IDLE_S", "0.5")
    container = ["unshare", "--pid", "--mount-proc", "--fork", sys.executable, str(TRAINER), str(home.path), "1"]
    done = subprocess.run(container, capture_output=True, text=True, timeout=30)
    assert done.stdout.startswith("ready "), done.stderr
    wait_for(lambda: not agent_pids(home))  # its agent ends with the container
    (inside,) = home.agent.glob("*.log")
    launch.ensure(home, version=__version__)
    wait_for(lambda: serving_pid(home))
    wait_for(lambda: not agent_pids(home))
    assert len(list(home.agent.glob("*.log"))) == 2, f"a seat of its own, beside {inside.name}"
    assert (home.active / "aaaaaaaa.json").exists()
    assert events_of(home.run_dir(RunPath("local", "p", "run-aaaaaaaa"))) == []


def test_a_read_only_mount_is_a_reason(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from strobe.agent import launch; from strobe.home import Home\n"
        "from strobe.agent.lifecycle import status; home = Home(Path(sys.argv[1]) / 'home')\n"
        "launch.ensure(home, version='0.1.0'); print(launch.problem()); print(status(home).problem)"
    )
    script = 'mount -t tmpfs -o ro none "$1" && exec "$2" -c "$3" "$1"'
    command = ["unshare", "-m", "sh", "-c", script, "sh", str(tmp_path), sys.executable, program]
    done = subprocess.run(command, capture_output=True, text=True, timeout=30)
    assert done.returncode == 0, done.stderr
    problem, found = done.stdout.splitlines()
    assert problem.startswith(f"no agent for {tmp_path}/home: ")
    assert "Read-only file system" in problem
    assert found == f"{tmp_path} cannot be written to: Read-only file system"
