"""run.summary: what was logged last, what was set by hand, and that nothing set is lost."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import strobe
from strobe.errors import RunFinished
from strobe.home import Home
from strobe.sdk.run import Run
from tests.sdk.scripts import replay_of


@pytest.fixture
def run(home: Home) -> Iterator[Run]:
    run = strobe.init(project="p")
    yield run
    run.finish()


def recorded(run: Run) -> dict[str, Any]:
    """What another process reads."""
    return replay_of(run._recorder.run_dir).summary


def test_the_last_value_of_every_key(run: Run) -> None:
    run.log({"loss": 3, "name": "a"})
    run.log({"loss": 1})
    assert dict(run.summary) == recorded(run) == {"loss": 1, "name": "a"}
    assert len(run.summary) == 2
    assert "loss" in run.summary
    assert sorted(run.summary.keys()) == ["loss", "name"]
    assert run.summary.get("none") is None


def test_by_hand_wins_until_the_key_is_logged_again(run: Run) -> None:
    run.log({"best": 1})
    run.summary["best"] = 5
    assert run.summary["best"] == 5
    run.log({"best": 2})
    assert run.summary["best"] == recorded(run)["best"] == 2


def test_attributes_update_and_deletion(run: Run) -> None:
    run.summary.best = 1
    run.summary.update({"a": 1, "b": np.float32(0.5)})
    run.summary.update(c=3)
    run.summary.update([("d", 4)])
    assert recorded(run) == {"best": 1, "a": 1, "b": 0.5, "c": 3, "d": 4}
    del run.summary["a"]
    del run.summary.b
    assert run.summary.pop("c") == 3
    assert run.summary.setdefault("d", 9) == 4
    assert run.summary.setdefault("e", 5) == 5
    assert recorded(run) == {"best": 1, "d": 4, "e": 5}
    with pytest.raises(KeyError):
        del run.summary["a"]
    with pytest.raises(AttributeError, match="'nothing'"):
        _ = run.summary.nothing


def test_update_may_leave_alone_what_is_there(run: Run) -> None:
    run.summary["a"] = 1
    run.summary.update({"a": 2, "b": 2}, overwrite=False)
    assert recorded(run) == {"a": 1, "b": 2}


def test_a_deleted_key_comes_back_when_it_is_logged(run: Run) -> None:
    run.log({"x": 1})
    del run.summary["x"]
    assert "x" not in recorded(run)
    run.log({"x": 2})
    assert recorded(run) == {"x": 2}


def test_what_is_assigned_to_a_nested_dict_is_recorded(run: Run) -> None:
    run.summary["eval"] = {"top1": 0.5, "deep": {"a": 1}}
    run.summary["eval"]["top5"] = 0.9
    run.summary["eval"]["deep"]["b"] = 2
    run.summary.eval.deep.c = np.int64(3)
    run.summary["eval"]["deep"].update({"d": 4})
    del run.summary["eval"]["top1"]
    held = run.summary["eval"]
    held["x"] = 1
    held["y"] = 2
    expected = {"top5": 0.9, "deep": {"a": 1, "b": 2, "c": 3, "d": 4}, "x": 1, "y": 2}
    assert recorded(run) == {"eval": expected}
    assert run.summary["eval"] == expected


def test_a_nested_dict_that_was_logged_can_be_changed_too(run: Run) -> None:
    run.log({"eval": {"top1": 0.5}})
    run.summary["eval"]["note"] = "good"
    assert recorded(run) == {"eval": {"top1": 0.5, "note": "good"}}


def test_values_meet_the_same_fate_as_in_rows(run: Run) -> None:
    run.summary["nan"] = math.nan
    run.summary["big"] = 2**70
    run.summary["histogram"] = strobe.Histogram([1, 2, 3])
    run.summary["numbers"] = np.arange(3)
    found = recorded(run)
    assert math.isnan(found["nan"])
    assert found["big"] == 2**70
    assert found["histogram"]["_type"] == "histogram"
    assert found["numbers"].numpy().tolist() == [0, 1, 2]
    with pytest.raises(TypeError, match="'thing'"):
        run.summary["thing"] = object()
    assert "thing" not in run.summary


def test_after_the_end_it_can_be_read_and_not_changed(home: Home) -> None:
    run = strobe.init(project="p")
    run.log({"x": 1})
    run.summary["nested"] = {"a": 1}
    held = run.summary["nested"]
    run.finish()
    assert dict(run.summary) == {"x": 1, "nested": {"a": 1}}
    with pytest.raises(RunFinished, match=run.id):
        run.summary["x"] = 2
    with pytest.raises(RunFinished):
        del run.summary["x"]
    with pytest.raises(RunFinished):
        held["b"] = 2


def test_another_writers_rows_are_seen(run: Run) -> None:
    run.log({"x": 1})
    assert run.summary["x"] == 1
    other = strobe.init(project="p", id=run.id, resume="allow", reinit="create_new")
    other.log({"y": 2})
    other.finish()
    assert dict(run.summary) == {"x": 1, "y": 2}
