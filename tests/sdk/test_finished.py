"""A run that has ended: reading goes on at once, whatever would change it is refused by name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import strobe
from strobe.errors import RunFinished
from strobe.home import Home
from strobe.sdk.run import Run
from tests.sdk.scripts import replay_of


@pytest.fixture
def ended(home: Home) -> Run:
    run = strobe.init(project="p", name="n", notes="text", tags=["t"], config={"lr": 1})
    run.log({"x": 1})
    run.finish()
    return run


def test_everything_can_still_be_read(ended: Run) -> None:
    assert (ended.step, ended.starting_step, ended.name, ended.notes, ended.tags) == (1, 0, "n", "text", ("t",))
    assert (ended.config["lr"], ended.summary["x"], ended.status().rows) == (1, 1, 1)
    assert Path(ended.dir).is_dir()
    assert ended.url is None
    assert repr(ended)


CHANGES: dict[str, Callable[[Run], Any]] = {
    "log": lambda run: run.log({"y": 1}),
    "config": lambda run: run.config.update({"new": 1}),
    "summary": lambda run: run.summary.update({"new": 1}),
    "name": lambda run: setattr(run, "name", "other"),
    "notes": lambda run: setattr(run, "notes", "other"),
    "tags": lambda run: setattr(run, "tags", ["other"]),
    "define_metric": lambda run: run.define_metric("y"),
    "alert": lambda run: run.alert("title"),
    "mark_preempting": lambda run: run.mark_preempting(),
    "_label": lambda run: run._label(code="x"),
    "save": lambda run: run.save(__file__, base_path=str(Path(__file__).parent)),
    "log_code": lambda run: run.log_code(str(Path(__file__).parent)),
    "log_artifact": lambda run: run.log_artifact(__file__, type="code"),
    "use_artifact": lambda run: run.use_artifact("a:latest"),
    "log_model": lambda run: run.log_model(__file__),
    "use_model": lambda run: run.use_model("m:latest"),
    "link_artifact": lambda run: run.link_artifact("a", "b"),
    "link_model": lambda run: run.link_model(__file__, "b"),
    "upsert_artifact": lambda run: run.upsert_artifact(__file__, type="t"),
    "finish_artifact": lambda run: run.finish_artifact(__file__, type="t"),
    "write_logs": lambda run: run.write_logs("text"),
    "watch": lambda run: run.watch(None),
}


@pytest.mark.parametrize("name", CHANGES)
def test_changes_are_refused_and_change_nothing(ended: Run, name: str) -> None:
    before = sorted(path for path in ended._recorder.run_dir.path.rglob("*"))
    with pytest.raises(RunFinished, match=ended.id):
        CHANGES[name](ended)
    assert sorted(path for path in ended._recorder.run_dir.path.rglob("*")) == before
    assert (ended.name, ended.notes, ended.tags) == ("n", "text", ("t",))
    assert replay_of(ended._recorder.run_dir).state == "finished"


def test_ending_again_does_nothing(ended: Run) -> None:
    ended.finish(exit_code=3)
    ended.unwatch()
    assert replay_of(ended._recorder.run_dir).exit_code == 0
