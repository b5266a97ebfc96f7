"""`strobe sync`: what it takes, what it says, how it exits."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable

import pytest

from strobe.home import Home, RunPath
from strobe.journal import Header, Writer, event
from strobe.remote.marker import Markers
from tests.agent.scene import wait_for
from tests.agent.upload.journal import mark
from tests.remote.conftest import make_server, server
from tests.remote.small_server import SmallServer, fails
from tests.sdk.scripts import environment

from .conftest import Strobe

__all__ = ["make_server", "server"]


def record(home: Home, run_id: str, *, ends: bool = True, values: int = 3) -> None:
    run_dir = home.run_dir(RunPath("local", "p", run_id))
    journal = Writer(run_dir.journal, Header(entity="local", project="p", run=run_id, writer=f"w{run_id}"))
    journal.event(event.Started(time_ns=time.time_ns()))
    for step in range(values):
        journal.row({"loss": float(step)}, step)
    if ends:
        journal.close(event.Ended(time_ns=time.time_ns(), state="finished"))


def test_nothing_to_do(strobe: Strobe, home: Home) -> None:
    record(home, "r1")
    result = strobe("sync")
    assert (result.code, result.out) == (0, "")
    assert "nothing waits to be uploaded" in result.err


def test_a_run_by_its_directory(strobe: Strobe, home: Home, server: SmallServer) -> None:
    record(home, "r1")
    result = strobe("sync", str(home.runs / "local" / "p" / "r1"), "--host", server.url)
    assert result.code == 0, result.err
    assert result.lines == [f"synced      local/p/r1  {server.url}/me/p/runs/r1"]
    assert server.values("loss") == [0.0, 1.0, 2.0]
    again = strobe("sync", "r1", "--host", server.url)
    assert again.code == 0
    server.assert_exactly_once()


@pytest.mark.parametrize("place", ["runs/local/p", "runs/local", "runs", "."])
def test_all_runs_of_a_directory(strobe: Strobe, home: Home, server: SmallServer, place: str) -> None:
    record(home, "r1")
    record(home, "r2")
    assert strobe("sync", str(home.path / place), "--host", server.url).code == 0
    assert {run for run, _, _ in server.rows} == {"me/p/r1", "me/p/r2"}


def test_what_waits_goes_to_the_server_it_was_meant_for(
    strobe: Strobe, home: Home, make_server: Callable[..., SmallServer]
) -> None:
    meant, other = make_server(), make_server()
    record(home, "r1")
    record(home, "r2")
    run_dir = home.run_dir(RunPath("local", "p", "r1"))
    mark(home, run_dir, meant.url, "wr1", pid=2**22 + 1, pid_started=1.0)
    result = strobe("sync", "--json")
    assert result.code == 0
    assert result.json["synced"] == 1
    assert result.json["runs"][0] | {"directory": "", "bytes": 0} == {
        "run": "local/p/r1",
        "directory": "",
        "status": "synced",
        "url": f"{meant.url}/me/p/runs/r1",
        "rows": 3,
        "bytes": 0,
        "files": 0,
        "left_out": 0,
        "error": None,
    }
    assert (len(meant.rows), len(other.rows), Markers(home).scan()) == (3, 0, [])
    assert strobe("sync", "--all", "--host", other.url).code == 0
    assert len(other.rows) == 6


def test_another_project_and_entity(strobe: Strobe, home: Home, server: SmallServer) -> None:
    record(home, "r1")
    assert strobe("sync", "r1", "--host", server.url).code == 0
    result = strobe("sync", "r1", "--host", server.url, "--project", "q", "--entity", "team")
    assert result.code == 0
    assert {run for run, _, _ in server.rows} == {"me/p/r1", "team/q/r1"}
    server.assert_exactly_once()


def test_without_a_server_it_says_how_to_name_one(strobe: Strobe, home: Home) -> None:
    record(home, "r1")
    result = strobe("sync", "r1")
    assert result.code == 2
    assert "--host" in result.err


def test_a_refusal_is_told_with_its_reason(strobe: Strobe, home: Home, server: SmallServer) -> None:
    record(home, "r1")
    server.faults = [lambda handler: False, fails(403)]
    result = strobe("sync", "r1", "--host", server.url)
    assert result.code == 1
    assert result.lines == ["not synced  local/p/r1  HTTP 403: a fault, 403"]


def test_some_but_not_all(strobe: Strobe, home: Home, server: SmallServer, monkeypatch: pytest.MonkeyPatch) -> None:
    record(home, "r1")
    record(home, "r2")
    monkeypatch.setattr("strobe.agent.upload.crew.SIZE", 1)
    server.faults = [lambda handler: False, fails(403)]
    result = strobe("sync", "r1", "r2", "--host", server.url)
    assert result.code in (1, 3)
    assert any(line.startswith("not synced") for line in result.lines)


def test_a_server_that_is_not_there(
    strobe: Strobe, home: Home, server: SmallServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("strobe.agent.upload.foreground.PATIENCE_S", 0.0)
    server.stop_serving()
    record(home, "r1")
    result = strobe("sync", "r1", "--host", server.url)
    assert result.code == 1
    assert "not synced  local/p/r1" in result.out
    assert "refused" in result.out.lower()


def test_a_run_that_is_still_running(strobe: Strobe, home: Home, server: SmallServer) -> None:
    record(home, "r1", ends=False)
    result = strobe("sync", "r1", "--host", server.url)
    assert result.code == 0
    assert result.lines[0].startswith("so far      local/p/r1")


def test_progress_is_shown(strobe: Strobe, home: Home, server: SmallServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("strobe.cli.sync._LINE_S", 0.0)
    monkeypatch.setattr("strobe.agent.upload.journals.MAX_ENTRIES", 200)
    record(home, "r1", values=5000)
    result = strobe("sync", "r1", "--host", server.url)
    assert result.code == 0, result.err
    assert re.search(r"^0 of 1 runs, [\d.]+ k?B sent, [\d.]+ k?B/s", result.err, re.MULTILINE), result.err


def test_a_directory_without_runs(strobe: Strobe, home: Home) -> None:
    home.path.mkdir(parents=True)
    result = strobe("sync", str(home.path))
    assert result.code == 1
    assert "holds no runs" in result.err


@pytest.mark.slow
def test_watching_goes_on_until_it_is_interrupted(home: Home, server: SmallServer) -> None:
    record(home, "r1", ends=False)
    process = subprocess.Popen(
        [sys.executable, "-m", "strobe", "sync", "r1", "--watch", "--host", server.url],
        env=environment(home),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    wait_for(lambda: len(server.rows) == 3)
    run_dir = home.run_dir(RunPath("local", "p", "r1"))
    Writer(run_dir.journal, Header(entity="local", project="p", run="r1", writer="later")).row({"loss": 9.0}, 9)
    wait_for(lambda: len(server.rows) == 4)
    time.sleep(1.0)  # it notices that nothing is left
    os.kill(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=20)
    assert process.returncode == 0, err
    assert out.startswith("so far")
    server.assert_exactly_once()
