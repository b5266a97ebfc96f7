"""What `finish()` waits for and says, told by the file that an agent would write."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

import strobe
from strobe.home import Home
from strobe.remote.state import SyncState, write_state
from strobe.sdk import handover

URL = "http://127.0.0.1:9"


@pytest.fixture
def started(home: Home, monkeypatch: pytest.MonkeyPatch) -> Callable[..., strobe.Run]:
    """Return a function that starts an online run whose agent is played by the test."""
    monkeypatch.setattr("strobe.agent.launch.ensure", lambda home, *, version: None)
    monkeypatch.setattr(handover, "_why_nobody_uploads", lambda recorder: None)
    monkeypatch.setattr(handover, "_ends_with_us", lambda: False)
    monkeypatch.setenv("STROBE_AGENT", "on")
    monkeypatch.setenv("STROBE_SILENT", "false")
    monkeypatch.setenv("STROBE_QUIET", "true")

    def start(**settings: Any) -> strobe.Run:
        return strobe.init(settings=strobe.Settings(base_url=URL, **settings))

    return start


def say(run: strobe.Run, **fields: Any) -> None:
    write_state(run._recorder.run_dir.path, SyncState(**{"server": URL, "updated_ns": time.time_ns(), **fields}))


def writer_of(run: strobe.Run) -> str:
    return run._recorder.writer.header.writer


def timed_finish(run: strobe.Run) -> float:
    began = time.monotonic()
    run.finish()
    return time.monotonic() - began


def test_it_returns_when_the_agent_says_that_everything_is_there(
    started: Callable[..., strobe.Run], capsys: pytest.CaptureFixture[str]
) -> None:
    run = started(finish_timeout=20)
    run.log({"x": 1})
    threading.Timer(0.5, say, args=(run,), kwargs={"settled": [writer_of(run)]}).start()
    assert 0.3 < timed_finish(run) < 5
    assert capsys.readouterr().err == ""


def test_it_says_that_everything_is_there(
    started: Callable[..., strobe.Run], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("STROBE_QUIET", "false")
    run = started(finish_timeout=20)
    run.log({"x": 1})
    say(run, settled=[writer_of(run)])
    run.finish()
    assert f"synced, the server has everything of {run.id}" in capsys.readouterr().err.splitlines()[-1]


def test_it_waits_no_longer_than_it_may(
    started: Callable[..., strobe.Run], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("STROBE_QUIET", "false")
    run = started(finish_timeout=0.5)
    say(run, left_bytes=12_300_000)
    assert timed_finish(run) < 3
    assert "12.3 MB left; the agent goes on in the background" in capsys.readouterr().err


def test_who_was_interrupted_is_told_by_whom(
    started: Callable[..., strobe.Run], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("STROBE_QUIET", "false")
    for attempt, is_told in ((1, True), (7, False)):
        run = started(finish_timeout=20)
        say(run, stopped=[attempt], settled=[writer_of(run)])
        run.finish()
        assert (f"somebody stopped the run at {URL}" in capsys.readouterr().err) is is_told


def test_a_refusal_ends_the_wait_with_its_reason(
    started: Callable[..., strobe.Run], capsys: pytest.CaptureFixture[str]
) -> None:
    run = started(finish_timeout=20)
    say(run, error="HTTP 403: not your project", is_refused=True)
    assert timed_finish(run) < 5
    assert "not uploaded: HTTP 403: not your project" in capsys.readouterr().err


def test_a_refusal_of_an_earlier_attempt_does_not_count(started: Callable[..., strobe.Run]) -> None:
    run = started(finish_timeout=0.4)
    say(run, error="HTTP 403: not your project", is_refused=True, updated_ns=1)
    assert timed_finish(run) >= 0.4


def test_nobody_waits_long_for_an_address_where_nobody_answers(
    started: Callable[..., strobe.Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handover, "_HOPELESS_S", 0.3)
    run = started(finish_timeout=20)
    say(run, error="connection refused", is_unreachable=True)
    assert timed_finish(run) < 5


def test_what_is_known_of_another_server_does_not_count(started: Callable[..., strobe.Run]) -> None:
    run = started(finish_timeout=0.4)
    say(run, server="http://another", settled=[writer_of(run)])
    assert timed_finish(run) >= 0.4


def test_where_all_ends_with_the_process_it_waits_while_something_moves(
    started: Callable[..., strobe.Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handover, "_ends_with_us", lambda: True)
    run = started(finish_timeout=2.0)

    def upload() -> None:
        for sent in range(10):
            say(run, num_moved=sent + 1)
            time.sleep(0.3)
        say(run, settled=[writer_of(run)])

    agent = threading.Thread(target=upload)
    agent.start()
    assert 2.5 < timed_finish(run) < 20  # longer than the timeout, because something moves
    agent.join()


def test_and_says_so_when_nothing_moves(
    started: Callable[..., strobe.Run], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(handover, "_ends_with_us", lambda: True)
    run = started(finish_timeout=0.4)
    assert timed_finish(run) < 5
    assert "this job's processes end with it" in capsys.readouterr().err


@pytest.mark.parametrize("variable", ["SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID"])
def test_batch_jobs_are_known(variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(variable, "1")
    assert handover._ends_with_us()


def test_so_are_containers_main_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in handover._BATCH:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("strobe.identity.pid_namespace", lambda: "pid:[4026532000]")
    monkeypatch.setattr(os, "getppid", lambda: 1)
    assert handover._ends_with_us()
    monkeypatch.setattr(os, "getppid", lambda: 4711)
    assert not handover._ends_with_us()
    monkeypatch.setattr("strobe.identity.pid_namespace", lambda: handover._INITIAL_PID_NAMESPACE)
    monkeypatch.setattr(os, "getppid", lambda: 1)  # an orphan of an ordinary machine
    assert not handover._ends_with_us()


def test_the_line_of_progress(started: Callable[..., strobe.Run], capsys: pytest.CaptureFixture[str]) -> None:
    run = started(finish_timeout=0.1)
    waiting = handover._Waiting(run._recorder.terminal)
    text = waiting._text(
        SyncState(server=URL, num_rows=1234, num_bytes=5_000_000, left_bytes=2_000, num_files_left=3), time.monotonic()
    )
    assert text == "strobe: uploading: 1,234 rows, 5 MB sent, 2 kB left, 3 files left"
    assert "waiting for the agent" in waiting._text(None, time.monotonic())
    run.finish()
    capsys.readouterr()
