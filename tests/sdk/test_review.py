"""Faults and races of a run in its process: none stops the training, and none costs what can be kept."""

from __future__ import annotations

import errno
import os
import pickle
import shutil
import threading
from enum import Enum
from pathlib import Path

import numpy as np
import pytest

import strobe
from strobe import identity
from strobe.home import Home
from strobe.journal import writer as writer_module
from strobe.sdk import claim, current
from strobe.sdk.run import Run
from tests.sdk.scripts import column, execute, only_replay, only_run


class Disk:
    """The disk under a run's journal, which can be full."""

    def __init__(self, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
        self._writer = run._recorder.writer
        self._monkeypatch = monkeypatch
        self._append = self._writer._append

    def fill(self) -> None:
        def write(fd: int, data: bytes) -> int:
            raise OSError(errno.ENOSPC, "No space left on device")

        self._monkeypatch.setattr(os, "write", write)
        self._writer._append = lambda fd, record, length: -1

    def empty(self) -> None:
        self._monkeypatch.undo()
        self._writer._append = self._append


# -- rows --------------------------------------------------------------------------------------------------------------


def test_a_row_that_is_too_large_becomes_several_of_its_step(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer_module, "MAX_ROW_BYTES", 2000)
    data = {f"key{number}": float(number) for number in range(1000)}
    with strobe.init(project="p") as run:
        run.log(data, step=3)
        run.log(data, step=4)
    first, second = only_replay(home).rows()
    assert {key: first[key] for key in data} == data
    assert {key: second[key] for key in data} == data


def test_text_that_is_no_unicode_stops_nothing(home: Home) -> None:
    with strobe.init(project="p", name="caf\udce9", notes="\udce9") as run:
        run.log({"caf\udce9": 1, "b": 2})
        run.alert("\udce9", "\udce9")
        run.define_metric("caf\udce9")
        run.summary["caf\udce9"] = "\udce9"
        run.write_logs("\udce9")
    replay = only_replay(home)
    assert replay.attributes["name"] == "caf\\udce9"
    assert replay.summary == {"caf\\udce9": "\\udce9", "b": 2}


def test_console_text_that_is_no_text_is_recorded_as_text(home: Home) -> None:
    with strobe.init(project="p") as run:
        run.write_logs(5)  # type: ignore[arg-type]
    assert [event.text for event in only_replay(home).console()] == ["5"]


def test_a_step_metric_that_is_no_name_is_the_callers_mistake(home: Home) -> None:
    with strobe.init(project="p") as run, pytest.raises(strobe.UsageError, match="step_metric"):
        run.define_metric("loss", step_metric=5)  # type: ignore[arg-type]


# -- the end -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("part", ["_finish_parts", "_show_end"])
def test_a_part_that_fails_at_the_end_does_not_keep_the_run_from_ending(
    home: Home, monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    said: list[str] = []

    def fail(self: Run, *args: object) -> None:
        raise ValueError("a bug of ours")

    monkeypatch.setattr(Run, part, fail)
    run = strobe.init(project="p")
    monkeypatch.setattr(run._recorder.terminal, "warn", said.append)
    run.log({"x": 1})
    run.finish()
    assert (only_replay(home).state, strobe.run) == ("finished", None)
    assert "a bug of ours" in said[0]


def test_ctrl_c_while_the_end_waits_still_ends_the_run(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(self: Run, *args: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Run, "_finish_parts", interrupt)
    run = strobe.init(project="p")
    run.log({"x": 1})
    with pytest.raises(KeyboardInterrupt):
        run.finish()
    assert (only_replay(home).state, strobe.run) == ("finished", None)


def test_a_note_for_the_agent_that_cannot_be_removed_stops_nothing(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    run = strobe.init(project="p")
    run._recorder._active = home.path  # a directory: unlink fails
    run.finish()
    assert only_replay(home).state == "finished"


def test_a_directory_that_vanished_before_finish_holds_the_end_too(home: Home) -> None:
    run = strobe.init(project="p")
    run.log({"x": 1})
    shutil.rmtree(only_run(home).path)
    run.finish()
    replay = only_replay(home)
    assert (replay.state, column(replay, "x")) == ("finished", [1])


# -- a full disk -------------------------------------------------------------------------------------------------------


def test_what_was_set_while_the_disk_was_full_is_recorded_when_there_is_room(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = strobe.init(project="p")
    disk = Disk(run, monkeypatch)
    disk.fill()
    run.config["lr"] = 1
    run.summary["best"] = 0.9
    run.name = "renamed"
    run.define_metric("loss", summary="min")
    run.alert("full")
    run.mark_preempting()
    run.log({"lost": 1})
    assert run.summary["best"] == 0.9, "what the script set it may read"
    assert run.status().rejected > 0
    disk.empty()
    run.log({"loss": 2.0})
    run.log({"loss": 3.0})
    run.finish()
    replay = only_replay(home)
    assert replay.config == {"lr": 1}
    assert replay.summary == {"best": 0.9, "loss": {"min": 2.0}}
    assert replay.attributes["name"] == "renamed"
    assert len(replay.alerts) == 1
    assert replay.rejected == 1


def test_a_picture_for_the_summary_that_the_disk_does_not_take_is_rejected_not_raised(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = strobe.init(project="p")

    def full(*args: object) -> str:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(run._media_files, "write", full)
    run.summary.update({"page": strobe.Html("<p>" + "x" * 100_000), "best": 1})
    assert run.status().rejected == 1
    run.finish()
    assert only_replay(home).summary == {"best": 1}


def test_a_summary_that_cannot_be_read_is_what_it_was(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    run = strobe.init(project="p")
    run.summary["best"] = 1
    assert run.summary["best"] == 1

    def stale(*args: object) -> None:
        raise OSError(errno.ESTALE, "Stale file handle")

    with monkeypatch.context() as patched:
        patched.setattr("strobe.journal.reader.list_segments", stale)
        assert run.summary["best"] == 1
    run.finish()


def test_a_summary_read_by_many_threads_counts_nothing_twice(home: Home) -> None:
    run = strobe.init(project="p")
    run.define_metric("x", summary="mean")
    done = threading.Event()

    def look() -> None:
        while not done.is_set():
            run.summary.get("x")

    threads = [threading.Thread(target=look) for _ in range(3)]
    for thread in threads:
        thread.start()
    for number in range(300):
        run.log({"x": number})
    done.set()
    for thread in threads:
        thread.join()
    assert run.summary["x"]["mean"] == sum(range(300)) / 300
    run.finish()


# -- other processes ---------------------------------------------------------------------------------------------------


def test_a_run_unpickled_again_and_again_is_one_writer(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    run = strobe.init(project="p", config={"lr": 1})
    sent = pickle.dumps(run)
    assert pickle.loads(sent) is run
    with monkeypatch.context() as elsewhere:  # as in another process
        elsewhere.setattr(current, "run", None)
        elsewhere.setattr(current, "_active", [])
        handle = pickle.loads(sent)
        assert handle is not run
        assert pickle.loads(sent) is handle
        assert handle.config["lr"] == 1
        handle.log({"x": 1})
        handle.finish()
        again = pickle.loads(sent)
        assert again is not handle, "that one has ended"
        again.finish()
    run.finish()
    assert column(only_replay(home), "x") == [1]


def test_a_run_whose_claims_vanished_still_gets_a_new_attempt(home: Home) -> None:
    strobe.init(project="p", id="r").finish()
    run_dir = only_run(home)
    shutil.rmtree(run_dir.attempts)
    assert claim.latest(run_dir) == 1
    with strobe.init(project="p", id="r", resume="allow") as run:
        assert run.attempt == 2


def test_a_process_that_is_hidden_from_us_is_not_declared_dead(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    here = (identity.host_id(), identity.boot_id(), identity.pid_namespace())
    monkeypatch.setattr(identity, "process_started", lambda pid: None)

    def denied(pid: int, signal: int) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    def gone(pid: int, signal: int) -> None:
        raise ProcessLookupError(errno.ESRCH, "No such process")

    monkeypatch.setattr(os, "kill", denied)
    assert identity.is_alive(999_999_999, 1.0, *here) is None
    monkeypatch.setattr(os, "kill", gone)
    assert identity.is_alive(999_999_999, 1.0, *here) is False


@pytest.mark.slow
def test_a_daemon_that_closed_all_descriptors_keeps_its_own_when_it_logs(home: Home) -> None:
    code = """
    import os, strobe
    run = strobe.init(project="p", settings={"console": "off"})
    run.log({"x": 0})
    pid = os.fork()
    if pid == 0:
        os.closerange(3, 64)                       # what daemons do
        theirs = [os.open(f"theirs{n}", os.O_RDWR | os.O_CREAT) for n in range(20)]
        run.log({"x": 1}, step=1)
        for fd in theirs:
            os.write(fd, b"mine")                  # none was closed
        os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0
    """
    done = execute(code, home)
    assert done.returncode == 0, done.stderr
    assert column(only_replay(home), "x") == [0, 1]
    assert {(home.path / f"theirs{number}").read_bytes() for number in range(20)} == {b"mine"}


@pytest.mark.slow
def test_console_text_that_a_child_adds_goes_into_the_childs_own_journal(home: Home) -> None:
    code = """
    import os, threading, strobe
    run = strobe.init(project="p")
    locked = threading.Event()
    def hold():
        with run._recorder.writer.lock:
            locked.set()
            threading.Event().wait(2)
    threading.Thread(target=hold, daemon=True).start()
    locked.wait()
    pid = os.fork()
    if pid == 0:
        run.write_logs("from the child\\n")
        os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0
    """
    done = execute(code, home)
    assert done.returncode == 0, done.stderr
    replay = only_replay(home)
    assert [event.text for event in replay.console()] == ["from the child\n"]
    assert len(replay.attempts[0].writers) == 2


@pytest.mark.slow
def test_threads_of_a_child_that_begin_at_once_are_one_writer(home: Home) -> None:
    code = """
    import os, sys, threading, strobe
    sys.setswitchinterval(1e-6)
    run = strobe.init(project="p", settings={"console": "off"})
    for _ in range(20):
        pid = os.fork()
        if pid == 0:
            start = threading.Barrier(6)
            def work(number):
                start.wait()
                for step in range(50):
                    if number % 2:
                        run.log({f"t{number}": step}, step=step)
                    else:
                        run.alert(f"{number}-{step}")
            threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
            for thread in threads: thread.start()
            for thread in threads: thread.join()
            assert run._recorder.writer.rejected == 0
            os._exit(0)
        assert os.waitpid(pid, 0)[1] == 0
    """
    done = execute(code, home)
    assert done.returncode == 0, done.stderr
    replay = only_replay(home)
    assert replay.num_rows == 20 * 3 * 50
    assert len(replay.alerts) == 20 * 3 * 50
    assert len(replay.attempts[0].writers) == 21


class _Key(str, Enum):
    LOSS = "loss"


@pytest.mark.parametrize("value", [1.5, [1, 2], np.arange(3)])
def test_keys_that_are_kinds_of_text_are_taken(home: Home, value: object) -> None:
    with strobe.init(project="p") as run:
        run.log({_Key.LOSS: value, np.str_("acc"): 2, "b": 3})
    (row,) = only_replay(home).rows()
    assert {key for key in row if not key.startswith("_")} == {"loss", "acc", "b"}


def test_ever_new_alerts_do_not_pile_up(home: Home) -> None:
    with strobe.init(project="p") as run:
        for number in range(3000):
            run.alert(f"alert {number}")
        assert len(run._alerted) <= 1000
    assert len(only_replay(home).alerts) == 3000


class _GiveUp(Exception):
    """What a user's signal handler may raise."""


@pytest.mark.parametrize("kind", [TimeoutError, _GiveUp])
def test_what_a_signal_handler_raises_inside_log_gets_out(
    home: Home, monkeypatch: pytest.MonkeyPatch, kind: type[Exception]
) -> None:
    run = strobe.init(project="p")
    run.log({"x": 0})

    def interrupt(*args: object) -> int:
        monkeypatch.undo()
        raise kind("enough")

    monkeypatch.setattr(writer_module, "crc32", interrupt)
    with pytest.raises(kind, match="enough"):
        run.log({"x": 1})
    run.log({"x": 2})
    run.finish()
    assert column(only_replay(home), "x") == [0, 2]


def test_a_time_limit_holds_while_a_value_is_stored(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    run = strobe.init(project="p")

    def interrupt(*args: object) -> str:
        raise TimeoutError("enough")

    monkeypatch.setattr(run._media_files, "write", interrupt)
    with pytest.raises(TimeoutError, match="enough"):
        run.log({"page": strobe.Html("<p>" + "x" * 100_000)})
    run.finish()


def test_a_time_limit_holds_while_the_run_ends(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    run = strobe.init(project="p")

    def interrupt() -> None:
        raise TimeoutError("enough")

    monkeypatch.setattr(Run, "unwatch", lambda self: interrupt())
    with pytest.raises(TimeoutError, match="enough"):
        run.finish()
    assert (only_replay(home).state, strobe.run) == ("finished", None)
