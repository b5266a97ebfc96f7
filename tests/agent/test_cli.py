"""`strobe agent status|stop`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from strobe._version import __version__
from strobe.agent import launch
from strobe.cli import main
from strobe.home import Home

from .scene import serving_pid, wait_for


def test_no_agent_is_no_fault(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["agent", "status"]) == 0
    assert capsys.readouterr().out == "not running  the next run starts it\n"
    assert main(["agent", "stop"]) == 0
    assert capsys.readouterr().err == "there was none\n"


def test_a_home_that_cannot_be_written_is_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("STROBE_HOME", str(tmp_path / "file" / "home"))
    assert main(["agent", "status", "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["running"] is False
    assert "cannot be written to" in found["problem"]


@pytest.mark.slow
def test_status_and_stop_of_a_living_one(
    home: Home, stop_agents: list[Home], capsys: pytest.CaptureFixture[str]
) -> None:
    stop_agents.append(home)
    launch.ensure(home, version=__version__)
    pid = wait_for(lambda: serving_pid(home))
    assert main(["agent", "status", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["running"], found["pid"], found["version"]) == (True, pid, __version__)
    assert main(["agent", "status"]) == 0
    assert capsys.readouterr().out.startswith(f"running  process {pid}, strobe {__version__}")
    assert main(["agent", "stop", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"stopped": True, "pid": pid}
    assert serving_pid(home) == 0
