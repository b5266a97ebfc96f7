"""Kinds of values that are close to the usual ones: other sequences, paths, times of pandas and numpy, big values."""

from __future__ import annotations

import collections
import datetime as dt
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
import pandas as pd
import pytest

import strobe
from strobe.data import load
from strobe.home import Home
from strobe.journal import Replay
from strobe.sdk.run import Run

DAY = dt.datetime(2026, 1, 2, 3, 4, 5, tzinfo=dt.timezone.utc)


@pytest.fixture
def run(home: Home) -> Iterator[Run]:
    run = strobe.init(project="p")
    yield run
    run.finish()


def logged(run: Run, value: Any) -> Any:
    run.log({"key": value})
    replay = Replay(run._recorder.run_dir)
    replay.refresh()
    (row,) = replay.rows()
    return row["key"]


@pytest.mark.parametrize(
    ("value", "stored"),
    [
        (collections.deque([1, 2]), [1, 2]),
        (range(3), [0, 1, 2]),
        (collections.UserList([1]), [1]),
        ({"a": 1}.keys(), ["a"]),
        ([range(2), {"x": range(1)}], [[0, 1], {"x": [0]}]),
        (PurePosixPath("a/b"), "a/b"),
        (Path("a"), "a"),
        (Fraction(1, 4), 0.25),
        (pd.Timestamp(DAY), DAY),
        (pd.Timestamp("2026-01-02T03:04:05"), "2026-01-02T03:04:05"),
        (pd.NaT, None),
        (pd.Timedelta(seconds=90), "PT90S"),
        (np.datetime64("2026-01-02"), "2026-01-02"),
        (np.datetime64("2026-01-02T03:04:05.000000001"), "2026-01-02T03:04:05.000000001"),
        (np.array(["2026-01-02"], dtype="M8[D]"), "2026-01-02"),
        (np.datetime64("NaT", "s"), None),
        (np.timedelta64(90, "s"), "PT90S"),
        (np.timedelta64(90 * 10**9, "ns"), "PT90S"),
    ],
)
def test_relatives_of_what_can_be_stored(run: Run, value: Any, stored: Any) -> None:
    assert logged(run, value) == stored


def test_a_generator_is_not_used_up_for_nothing(run: Run) -> None:
    numbers = iter([1, 2, 3])
    with pytest.raises(TypeError, match="'key'"):
        run.log({"key": numbers})
    assert next(numbers) == 1


@pytest.mark.parametrize("value", [[1.5] * 500_000, {"deep": {"text": "x" * 5_000_000}}, b"x" * 5_000_000])
def test_a_big_value_can_be_loaded_again(run: Run, value: Any) -> None:
    record = logged(run, value)
    assert record["_type"] == "value-file"
    assert load(record, run.dir) == value


def test_a_big_array_can_be_loaded_again(run: Run) -> None:
    array: Any = np.arange(100_000, dtype="f4").reshape(1000, 100)
    record = logged(run, array)
    np.testing.assert_array_equal(load(record, run.dir).numpy(), array)
    with pytest.raises(ValueError, match="leads out"):
        load({**record, "path": "../../secret"}, run.dir)
