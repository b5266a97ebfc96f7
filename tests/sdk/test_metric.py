"""define_metric: axes, patterns, what goes into the summary; and the small calls: alert, status, labels."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from typing import Any

import pytest

import strobe
from strobe.errors import UsageError
from strobe.home import Home
from strobe.journal import Replay
from strobe.sdk.run import Run
from tests.sdk.scripts import replay_of


@pytest.fixture
def run(home: Home) -> Iterator[Run]:
    run = strobe.init(project="p")
    yield run
    run.finish()


def read(run: Run) -> Replay:
    return replay_of(run._recorder.run_dir)


LOSSES = [5.0, 1.0, 3.0]


@pytest.mark.parametrize(
    ("summary", "goal", "expected"),
    [
        (None, None, 3.0),
        ("min", None, {"min": 1.0}),
        ("max", None, {"max": 5.0}),
        ("mean", None, {"mean": 3.0}),
        ("first", None, {"first": 5.0}),
        ("last", None, {"last": 3.0}),
        ("min,max", None, {"min": 1.0, "max": 5.0}),
        (" Min , LAST ", None, {"min": 1.0, "last": 3.0}),
        ("copy", None, 3.0),
        ("best", None, {"best": 1.0}),
        ("best", "maximize", {"best": 5.0}),
        ("best", "min", {"best": 1.0}),
    ],
)
def test_what_goes_into_the_summary(run: Run, summary: str | None, goal: str | None, expected: Any) -> None:
    run.define_metric("loss", summary=summary, goal=goal)
    for loss in LOSSES:
        run.log({"loss": loss})
    assert run.summary["loss"] == expected


def test_none_keeps_a_metric_out(run: Run) -> None:
    run.define_metric("noise", summary="none")
    run.log({"noise": 1, "loss": 2})
    assert dict(run.summary) == {"loss": 2}
    run.summary["noise"] = "by hand"
    assert run.summary["noise"] == "by hand"


def test_a_definition_holds_for_what_was_logged_before_it(run: Run) -> None:
    for loss in LOSSES:
        run.log({"loss": loss})
    run.define_metric("loss", summary="min")
    assert run.summary["loss"] == {"min": 1.0}


def test_patterns_and_names(run: Run) -> None:
    run.define_metric("*", step_metric="step")
    run.define_metric("val/*", step_metric="epoch", summary="max")
    run.define_metric("val/loss", summary="min")
    replay = read(run)
    assert [getattr(replay.definition(key), "step_metric", None) for key in ("x", "val/acc", "train/loss")] == [
        "step",
        "epoch",
        "step",
    ]
    exact = replay.definition("val/loss")
    assert exact is not None
    assert exact.summary == ["min"]
    run.log({"val/acc": 0.9, "val/loss": 3, "x": 1})
    run.log({"val/acc": 0.5, "val/loss": 4, "x": 2})
    assert dict(run.summary) == {"val/acc": {"max": 0.9}, "val/loss": {"min": 3}, "x": 2}


@pytest.mark.parametrize("order", [("*", "val/*", "val/top*"), ("val/top*", "val/*", "*"), ("val/*", "val/top*", "*")])
def test_the_most_specific_pattern_holds_whatever_the_order(run: Run, order: tuple[str, ...]) -> None:
    for pattern in order:
        run.define_metric(pattern, step_metric=f"over {pattern}")
    found = [read(run).definition(key) for key in ("loss", "val/acc", "val/top5")]
    assert [metric.step_metric for metric in found if metric] == ["over *", "over val/*", "over val/top*"]


def test_one_metric_may_be_given_as_the_axis_of_another(run: Run) -> None:
    epoch = run.define_metric("epoch", hidden=True)
    loss = run.define_metric("loss", step_metric=epoch, step_sync=False)
    assert (loss.name, loss.step_metric, loss.step_sync, epoch.hidden) == ("loss", "epoch", False, True)
    assert run.define_metric("acc", step_metric="epoch").step_sync is True


def test_definitions_add_up_unless_overwritten(run: Run) -> None:
    run.define_metric("loss", summary="min")
    run.define_metric("loss", step_metric="epoch")
    found = read(run).definition("loss")
    assert found is not None
    assert (found.summary, found.step_metric) == (["min"], "epoch")
    run.define_metric("loss", step_metric="step", overwrite=True)
    found = read(run).definition("loss")
    assert found is not None
    assert (found.summary, found.step_metric) == ([], "step")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"name": ""}, "name"),
        ({"name": 3}, "3"),
        ({"name": "x", "summary": "median"}, "median"),
        ({"name": "x", "summary": "min,nope"}, "nope"),
        ({"name": "x", "goal": "upwards"}, "upwards"),
    ],
)
def test_words_that_are_not_known_are_named(run: Run, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        run.define_metric(**arguments)
    assert read(run).definitions == {}


def test_nan_and_text_do_not_disturb_a_summary(run: Run) -> None:
    run.define_metric("loss", summary="min,max")
    for loss in (2.0, float("nan"), "none yet", 1.0):
        run.log({"loss": loss})
    assert run.summary["loss"] == {"min": 1.0, "max": 2.0}


# -- alerts


def test_alerts_are_recorded(run: Run) -> None:
    run.alert("first")
    run.alert(title="second", text="more", level=strobe.AlertLevel.WARN)
    run.alert("third", text=ValueError("any object"), level="error")  # type: ignore[arg-type]
    assert [(alert.title, alert.text, alert.level) for alert in read(run).alerts] == [
        ("first", "", "INFO"),
        ("second", "more", "WARN"),
        ("third", "any object", "ERROR"),
    ]


@pytest.mark.parametrize("wait", [60, 60.0, dt.timedelta(minutes=1)])
def test_the_same_alert_waits(run: Run, wait: Any) -> None:
    for title in ("same", "same", "other"):
        run.alert(title, wait_duration=wait)
    assert [alert.title for alert in read(run).alerts] == ["same", "other"]


def test_a_wrong_level_is_named_and_the_alert_can_be_given_again(run: Run) -> None:
    with pytest.raises(UsageError, match="LOUD"):
        run.alert("title", level="LOUD", wait_duration=60)
    run.alert("title", level="WARN", wait_duration=60)
    assert len(read(run).alerts) == 1


# -- the small calls


def test_status_tells_what_is_recorded(run: Run) -> None:
    for step in range(3):
        run.log({"x": step})
    status = run.status()
    assert (status.rows, status.rejected, status.directory) == (3, 0, run.sync_dir)


def test_status_counts_values_that_could_not_be_stored(run: Run) -> None:
    run._rejected = 2
    assert run.status().rejected == 2


def test_labels_add_up(run: Run) -> None:
    run._label(code="transformers_trainer")
    run._label(repo="huggingface", code_version="2")
    assert read(run).attributes["labels"] == {
        "code": "transformers_trainer",
        "repo": "huggingface",
        "code_version": "2",
    }


def test_preempting_is_noted(run: Run) -> None:
    run.mark_preempting()
    assert read(run).attributes["preempting"] is True
    assert read(run).state == "running"


def test_a_step_beyond_64_bits_is_refused_by_name(run: Run) -> None:
    with pytest.raises(UsageError, match="step"):
        run.log({"x": 1}, step=2**64)
    run.log({"x": 2})
    assert [(row["_step"], row["x"]) for row in read(run).rows()] == [(0, 2)]


def test_names_that_readers_use_themselves_cannot_hide_what_they_mean(run: Run) -> None:
    run.log({"_step": 99, "_timestamp": 1.0, "_runtime": "x", "_own": 5, "x": 1}, step=3)
    (row,) = read(run).rows()
    assert (row["_step"], row["_own"], row["x"]) == (3, 5, 1)
    assert row["_timestamp"] > 1e9
    assert row["_runtime"] < 100
