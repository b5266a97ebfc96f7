"""strobe.log and its kin: before init they say what to do, afterwards they are the run's."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

import strobe
from strobe.errors import NotInitialized
from strobe.home import Home
from strobe.sdk import current
from strobe.sdk.run import Run
from tests.sdk.scripts import column, execute, only_replay, replay_of

# -- before init


@pytest.mark.parametrize("name", current.METHODS)
def test_a_call_before_init_names_itself(home: Home, name: str) -> None:
    with pytest.raises(NotInitialized, match=rf"strobe\.{name}\(\).*strobe\.init\(\)"):
        getattr(strobe, name)({})


def test_it_is_an_error_of_several_kinds(home: Home) -> None:
    for kind in (strobe.Error, strobe.UsageError, ValueError):
        with pytest.raises(kind, match=r"strobe\.log"):
            strobe.log({})


@pytest.mark.parametrize("name", ["config", "summary"])
def test_config_and_summary_before_init(home: Home, name: str) -> None:
    before: Any = getattr(strobe, name)
    for use in (
        lambda: before["x"],
        lambda: before.x,
        lambda: before.update({"x": 1}),
        lambda: before.__setitem__("x", 1),
        lambda: before.__delitem__("x"),
        lambda: setattr(before, "x", 1),
        lambda: list(before),
        lambda: len(before),
        lambda: "x" in before,
        before,
    ):
        with pytest.raises(NotInitialized, match=rf"strobe\.{name} .*strobe\.init\(\)"):
            use()
    assert repr(before) == f"<strobe.{name} before strobe.init()>"
    assert not hasattr(before, "__array__")


def test_finish_before_init_does_nothing(home: Home) -> None:
    strobe.finish()
    strobe.join()
    strobe.teardown()


@pytest.mark.slow
def test_run_is_none_before_init_and_after_the_end(home: Home) -> None:
    """Frameworks ask `wandb.run is None` to decide whether to start one."""
    code = """
    import strobe
    assert strobe.run is None, strobe.run
    import strobe.api
    assert strobe.run is None, strobe.run
    with strobe.init(project="p") as run:
        assert strobe.run is run, strobe.run
    assert strobe.run is None, strobe.run
    with strobe.init(mode="disabled") as run:
        assert strobe.run is run, strobe.run
    from strobe import run
    assert run is None, run
    """
    done = execute(code, home)
    assert done.returncode == 0, done.stderr


# -- with a run


def test_module_level_calls_are_the_runs(home: Home) -> None:
    with strobe.init(project="p", config={"lr": 1}) as run:
        strobe.log({"x": 1}, step=4, commit=True)
        strobe.config.update({"layers": 3})
        strobe.config["more"] = True
        strobe.summary["best"] = 2
        strobe.define_metric("x", summary="min")
        strobe.alert("title", "text", strobe.AlertLevel.WARN)
        strobe.mark_preempting()
        assert strobe.config is run.config
        assert strobe.summary["best"] == 2
        assert strobe.log == run.log
    replay = only_replay(home)
    assert [(row["_step"], row["x"]) for row in replay.rows()] == [(4, 1)]
    assert replay.config == {"lr": 1, "layers": 3, "more": True}
    assert replay.summary == {"x": {"min": 1}, "best": 2}
    assert len(replay.alerts) == 1


def test_a_name_imported_before_init_works_afterwards(home: Home) -> None:
    from strobe import define_metric, log

    with strobe.init(project="p"):
        log({"x": 1})
        define_metric("x", summary="max")
    assert only_replay(home).summary == {"x": {"max": 1}}


def test_after_the_end_calls_complain_again(home: Home) -> None:
    strobe.init(project="p")
    strobe.finish(exit_code=2)
    assert only_replay(home).exit_code == 2
    with pytest.raises(NotInitialized):
        strobe.log({"x": 1})
    with pytest.raises(NotInitialized):
        _ = strobe.config.lr


def test_the_end_of_an_older_run_leaves_the_current_one(home: Home) -> None:
    older = strobe.init(project="p")
    newer = strobe.init(project="p", reinit="create_new")
    current.set_run(newer)
    older.finish()
    strobe.log({"x": 1})
    newer.finish()
    assert column(replay_of(newer._recorder.run_dir), "x") == [1]


def test_config_and_summary_are_looked_up_each_time(home: Home) -> None:
    with strobe.init(project="p") as run:
        assert isinstance(run, Run)
        assert "config" not in vars(strobe)
        assert "summary" not in vars(strobe)


# -- attaching


def test_attach_joins_a_run_as_one_more_writer(home: Home) -> None:
    with strobe.init(project="p", id="r", config={"lr": 1}) as run:
        run.log({"x": 1})
        for name in ("r", "p/r", "local/p/r"):
            arrived = strobe.attach(name, project="p")
            assert (arrived.id, arrived.config["lr"], arrived.attempt) == ("r", 1, 1)
    with pytest.raises(strobe.errors.RunNotFound, match="local/p/nobody"):
        strobe.attach("nobody", project="p")


@pytest.mark.slow
def test_attach_from_another_process(home: Home) -> None:
    code = """
    import sys, strobe
    run = strobe.attach("r", project="p")
    strobe.log({"theirs": 1}, step=0)
    run.finish()
    assert strobe.run is None or not isinstance(strobe.run, strobe.Run)
    """
    with strobe.init(project="p", id="r") as run:
        run.log({"ours": 1})
        done = execute(code, home)
        assert done.returncode == 0, done.stderr
        run.log({"ours": 2})
    replay = only_replay(home)
    assert (column(replay, "ours"), column(replay, "theirs")) == ([1, 2], [1])
    assert replay.state == "finished"


# -- names that are only there for wandb's sake


def test_login_asks_nothing(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    assert strobe.login() is False
    assert strobe.login(key="k") is True
    monkeypatch.setenv("STROBE_API_KEY", "k")
    assert strobe.login(relogin=True, anonymous="allow") is True


def test_setup_and_require_do_nothing(home: Home) -> None:
    strobe.setup()
    strobe.setup(settings=strobe.Settings(console="off"))
    strobe.require("core")
    strobe.require(experiment="service")


@pytest.mark.parametrize("name", ["sweep", "agent", "controller"])
def test_sweeps_say_that_they_are_not_here(name: str) -> None:
    with pytest.raises(strobe.UsageError, match=rf"strobe\.{name}.*sweeps"):
        getattr(strobe, name)({"method": "random"})


@pytest.mark.slow
def test_python_m_strobe_is_the_command() -> None:
    done = subprocess.run([sys.executable, "-m", "strobe", "--version"], capture_output=True, text=True)
    assert (done.returncode, strobe.__version__ in done.stdout) == (0, True), done.stderr
