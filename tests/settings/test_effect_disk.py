"""Settings about the journal and the disk: sizes, flushing, credentials."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

import strobe
from strobe.agent import flush
from strobe.cli import main
from strobe.environment.redact import REDACTED
from strobe.home import Home

from .effect import AgentHere, Start, contents, replay_of, shows

SECRET = "hunter2hunter2"


@shows("segment_bytes")
def test_segment_bytes(start: Start) -> None:
    for size, is_one in ((500, False), ("1MB", True)):
        run = start(segment_bytes=size)
        for value in range(50):
            run._recorder.writer._check_at = 0  # looked at some five times a second, for a test with every row
            run.log({"x": value})
        run.finish()
        segments = list((Path(run.sync_dir) / "journal").iterdir())
        assert (len(segments) == 1) is is_one
        assert len(list(replay_of(run).rows())) == 50


class Flushes:
    """Counts who forces journals to the disk."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.by_process = 0
        self.by_agent = 0
        for name in ("fsync", "fdatasync"):
            monkeypatch.setattr(os, name, self._note_process)
        monkeypatch.setattr(flush, "_fsync", self._note_agent)

    def _note_process(self, fd: int) -> None:
        self.by_process += ".strobe" in os.readlink(f"/proc/self/fd/{fd}")

    def _note_agent(self, fd: int) -> None:
        self.by_agent += 1


@shows("fsync")
@pytest.mark.parametrize(
    ("policy", "by_each_call", "by_agent", "by_finish"),
    [
        ("agent", False, True, True),
        ("always", True, False, True),
        ("never", False, False, False),
        ("finish", False, False, True),
    ],
)
def test_fsync(
    start: Start,
    home: Home,
    agent_asked: list[Home],
    monkeypatch: pytest.MonkeyPatch,
    policy: str,
    by_each_call: bool,
    by_agent: bool,
    by_finish: bool,
) -> None:
    flushes = Flushes(monkeypatch)
    agent = AgentHere(home, flush.Flusher())
    run = start(fsync=policy)
    for value in range(3):
        before = flushes.by_process
        run.log({"x": value})
        assert (flushes.by_process > before) is by_each_call
    agent.poll(0.0)
    assert bool(flushes.by_agent) is by_agent
    before = flushes.by_process
    run.mark_preempting()
    run.finish()
    assert bool(flushes.by_process - before) is by_finish
    agent.close()
    assert bool(flushes.by_agent) is by_agent


AGENT_THAT_NOTES_FLUSHES = """
import sys, time
from pathlib import Path
from strobe.agent import flush, main, seat
from strobe.agent.log import Log
from strobe.home import Home

really = flush._fsync
def noting(fd):
    with open(sys.argv[2], "a") as times:
        times.write(f"{time.monotonic()}\\n")
    really(fd)
flush._fsync = noting
main.serve(seat.Seat(Home(Path(sys.argv[1]))), Log(None), idle_s=0.1)
"""


@pytest.mark.slow
def test_the_agent_flushes_about_once_a_second(start: Start, home: Home, agent_asked: list[Home]) -> None:
    run = start(stats=False, describe=False)
    times = home.path / "times"
    agent = subprocess.Popen([sys.executable, "-c", AGENT_THAT_NOTES_FLUSHES, str(home.path), str(times)])
    until = time.monotonic() + 4.5
    while time.monotonic() < until:
        run.log({"x": 1})
        time.sleep(0.02)
    run.finish()
    assert agent.wait(timeout=20) == 0
    seconds = sorted({int(float(line)) for line in times.read_text().split()})
    assert 3 <= len(seconds) <= 8


@shows("quota_bytes")
def test_quota_bytes(start: Start, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    start().log({"x": 1})
    for quota, code in (("1kB", 1), ("1GB", 0)):
        monkeypatch.setenv("STROBE_QUOTA_BYTES", quota)
        assert main(["du"]) == code
        assert ("the quota is 1 kB" in capsys.readouterr().err) is bool(code)


@shows("redact")
@pytest.mark.parametrize("is_on", [True, False])
def test_redact(
    start: Start, home: Home, agent_asked: list[Home], monkeypatch: pytest.MonkeyPatch, is_on: bool
) -> None:
    monkeypatch.setattr("sys.argv", ["train.py", "--password", SECRET])
    monkeypatch.setattr("sys.orig_argv", ["python", "train.py", "--password", SECRET])
    run = start(redact=is_on, notes=f"see https://me:{SECRET}@host/", config={"password": SECRET})
    print(f"password={SECRET}")
    run.alert("title", f"password={SECRET}")
    run.notes = f"now https://me:{SECRET}@host/"
    note = contents(home.active)
    assert (SECRET.encode() in note) is not is_on
    with pytest.raises(ValueError, match="bad"), run:
        raise ValueError(f"bad password={SECRET}")
    replay = replay_of(run)
    recorded = [
        str(replay.attributes),
        str(replay.config),
        str([event.text for event in replay.console()]),
        str(replay.alerts),
        str(replay.error),
    ]
    assert [SECRET in text for text in recorded] == [not is_on] * 5
    assert [REDACTED in text for text in recorded] == [is_on] * 5
    assert (SECRET.encode() in contents(home.runs)) is not is_on


def test_what_the_program_itself_holds_is_not_redacted(start: Start) -> None:
    run = start(config={"password": SECRET})
    assert run.config["password"] == SECRET
    assert isinstance(run, strobe.Run)
