"""log(): steps, merging, and the fate of every kind of value."""

from __future__ import annotations

import datetime as dt
import decimal
import enum
import math
import threading
import uuid
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import strobe
from strobe.errors import RunFinished, StepOrder, UsageError
from strobe.home import Home
from strobe.journal import Replay
from strobe.journal.value import Array
from strobe.sdk.run import Run


@pytest.fixture
def run(home: Home) -> Iterator[Run]:
    run = strobe.init(project="p")
    yield run
    run.finish()


def replay(run: Run) -> Replay:
    found = Replay(run._recorder.run_dir)
    found.refresh()
    assert not found.damages
    return found


def rows(run: Run) -> list[dict[str, Any]]:
    return [{key: value for key, value in row.items() if key[0] != "_"} for row in replay(run).rows()]


def steps(run: Run) -> list[int]:
    return [row["_step"] for row in replay(run).rows()]


# -- steps


def test_rows_count_up_by_themselves(run: Run) -> None:
    for number in range(3):
        assert run.step == number
        run.log({"x": number})
    assert steps(run) == [0, 1, 2]


def test_commit_false_leaves_the_step_open(run: Run) -> None:
    run.log({"a": 1}, commit=False)
    run.log({"b": 2})
    run.log({"c": 3})
    assert rows(run) == [{"a": 1, "b": 2}, {"c": 3}]


def test_an_explicit_step_stays_open_until_another_comes(run: Run) -> None:
    run.log({"a": 1}, step=10)
    run.log({"b": 2}, step=10)
    run.log({"c": 3})
    run.log({"d": 4})
    assert steps(run) == [10, 11]
    assert rows(run) == [{"a": 1, "b": 2, "c": 3}, {"d": 4}]


def test_an_explicit_step_with_commit_moves_on(run: Run) -> None:
    run.log({"a": 1}, step=5, commit=True)
    run.log({"b": 2})
    assert steps(run) == [5, 6]


def test_any_order_of_steps_is_stored(run: Run) -> None:
    for step in (7, 3, 9, 3, -1):
        run.log({"x": step}, step=step)
    assert steps(run) == [-1, 3, 7, 9]


@pytest.mark.parametrize("step", [np.int64(4), 4.0, np.float32(4), True + 3])
def test_whole_numbers_of_any_type_are_steps(run: Run, step: Any) -> None:
    run.log({"x": 1}, step=step)
    assert steps(run) == [4]


@pytest.mark.parametrize("step", [4.5, "4", [4], float("nan")])
def test_other_steps_are_refused(run: Run, step: Any) -> None:
    with pytest.raises((UsageError, ValueError), match="step"):
        run.log({"x": 1}, step=step)
    assert rows(run) == []


def test_strict_steps_raises_and_records_nothing(home: Home) -> None:
    with strobe.init(project="p", strict_steps=True) as run:
        run.log({"x": 1}, step=5)
        with pytest.raises(StepOrder, match="step=3"):
            run.log({"x": 2}, step=3)
        run.log({"y": 1}, step=5)
        assert rows(run) == [{"x": 1, "y": 1}]


# -- values

MOMENT = dt.datetime(2026, 1, 2, 3, 4, 5, tzinfo=dt.timezone.utc)


class Colour(enum.Enum):
    RED = "red"


@dataclass
class Point:
    x: int
    y: float


@pytest.mark.parametrize(
    ("value", "stored"),
    [
        (1, 1),
        (-(2**63), -(2**63)),
        (2**64 - 1, 2**64 - 1),
        (2**64, 2**64),
        (-(10**30), -(10**30)),
        (True, True),
        (None, None),
        (0.1, 0.1),
        (math.inf, math.inf),
        (-math.inf, -math.inf),
        ("text", "text"),
        ("\ud800broken", "\\ud800broken"),
        (b"bytes", b"bytes"),
        (decimal.Decimal("1.25"), 1.25),
        (decimal.Decimal("12"), 12),
        (MOMENT, MOMENT),
        (dt.datetime(2026, 1, 2, 3, 4, 5), "2026-01-02T03:04:05"),
        (dt.date(2026, 1, 2), "2026-01-02"),
        (dt.timedelta(seconds=90), "PT90S"),
        (uuid.UUID(int=5), "00000000-0000-0000-0000-000000000005"),
        (Colour.RED, "red"),
        (Point(1, 2.5), {"x": 1, "y": 2.5}),
        (OrderedDict(a=1), {"a": 1}),
        ({"a": {"b": [1, {"c": 2}]}}, {"a": {"b": [1, {"c": 2}]}}),
        ({1: "x", (2, 3): "y"}, {"1": "x", "(2, 3)": "y"}),
        ((1, 2), [1, 2]),
        ({3}, [3]),
        (1 + 2j, {"real": 1.0, "imag": 2.0}),
        (np.float32(0.5), 0.5),
        (np.float64(0.1), 0.1),
        (np.int8(-3), -3),
        (np.bool_(True), True),
        (np.str_("s"), "s"),
        (np.longdouble(0.5), 0.5),
        (np.complex64(1 + 2j), {"real": 1.0, "imag": 2.0}),
        (np.array(7), 7),
        (np.array([[8.5]]), 8.5),
        (np.array(["a", "b"]), ["a", "b"]),
        (np.array([1, None, "x"], dtype=object), [1, None, "x"]),
        ([np.float32(0.5), {"k": np.int64(2)}], [0.5, {"k": 2}]),
    ],
)
def test_the_fate_of_values(run: Run, value: Any, stored: Any) -> None:
    run.log({"key": value, "other": 1})
    assert rows(run) == [{"key": stored, "other": 1}]


def test_nan_stays_nan(run: Run) -> None:
    run.log({"a": math.nan, "b": np.float32("nan")})
    (row,) = rows(run)
    assert math.isnan(row["a"])
    assert math.isnan(row["b"])
    assert replay(run).metrics["a"].nan == 1


@pytest.mark.parametrize("dtype", ["<f4", "<f8", ">i4", "u1", "<f2", "?", "<c8", "<M8[s]"])
def test_arrays_keep_dtype_shape_and_values(run: Run, dtype: str) -> None:
    array: Any = np.arange(6).reshape(2, 3).astype(dtype)
    run.log({"array": array, "view": array[:, ::2]})
    (row,) = rows(run)
    assert isinstance(row["array"], Array)
    np.testing.assert_array_equal(row["array"].numpy(), array)
    np.testing.assert_array_equal(row["view"].numpy(), array[:, ::2])


def test_nested_dicts_are_kept_and_charted_with_dots(run: Run) -> None:
    run.log({"train": {"loss": 0.5, "name": "x", "deep": {"acc": 1}}})
    assert rows(run) == [{"train": {"loss": 0.5, "name": "x", "deep": {"acc": 1}}}]
    assert sorted(replay(run).metrics) == ["train.deep.acc", "train.loss"]


def test_a_value_that_cannot_be_stored_raises_and_the_others_are_kept(run: Run) -> None:
    with pytest.raises(TypeError, match=r"'model'.*object.*other 2 keys"):
        run.log({"loss": 0.5, "model": object(), "acc": 1})
    assert rows(run) == [{"loss": 0.5, "acc": 1}]
    run.log({"loss": 0.4})
    assert steps(run) == [0, 1]


def test_a_value_that_contains_itself_is_named(run: Run) -> None:
    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises(TypeError, match="'loop'"):
        run.log({"loop": loop, "fine": 1})
    assert rows(run) == [{"fine": 1}]


@pytest.mark.parametrize("data", [None, 3, "loss", [("a", 1)], object()])
def test_only_mappings_can_be_logged(run: Run, data: Any) -> None:
    with pytest.raises(TypeError, match="dict"):
        run.log(data)


def test_keys_must_be_strings(run: Run) -> None:
    with pytest.raises(TypeError, match="strings as keys"):
        run.log({1: 2, "fine": 3})  # type: ignore[dict-item]  # the mistake is the point
    assert rows(run) == [{"fine": 3}]


def test_an_empty_row_is_a_row(run: Run) -> None:
    run.log({})
    assert steps(run) == [0]


def test_a_big_value_goes_to_a_file_and_the_row_stays_small(run: Run) -> None:
    run.log({"big": list(range(50_000)), "huge": "x" * 5_000_000, "loss": 1})
    (row,) = rows(run)
    assert row["loss"] == 1
    for key in ("big", "huge"):
        assert row[key]["_type"] == "value-file"
        stored = run._recorder.run_dir.files / row[key]["path"]
        assert stored.stat().st_size == row[key]["size"]


# -- life


def test_after_finish_a_row_is_refused_clearly(home: Home) -> None:
    run = strobe.init(project="p")
    run.finish()
    with pytest.raises(RunFinished, match=run.id):
        run.log({"x": 1})
    run.finish()
    assert run.step == 0


def test_threads_lose_nothing_and_steps_do_not_collide(run: Run) -> None:
    def work(number: int) -> None:
        for index in range(200):
            run.log({"thread": number, "index": index})

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = rows(run)
    assert len(found) == 1600
    for number in range(8):
        assert [row["index"] for row in found if row["thread"] == number] == list(range(200))


def test_a_signal_handler_may_log_in_the_middle_of_a_log(run: Run) -> None:
    import signal

    def on_alarm(number: int, frame: object) -> None:
        run.log({"alarm": 1}, commit=False)

    previous = signal.signal(signal.SIGALRM, on_alarm)
    signal.setitimer(signal.ITIMER_REAL, 0.001, 0.0005)
    try:
        for index in range(20_000):
            run.log({"x": index})
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
    found = rows(run)
    assert [row["x"] for row in found if "x" in row] == list(range(20_000))
    assert any("alarm" in row for row in found)
