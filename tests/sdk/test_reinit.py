"""init() while a run is active: what is returned, what ends, and what the module-level calls mean afterwards."""

from __future__ import annotations

import pytest

import strobe
from strobe.errors import UsageError
from strobe.home import Home
from tests.sdk.scripts import column, execute, replay_of

pytestmark = pytest.mark.usefixtures("home")


def test_in_a_script_the_active_run_is_returned() -> None:
    first = strobe.init(project="p", name="first")
    assert strobe.init(project="other", name="second") is first
    first.finish()
    assert strobe.init(project="p") is not first


@pytest.mark.parametrize("reinit", [False, "return_previous"])
def test_return_previous_gives_the_latest_that_is_active(reinit: bool | str) -> None:
    strobe.init(project="p")
    second = strobe.init(project="p", reinit="create_new")
    assert strobe.init(project="p", reinit=reinit) is second


@pytest.mark.parametrize("reinit", [True, "finish_previous"])
def test_finish_previous_ends_all_active_runs(reinit: bool | str) -> None:
    first = strobe.init(project="p")
    second = strobe.init(project="p", reinit="create_new")
    third = strobe.init(project="p", reinit=reinit)
    assert len({first.id, second.id, third.id}) == 3
    assert [replay_of(run._recorder.run_dir).state for run in (first, second, third)] == [
        "finished",
        "finished",
        "running",
    ]
    strobe.log({"x": 1})
    assert column(replay_of(third._recorder.run_dir), "x") == [1]


def test_create_new_leaves_the_module_level_calls_with_the_first_run() -> None:
    first = strobe.init(project="p")
    second = strobe.init(project="p", reinit="create_new")
    strobe.log({"module": 1})
    second.log({"own": 2})
    second.finish()
    strobe.log({"module": 2})
    first.finish()
    assert column(replay_of(first._recorder.run_dir), "module") == [1, 2]
    assert column(replay_of(second._recorder.run_dir), "own") == [2]
    assert column(replay_of(second._recorder.run_dir), "module") == []


def test_create_new_without_an_active_run_does_not_become_the_current_one() -> None:
    with strobe.init(project="p", reinit="create_new"), pytest.raises(strobe.Error, match=r"strobe\.log"):
        strobe.log({"x": 1})


def test_runs_made_side_by_side_end_in_any_order_and_take_their_hooks_along() -> None:
    import sys

    hooks = (sys.excepthook, sys.exit)
    runs = [strobe.init(project="p", reinit="create_new") for _ in range(4)]
    for index in (1, 3, 0, 2):
        runs[index].finish()
    assert (sys.excepthook, sys.exit) == hooks


def test_resume_must_is_not_answered_with_another_run() -> None:
    strobe.init(project="p")
    with pytest.raises(UsageError, match="active"):
        strobe.init(project="p", id="wanted", resume="must")


def test_returning_a_run_is_said_once(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STROBE_SILENT", "false")
    run = strobe.init(project="p")
    capsys.readouterr()
    strobe.init(project="p", name="x")
    strobe.init(project="p", name="x")
    said = capsys.readouterr().err
    assert said.count(run.id) == 1
    assert "reinit" in said


def test_a_notebook_finishes_the_previous_run(notebook: None) -> None:
    first = strobe.init(project="p")
    second = strobe.init(project="p")
    assert second is not first
    assert replay_of(first._recorder.run_dir).state == "finished"


@pytest.mark.slow
def test_a_forked_child_that_calls_init_gets_a_run_of_its_own(home: Home) -> None:
    code = """
    import os, strobe
    run = strobe.init(project="p", id="parent")
    run.log({"x": 0})
    pid = os.fork()
    if pid == 0:
        own = strobe.init(project="p", id="child")
        assert own is not run
        strobe.log({"y": 1})
        own.finish()
        again = strobe.init(project="p", id="again")
        strobe.log({"z": 1})
        strobe.finish()
        os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0
    strobe.log({"x": 1})
    """
    done = execute(code, home)
    assert done.returncode == 0, done.stderr
    found = {run_dir.path.name: replay_of(run_dir) for run_dir in home.iter_runs()}
    assert {name: replay.state for name, replay in found.items()} == dict.fromkeys(
        ["parent", "child", "again"], "finished"
    )
    assert column(found["parent"], "x") == [0, 1]
    assert column(found["child"], "y") == [1]
    assert column(found["again"], "z") == [1]
