"""Modes: offline by default, online without a server, disabled at the cost of a pass, shared by several processes."""

from __future__ import annotations

import inspect
import pickle
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import strobe
from strobe.errors import UsageError
from strobe.home import Home
from strobe.sdk.disabled import DisabledRun
from strobe.sdk.run import Run
from tests.sdk.scripts import column, environment, execute, only_replay, replay_of, start

# -- offline and online


def test_offline_is_the_default_and_has_no_address(home: Home) -> None:
    with strobe.init(project="p") as run:
        assert (run.offline, run.disabled, run.url, run.project_url, run.sweep_url) == (True, False, None, None, None)
        assert run.settings.mode == "offline"
    assert only_replay(home).attributes["mode"] == "offline"


def test_online_without_a_server_records_offline_and_says_so(home: Home) -> None:
    with pytest.warns(strobe.errors.StrobeWarning, match="no server is configured"):
        run = strobe.init(project="p", mode="online", settings={"silent": False, "quiet": True})
    with run:
        assert run.offline
        run.log({"x": 1})
    assert column(only_replay(home), "x") == [1]


def test_online_has_an_address(home: Home) -> None:
    with strobe.init(project="p", id="r", settings={"base_url": "http://localhost:1"}) as run:
        assert not run.offline
        assert run.url == run.get_url() == "http://localhost:1/local/p/runs/r"
        assert run.project_url == run.get_project_url() == "http://localhost:1/local/p"


def test_an_unknown_mode_is_named(home: Home) -> None:
    with pytest.raises(strobe.errors.SettingsError, match="sideways"):
        strobe.init(mode="sideways")


# -- disabled


@pytest.fixture
def disabled(home: Home) -> Iterator[Run]:
    run = strobe.init(mode="disabled", project="p", config={"lr": 0.1, "deep": {"a": 1}}, tags=["t"])
    yield run
    run.finish()


def tree(path: Path) -> list[str]:
    return sorted(str(found) for found in path.rglob("*"))


def test_disabled_writes_nothing_anywhere(tmp_path: Path, disabled: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: object, **kwargs: object) -> None:
        raise AssertionError(f"something was opened: {args}")

    (tmp_path / "model.pt").write_bytes(b"m")
    before = tree(tmp_path)
    histogram = strobe.Histogram([1, 2, 3])  # importing it opens files
    monkeypatch.setattr("os.open", refuse)
    monkeypatch.setattr("os.mkdir", refuse)
    monkeypatch.setattr("builtins.open", refuse)
    for _ in range(3):
        disabled.log({"loss": 1.0, "histogram": histogram, "object": object()})
    disabled.save(str(tmp_path / "model.pt"))
    disabled.log_artifact(str(tmp_path / "model.pt"), type="model").wait()
    disabled.summary["best"] = 1
    disabled.finish()
    monkeypatch.undo()
    assert tree(tmp_path) == before


def public_methods() -> list[str]:
    return [name for name, found in inspect.getmembers(Run, inspect.isfunction) if not name.startswith("_")]


#: arguments for those that need some
ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "alert": ("title", "text"),
    "define_metric": ("loss",),
    "finish_artifact": ("path",),
    "link_artifact": ("artifact", "target"),
    "link_model": ("path", "name"),
    "log": ({"x": 1},),
    "log_artifact": ("path",),
    "log_model": ("path",),
    "restore": ("name",),
    "save": ("*.pt",),
    "upsert_artifact": ("path",),
    "use_artifact": ("name:latest",),
    "use_model": ("name",),
    "watch": (object(),),
    "write_logs": ("text",),
}


@pytest.mark.parametrize("name", [*public_methods(), "_label"])
def test_every_method_can_be_called(disabled: Run, name: str) -> None:
    method = getattr(disabled, name)
    inspect.signature(getattr(Run, name)).bind(disabled, *ARGUMENTS.get(name, ()))
    method(*ARGUMENTS.get(name, ()))


def test_every_property_can_be_read(disabled: Run) -> None:
    properties = [name for name, found in inspect.getmembers(Run) if isinstance(found, property) and name[0] != "_"]
    assert {"id", "name", "config", "url", "step", "dir", "sync_dir"} <= set(properties)
    for name in properties:
        getattr(disabled, name)
        assert name in dir(disabled) or hasattr(DisabledRun, name), name
    assert isinstance(disabled.dir, str)
    assert isinstance(disabled.sync_dir, str)
    assert isinstance(disabled.start_time, float)
    assert isinstance(disabled.path, str)
    assert (disabled.step, disabled.starting_step, disabled.resumed, disabled.offline) == (0, 0, False, True)
    assert (disabled.disabled, disabled.url, disabled.project, disabled.tags) == (True, None, "p", ("t",))


def test_config_and_summary_work_in_memory(disabled: Run) -> None:
    assert disabled.config.lr == 0.1
    disabled.config.update({"lr": 0.2, "layers": 3})
    disabled.config["deep"]["a"] = 2
    assert disabled.config_static == {"lr": 0.2, "deep": {"a": 2}, "layers": 3}
    disabled.summary["best"] = 1
    disabled.summary.worst = 2
    disabled.summary.update({"mean": {"a": 1}})
    disabled.summary["mean"]["b"] = 2
    assert (disabled.summary.best, disabled.summary["worst"], disabled.summary.get("none", 5)) == (1, 2, 5)
    assert dict(disabled.summary) == {"best": 1, "worst": 2, "mean": {"a": 1, "b": 2}}
    del disabled.summary["best"]
    with pytest.raises(AttributeError, match="best"):
        _ = disabled.summary.best


def test_names_can_be_set(disabled: Run) -> None:
    disabled.name, disabled.notes, disabled.tags = "n", "text", ("a", "b")
    assert (disabled.name, disabled.notes, disabled.tags) == ("n", "text", ("a", "b"))


def test_what_it_gives_back_goes_on_working(disabled: Run) -> None:
    artifact = disabled.use_artifact("model:latest")
    assert list(artifact.files()) == []
    assert len(disabled.save("*.pt")) == 0
    with artifact.new_file("x") as stream:
        stream.write("y")
    artifact.metadata["k"] = 1
    assert not artifact
    assert str(artifact.download()) == "<strobe disabled>"


def test_it_counts_as_a_run(disabled: Run) -> None:
    assert isinstance(disabled, strobe.Run)
    assert type(disabled).__name__ == "DisabledRun"


def test_it_survives_a_trip_to_another_process(disabled: Run) -> None:
    arrived = pickle.loads(pickle.dumps(disabled))
    assert (arrived.id, arrived.config["lr"], arrived.disabled) == (disabled.id, 0.1, True)
    arrived.log({"x": 1})


def test_module_level_calls_work_and_end(home: Home) -> None:
    with strobe.init(mode="disabled"):
        strobe.log({"x": 1})
        strobe.config["a"] = 1
        strobe.summary["b"] = 2
        strobe.define_metric("*", step_metric="x")
    with pytest.raises(strobe.Error):
        strobe.log({"x": 1})


def test_an_exception_leaves_the_block(home: Home) -> None:
    with pytest.raises(ZeroDivisionError), strobe.init(mode="disabled"):
        _ = 1 / 0


def best_of(call: Callable[..., object], repeats: int = 15, number: int = 2000) -> float:
    times = []
    for _ in range(repeats):
        began = time.thread_time_ns()
        for _ in range(number):
            call({"loss": 1.0})
        times.append(time.thread_time_ns() - began)
    return min(times)


def test_log_costs_no_more_than_an_empty_method(disabled: Run) -> None:
    class Empty:
        def log(self, data: Any, step: int | None = None, commit: bool | None = None) -> None:
            pass

    empty = Empty()
    ratios = [best_of(disabled.log) / best_of(empty.log) for _ in range(3)]
    assert min(ratios) < 1.3, ratios


# -- shared


def test_a_shared_run_has_one_voice(home: Home) -> None:
    with strobe.init(project="p", mode="shared", id="s", config={"lr": 1}, name="the run") as main:
        main.log({"main": 1})
        options: dict[str, Any] = {"x_primary": False, "x_update_finish_state": False, "x_label": "worker"}
        worker = strobe.init(project="p", mode="shared", id="s", reinit="create_new", settings=options, name="other")
        assert (worker.id, worker.attempt, worker.resumed, main.attempt) == ("s", 1, False, 1)
        worker.log({"worker": 2})
        worker.config["from_worker"] = True
        worker.finish(exit_code=1)
        assert only_replay(home).state == "running"
    replay = only_replay(home)
    assert (replay.state, replay.attributes["name"]) == ("finished", "the run")
    assert replay.config == {"lr": 1, "from_worker": True}
    assert [row.keys() - {"_step", "_timestamp", "_runtime"} for row in replay.rows()] == [{"main", "worker"}]


def test_processes_that_all_speak_for_the_run_join_while_one_lives(home: Home) -> None:
    first = strobe.init(project="p", mode="shared", id="s")
    second = strobe.init(project="p", mode="shared", id="s", reinit="create_new")
    assert (first.attempt, second.attempt, second.resumed, second.starting_step) == (1, 1, False, 0)
    first.log({"first": 1})
    second.log({"second": 2})
    first.finish()
    assert only_replay(home).state == "running"
    second.finish()
    assert only_replay(home).state == "finished"


def test_a_shared_run_that_ended_begins_its_next_attempt(home: Home) -> None:
    with strobe.init(project="p", mode="shared", id="s", config={"lr": 1}) as run:
        for value in range(3):
            run.log({"x": value})
    with strobe.init(project="p", mode="shared", id="s") as run:
        assert (run.attempt, run.resumed, run.starting_step, run.config.lr) == (2, True, 3, 1)
        run.log({"x": 3})
    assert column(only_replay(home), "x") == [0, 1, 2, 3]


def test_the_first_may_come_without_an_id_and_the_others_may_not(home: Home) -> None:
    with strobe.init(project="p", mode="shared") as run:
        assert run.id
        with pytest.raises(UsageError, match="id="):
            strobe.init(project="p", mode="shared", reinit="create_new", settings={"x_primary": False})


@pytest.mark.slow
def test_processes_write_one_shared_run(home: Home) -> None:
    code = """
    import sys, strobe
    number = int(sys.argv[1])
    settings = strobe.Settings(x_primary=number == 0, x_update_finish_state=number == 0)
    run = strobe.init(project="p", id="together", mode="shared", settings=settings)
    for step in range(50):
        run.log({f"w{number}": step}, step=step)
    if number == 0:
        sys.stdin.read()
    run.finish()
    """
    import subprocess

    main = start(code, home, "0", stdin=subprocess.PIPE)
    workers = [start(code, home, str(number)) for number in range(1, 4)]
    for worker in workers:
        _, err = worker.communicate(timeout=60)
        assert worker.returncode == 0, err
    _, err = main.communicate("", timeout=60)
    assert main.returncode == 0, err
    replay = replay_of(next(home.iter_runs()))
    assert [len(attempt.writers) for attempt in replay.attempts] == [4]
    for number in range(4):
        assert column(replay, f"w{number}") == list(range(50))
    assert replay.state == "finished"


@pytest.mark.slow
def test_the_environment_alone_disables(home: Home) -> None:
    code = "import strobe\nwith strobe.init(project='p') as run:\n    run.log({'x': 1})\n    print(run.disabled)"
    for more in ({"STROBE_MODE": "disabled"}, {"WANDB_MODE": "disabled"}, {"WANDB_DISABLED": "true"}):
        assert execute(code, home, env=environment(home, **more)).stdout == "True\n"
    assert not home.runs.exists()
