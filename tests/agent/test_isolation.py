"""Starting an agent from awkward places, and what the starting process notices of it: nothing."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
import zipfile
from pathlib import Path
from typing import Any

import msgspec
import psutil
import pytest

import strobe
from strobe.home import Home, RunPath

from .scene import agent_pids, rows_of, serving_pid, wait_for

TRAINER = Path(__file__).with_name("trainer.py")
BASE_PYTHON = getattr(sys, "_base_executable", sys.executable)
pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def _short_lives(monkeypatch: pytest.MonkeyPatch, home: Home, stop_agents: list[Home]) -> None:
    monkeypatch.setenv("STROBE_AGENT_IDLE_S", "30")
    stop_agents.append(home)


def _package(module: Any) -> Path:
    return Path(module.__file__).parent


def _run(command: list[str], **options: Any) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=30, **options)
    assert done.returncode == 0, done.stderr
    return str(done.stdout)


def _has_sampled(home: Home) -> bool:
    return bool(rows_of(home.run_dir(RunPath("local", "p", "run-aaaaaaaa"))))


def test_modules_that_shadow_the_standard_library(home: Home, tmp_path: Path) -> None:
    beside, on_path = tmp_path / "beside", tmp_path / "on_path"
    for directory in (beside, on_path):
        directory.mkdir()
        for name in ("random", "select", "traceback", "psutil"):
            (directory / f"{name}.py").write_text("raise SystemExit('shadowed')\n")
    shutil.copy(TRAINER, beside / "train.py")
    environment = os.environ | {"PYTHONPATH": str(on_path)}
    _run([sys.executable, "train.py", str(home.path), "2.5"], cwd=beside, env=environment)
    assert serving_pid(home)
    assert _has_sampled(home)


def test_strobe_found_through_pythonpath_only(home: Home, tmp_path: Path) -> None:
    places = []
    for module in (strobe, msgspec, psutil):
        place = tmp_path / f"only-{module.__name__}"
        place.mkdir()
        (place / module.__name__).symlink_to(_package(module))
        places.append(str(place))
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(places)}
    _run([BASE_PYTHON, "-S", str(TRAINER), str(home.path), "2.5"], env=environment, cwd=tmp_path)
    assert serving_pid(home)
    assert _has_sampled(home)


def test_strobe_in_a_zipapp(home: Home, tmp_path: Path) -> None:
    libraries = tmp_path / "lib"
    libraries.mkdir()
    for module in (msgspec, psutil):
        (libraries / module.__name__).symlink_to(_package(module))
    with zipfile.ZipFile(tmp_path / "app.pyz", "w") as app:
        app.write(TRAINER, "__main__.py")
        for path in sorted(_package(strobe).rglob("*.py")):
            app.write(path, f"strobe/{path.relative_to(_package(strobe))}")
    environment = os.environ | {"PYTHONPATH": str(libraries)}
    _run([BASE_PYTHON, "-S", "app.pyz", str(home.path), "2.5"], env=environment, cwd=tmp_path)
    assert serving_pid(home)
    assert _has_sampled(home)


def test_an_interpreter_on_a_slow_file_system_delays_nobody(home: Home, tmp_path: Path) -> None:
    slow = tmp_path / "python3"
    slow.write_text(f'#!/bin/sh\nsleep 2\nexec "{sys.executable}" "$@"\n')
    slow.chmod(0o755)
    program = f"import sys; sys.executable = {str(slow)!r}; sys.path.insert(0, {str(TRAINER.parent)!r})\n"
    program += "import trainer; trainer.main(*sys.argv[1:])"
    begun = time.monotonic()
    ready, took, problem = _run([sys.executable, "-c", program, str(home.path), "0.1"]).split()
    assert time.monotonic() - begun < 2.0, "the process and its pipes ended before the agent was up"
    assert (ready, problem) == ("ready", "-")
    assert float(took) < 0.5
    assert serving_pid(home) == 0
    wait_for(lambda: serving_pid(home))


def test_captured_output_ends_with_the_script(home: Home) -> None:
    """A pipe to the agent would keep `subprocess.run(..., capture_output=True)` waiting for as long as it lives."""
    reader, writer = os.pipe()
    os.set_inheritable(writer, True)
    _run([sys.executable, str(TRAINER), str(home.path), "0"], pass_fds=[writer])
    os.close(writer)
    assert os.read(reader, 1) == b"", "nor may another inherited pipe be held, such as make's job server"
    os.close(reader)
    pid = int(wait_for(lambda: serving_pid(home)))
    held = {os.readlink(f"/proc/{pid}/fd/{fd}") for fd in ("0", "1", "2")}
    assert held == {"/dev/null", str(next(home.agent.glob("*.log")))}
    assert os.readlink(f"/proc/{pid}/cwd") == "/"


_LOOKING_FOR_CHILDREN = """
import os, sys, time
from pathlib import Path
from strobe.agent import launch, spawn
from strobe.home import Home
if sys.argv[2] == "no shell":
    spawn.has_shell = lambda: False
launch.ensure(Home(Path(sys.argv[1])), version="0.1.0")
assert launch.problem() is None, launch.problem()
if sys.argv[2] == "no shell":
    time.sleep(1)
try:
    print("child", os.wait())
except ChildProcessError:
    print("no child")
"""


@pytest.mark.parametrize("way", ["shell", "no shell"])
def test_the_user_process_has_no_child_of_ours(way: str, home: Home) -> None:
    assert _run([sys.executable, "-c", _LOOKING_FOR_CHILDREN, str(home.path), way]) == "no child\n"
    pid = int(wait_for(lambda: serving_pid(home)))
    assert os.getsid(pid) != os.getsid(0)


def test_ignored_and_blocked_signals_are_not_passed_on(home: Home) -> None:
    program = (
        "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); signal.signal(signal.SIGCHLD, signal.SIG_IGN)\n"
    )
    program += "signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM, signal.SIGHUP])\n"
    program += _LOOKING_FOR_CHILDREN
    assert _run([sys.executable, "-c", program, str(home.path), "shell"]) == "no child\n"
    pid = int(wait_for(lambda: serving_pid(home)))
    os.kill(pid, 15)
    wait_for(lambda: not agent_pids(home), timeout_s=5)


def test_a_broken_interpreter_leaves_its_words(home: Home, tmp_path: Path) -> None:
    from strobe.agent.lifecycle import status

    broken = tmp_path / "python3"
    broken.write_text("#!/bin/sh\necho 'libpython is missing' >&2\nexit 127\n")
    broken.chmod(0o755)
    program = f"import sys; sys.executable = {str(broken)!r}\n{_LOOKING_FOR_CHILDREN}"
    assert _run([sys.executable, "-c", program, str(home.path), "shell"]) == "no child\n"
    wait_for(lambda: status(home).problem == "libpython is missing")
