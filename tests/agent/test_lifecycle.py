"""The agent's life with real processes: one at a time, gone when idle, back after a crash."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from strobe import identity
from strobe._version import __version__
from strobe.agent import launch
from strobe.agent.lifecycle import status, stop, take_seat
from strobe.agent.seat import Seat, State
from strobe.home import Home, RunPath
from strobe.journal import Replay, event

from .scene import MakeEntry, agent_pids, events_of, rows_of, serving_pid, wait_for

TRAINER = Path(__file__).with_name("trainer.py")
pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def _short_lives(monkeypatch: pytest.MonkeyPatch, home: Home, stop_agents: list[Home]) -> None:
    monkeypatch.setenv("STROBE_AGENT_IDLE_S", "30")
    stop_agents.append(home)


@pytest.fixture
def trainers() -> Iterator[list[subprocess.Popen[str]]]:
    """Processes put in this list are ended with the test."""
    running: list[subprocess.Popen[str]] = []
    yield running
    for process in running:
        process.kill()
        process.communicate()


def _train(
    home: Home, trainers: list[subprocess.Popen[str]], seconds: float, writer: str = "aaaaaaaa"
) -> subprocess.Popen[str]:
    command = [sys.executable, str(TRAINER), str(home.path), str(seconds), writer]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    trainers.append(process)
    assert process.stdout is not None
    assert process.stdout.readline().startswith("ready ")
    return process


def _started(home: Home) -> int:
    launch.ensure(home, version=__version__)
    return int(wait_for(lambda: serving_pid(home)))


def test_one_agent_serves_all_and_says_so(home: Home) -> None:
    pid = _started(home)
    launch.ensure(home, version=__version__)
    time.sleep(0.2)
    assert agent_pids(home) == [pid]
    found = status(home)
    assert (found.running, found.pid, found.version) == (True, pid, __version__)
    assert stop(home)
    assert serving_pid(home) == 0
    assert "stepped down: signal 15" in Path(found.log).read_text()


def test_gone_when_idle_and_only_the_log_is_left(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STROBE_AGENT_IDLE_S", "0.3")
    _started(home)
    wait_for(lambda: not agent_pids(home))
    assert [path.suffix for path in home.agent.iterdir()] == [".log"]


def test_a_run_keeps_it_from_retiring(home: Home, make_entry: MakeEntry, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STROBE_AGENT_IDLE_S", "0.3")
    make_entry(stats_interval_s=0.2)
    pid = _started(home)
    time.sleep(1.5)
    assert serving_pid(home) == pid
    (home.active / "aaaaaaaa.json").unlink()
    wait_for(lambda: not agent_pids(home))


def test_killed_training_is_crashed_and_has_system_metrics(home: Home, trainers: list[subprocess.Popen[str]]) -> None:
    trainer = _train(home, trainers, 30)
    run_dir = home.run_dir(RunPath("local", "p", "run-aaaaaaaa"))
    wait_for(lambda: rows_of(run_dir))
    trainer.kill()
    wait_for(lambda: not list(home.active.glob("*.json")))
    replay = Replay(run_dir)
    replay.refresh()
    assert replay.state == "crashed"
    assert replay.damages == []
    assert next(iter(rows_of(run_dir)))["system.proc.count"] >= 1


def test_a_killed_agent_is_replaced_and_its_work_taken_up(home: Home, trainers: list[subprocess.Popen[str]]) -> None:
    trainer = _train(home, trainers, 30)
    first = int(wait_for(lambda: serving_pid(home)))
    trainer.send_signal(signal.SIGSTOP)  # it would start the next agent
    os.kill(first, signal.SIGKILL)
    # A process that is being killed has no memory, and so no command line, before it counts as dead.
    wait_for(lambda: not agent_pids(home) and "died without leaving" in (status(home).problem or ""))
    trainer.kill()
    trainer.wait()
    assert list(home.active.glob("*.json"))
    second = _started(home)
    assert second != first
    # Seen a moment before it was dead, the trainer is looked at again after ten seconds.
    wait_for(lambda: not list(home.active.glob("*.json")), timeout_s=45)
    replay = Replay(home.run_dir(RunPath("local", "p", "run-aaaaaaaa")))
    replay.refresh()
    assert replay.state == "crashed"


def test_a_run_is_described_once_even_by_two_agents(home: Home, make_entry: MakeEntry) -> None:
    entry = make_entry(describe=True, cwd=str(TRAINER.parent), argv=["train.py", "--lr", "1"], sys_path=sys.path)
    _started(home)
    wait_for(lambda: events_of(entry.run))
    (found,) = events_of(entry.run)
    assert isinstance(found, event.Attributes)
    assert found.changes["args"] == ["--lr", "1"]
    os.kill(serving_pid(home), signal.SIGKILL)
    wait_for(lambda: not agent_pids(home))
    _started(home)
    time.sleep(0.5)
    assert len(events_of(entry.run)) == 1


def test_two_homes_two_agents(home: Home, tmp_path: Path, stop_agents: list[Home]) -> None:
    other = Home(tmp_path / "other")
    stop_agents.append(other)
    assert _started(home) != _started(other)
    assert stop(home)
    assert serving_pid(other)


def test_many_at_once_start_one(home: Home) -> None:
    program = (
        "import sys, time; from pathlib import Path; from strobe.agent import launch; from strobe.home import Home\n"
        "home = Home(Path(sys.argv[1])); sys.stdin.read(); launch.ensure(home, version='0.1.0')"
    )
    starters = [
        subprocess.Popen([sys.executable, "-c", program, str(home.path)], stdin=subprocess.PIPE) for _ in range(8)
    ]
    for starter in starters:
        assert starter.stdin is not None
        starter.stdin.close()
    for starter in starters:
        assert starter.wait(30) == 0
    wait_for(lambda: serving_pid(home))
    wait_for(lambda: len(agent_pids(home)) == 1)
    time.sleep(0.3)
    assert agent_pids(home) == [serving_pid(home)]


def test_a_newer_version_takes_over_and_an_older_one_does_not(
    home: Home, trainers: list[subprocess.Popen[str]]
) -> None:
    program = (
        "import sys; from pathlib import Path; from strobe.agent.main import serve; from strobe.agent.log import Log\n"
        "from strobe.agent.seat import Seat; from strobe.home import Home\n"
        "seat = Seat(Home(Path(sys.argv[1]))); sys.exit(serve(seat, Log(None), idle_s=30, version=sys.argv[2]))"
    )
    old = subprocess.Popen([sys.executable, "-c", program, str(home.path), "0.0.9"], text=True, stderr=subprocess.PIPE)
    trainers.append(old)
    wait_for(lambda: serving_pid(home) == old.pid)
    launch.ensure(home, version=__version__)
    wait_for(lambda: serving_pid(home) not in {0, old.pid})
    assert old.wait(10) == 0
    assert old.stderr is not None
    assert "stepped down: signal 15" in old.stderr.read()
    new = serving_pid(home)
    older = subprocess.run([sys.executable, "-c", program, str(home.path), "0.0.8"], timeout=20)
    assert older.returncode == 0
    assert serving_pid(home) == new


def test_an_agent_that_does_not_hear_is_ended(home: Home, trainers: list[subprocess.Popen[str]]) -> None:
    program = (
        "import signal, sys, time; from pathlib import Path; from strobe.agent.lifecycle import take_seat\n"
        "from strobe.agent.seat import Seat; from strobe.home import Home\n"
        "tenure = take_seat(Seat(Home(Path(sys.argv[1]))), '0.0.9'); signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "print('deaf', flush=True); time.sleep(60)"
    )
    home.agent.mkdir(parents=True)
    deaf = subprocess.Popen([sys.executable, "-c", program, str(home.path)], text=True, stdout=subprocess.PIPE)
    trainers.append(deaf)
    assert deaf.stdout is not None
    assert deaf.stdout.readline() == "deaf\n"
    tenure = take_seat(Seat(home), "0.1.0", patience_s=0.5)
    assert tenure is not None
    assert deaf.wait(10) == -signal.SIGKILL
    tenure.leave()


def test_an_entry_that_comes_while_retiring_is_not_missed(home: Home) -> None:
    home.agent.mkdir(parents=True)
    tenure = take_seat(Seat(home), "0.1.0")
    assert tenure is not None

    def has_work() -> bool:
        assert Seat(home).read_state() is None, "the state goes before the last look"
        return True

    assert not tenure.retire(has_work)
    assert Seat(home).read_state() == tenure.state
    assert tenure.retire(lambda: False)
    assert not tenure.is_valid()


def test_what_earlier_boots_left_is_tidied_up_and_others_are_not(home: Home) -> None:
    home.agent.mkdir(parents=True)
    for name, host, boot in (("old", identity.host_id(), "before"), ("far", "elsewhere", "other")):
        state = State(pid=1, pid_started=1.0, version="1", host=host, boot_id=boot)
        (home.agent / f"{name}.json").write_bytes(msgspec.json.encode(state))
        (home.agent / f"{name}.lock").touch()
    for name, age_s in (("ancient.log", 30 * 86400), ("recent.log", 3600)):
        (home.agent / name).touch()
        os.utime(home.agent / name, (time.time() - age_s, time.time() - age_s))
    tenure = take_seat(Seat(home), "0.1.0")
    assert tenure is not None
    tenure.leave()
    assert sorted(os.listdir(home.agent)) == ["far.json", "far.lock", "recent.log"]


def test_without_its_lock_file_it_steps_down(home: Home, make_entry: MakeEntry) -> None:
    make_entry(stats_interval_s=0.2)
    first = _started(home)
    shutil.rmtree(home.agent)
    wait_for(lambda: first not in agent_pids(home))
    assert _started(home) != first


def test_foreground(home: Home) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "strobe.agent", "--home", str(home.path), "--idle", "0.1"],
        capture_output=True,
        text=True,
        timeout=30,
    )
    assert done.returncode == 0
    assert "agent serves" in done.stderr
    assert "retired: idle" in done.stderr


def test_foreground_in_a_place_that_cannot_be_written() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "strobe.agent", "--home", "/proc/strobe-home"],
        capture_output=True,
        text=True,
        timeout=30,
    )
    assert done.returncode == 1
    assert "no agent for /proc/strobe-home" in done.stderr


def test_entries_of_other_machines_neither_hold_it_nor_are_judged(
    home: Home, make_entry: MakeEntry, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STROBE_AGENT_IDLE_S", "0.3")
    make_entry(host="elsewhere", pid=2**22 + 1)
    _started(home)
    wait_for(lambda: not agent_pids(home))
    assert (home.active / "aaaaaaaa.json").exists()


def test_an_earlier_boot_is_judged(home: Home, make_entry: MakeEntry) -> None:
    assert identity.boot_id()
    make_entry(boot_id="before")
    _started(home)
    wait_for(lambda: not list(home.active.glob("*.json")))
