"""After finish() every change is refused by name; nothing disappears into a closed journal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import strobe
from strobe.errors import RunFinished
from strobe.home import Home
from strobe.sdk.run import Run


def _set_name(run: Run) -> None:
    run.name = "other"


def _set_config(run: Run) -> None:
    run.config["new"] = 2


def _set_summary(run: Run) -> None:
    run.summary["best"] = 1


@pytest.mark.parametrize(
    "change",
    [
        lambda run: run.log({"x": 1}),
        lambda run: run.define_metric("x", summary="min"),
        lambda run: run.alert("title"),
        lambda run: run.mark_preempting(),
        lambda run: run.log_artifact(strobe.Artifact("a", type="t")),
        lambda run: run.save(__file__, policy="now"),
        _set_name,
        _set_config,
        _set_summary,
    ],
)
def test_a_finished_run_refuses_changes(home: Home, change: Callable[[Run], Any]) -> None:
    run = strobe.init(project="p", config={"lr": 1})
    run.finish()
    with pytest.raises(RunFinished, match=run.id):
        change(run)
    assert dict(run.config) == {"lr": 1}
