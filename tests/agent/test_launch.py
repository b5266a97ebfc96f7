"""`ensure()` in this process: whom it starts, whom it leaves alone, and what it says when it cannot."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from strobe import identity
from strobe.agent import launch, spawn
from strobe.agent.lifecycle import status, stop
from strobe.agent.seat import Seat, State
from strobe.home import Home


@pytest.fixture
def spawned(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    calls: list[Any] = []
    monkeypatch.setattr(spawn, "spawn_detached", lambda *arguments, **options: calls.append((arguments, options)))
    return calls


def _sit(home: Home, version: str, pid: int | None = None) -> None:
    home.agent.mkdir(parents=True, exist_ok=True)
    pid = os.getpid() if pid is None else pid
    Seat(home).write_state(
        State(
            pid=pid,
            pid_started=identity.process_started(os.getpid()) or 0.0,
            version=version,
            host=identity.host_id(),
            boot_id=identity.boot_id(),
            pid_namespace=identity.pid_namespace(),
        )
    )


def test_the_first_starts_one_the_next_sees_that_it_is_starting(home: Home, spawned: list[Any]) -> None:
    for _ in range(3):
        launch.ensure(home, version="1.0")
    assert len(spawned) == 1
    assert launch.problem() is None


@pytest.mark.parametrize(("version", "starts"), [("1.0", 0), ("0.9", 0), ("1.1", 1)], ids=["same", "older", "newer"])
def test_a_living_agent_yields_to_a_newer_version_only(
    version: str, starts: int, home: Home, spawned: list[Any]
) -> None:
    _sit(home, "1.0")
    launch.ensure(home, version=version)
    assert len(spawned) == starts


def test_a_dead_agent_is_replaced(home: Home, spawned: list[Any]) -> None:
    _sit(home, "1.0", pid=2**22 + 1)
    launch.ensure(home, version="1.0")
    assert len(spawned) == 1


def test_a_relative_home_is_made_absolute(
    home: Home, spawned: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    launch.ensure(Home(Path("home")), version="1.0")
    ((command, _), _) = spawned[0]
    assert str(home.path) in command


def test_a_failed_spawn_is_remembered_and_does_not_block_the_next(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: Any, **options: Any) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(spawn, "spawn_detached", fail)
    launch.ensure(home, version="1.0")
    assert "Permission denied" in (launch.problem() or "")
    assert Seat(home).claim_start()
    assert "Permission denied" in (status(home).problem or "")


@pytest.mark.parametrize("place", ["file/home", "/proc/strobe-home"])
def test_a_home_that_cannot_be_written_is_a_reason(place: str, tmp_path: Path, spawned: list[Any]) -> None:
    (tmp_path / "file").touch()
    home = Home(tmp_path / place)
    launch.ensure(home, version="1.0")
    assert spawned == []
    assert str(home.path) in (launch.problem() or "")
    assert "cannot be written to" in (status(home).problem or "")


def test_status_and_stop_without_an_agent(home: Home) -> None:
    found = status(home)
    assert not found.running
    assert found.problem is None
    assert stop(home)


def test_status_tells_the_last_words_of_an_agent_that_died(home: Home) -> None:
    _sit(home, "1.0", pid=2**22 + 1)
    Path(Seat(home).log_path).write_text("2026-01-01 00:00:00 1 served\n\n")
    assert "2026-01-01 00:00:00 1 served" in (status(home).problem or "")


def test_status_of_a_living_agent(home: Home) -> None:
    _sit(home, "1.0")
    found = status(home)
    assert (found.running, found.pid, found.version, found.problem) == (True, os.getpid(), "1.0", None)


def _modules_after(statement: str) -> set[str]:
    program = f"import sys; before = set(sys.modules); {statement}; print(*sorted(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=30, check=True)
    return set(done.stdout.split())


@pytest.mark.slow
def test_init_imports_nothing_heavy_for_it() -> None:
    loaded = _modules_after("import strobe.agent.launch, strobe.agent.command, strobe.agent.spawn")
    assert loaded.isdisjoint(
        {"subprocess", "psutil", "numpy", "asyncio", "logging", "json", "signal", "fcntl", "hashlib"}
    )


@pytest.mark.slow
def test_the_agent_stays_small() -> None:
    loaded = _modules_after("import strobe.agent.main")
    assert loaded.isdisjoint({"numpy", "asyncio", "logging", "httpx", "argparse", "multiprocessing"})
