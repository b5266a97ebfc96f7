"""Rows are flattened, chosen and thinned without losing what was asked for."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strobe.api.rows import between, columns, flatten, order_by, sample, select
from strobe.errors import UsageError

ROWS: list[dict[str, Any]] = [
    {"_step": 0, "_timestamp": 1.0, "a": 1},
    {"_step": 1, "_timestamp": 2.0, "b": 2},
    {"_step": 2, "_timestamp": 3.0, "a": 3, "b": 4},
]


def test_nested_dicts_become_dotted_keys_and_media_stay_whole() -> None:
    image = {"_type": "image-file", "path": "media/x.png"}
    row = {"a": {"b": {"c": 1}, "img": image}, "empty": {}, "x": 2}
    assert flatten(row) == {"a.b.c": 1, "a.img": image, "empty": {}, "x": 2}


def test_select_any_and_every_key() -> None:
    assert [row["_step"] for row in select(ROWS, ["a"], every=True)] == [0, 2]
    assert [row["_step"] for row in select(ROWS, ["a", "b"], every=True)] == [2]
    assert [row["_step"] for row in select(ROWS, ["a", "b"], every=False)] == [0, 1, 2]
    assert list(select(ROWS, None, every=True)) == ROWS
    assert next(select(ROWS, ["b"], every=True)) == {"_step": 1, "_timestamp": 2.0, "b": 2}


def test_the_axes_alone_may_be_asked_for() -> None:
    assert [list(row) for row in select(ROWS, ["_step"], every=True)] == [["_step", "_timestamp"]] * 3


def test_between_has_an_open_upper_end() -> None:
    assert [row["_step"] for row in between(ROWS, 1, 2)] == [1]
    assert len(list(between(ROWS, None, None))) == 3


@given(st.integers(0, 300), st.integers(1, 300))
def test_a_sample_is_ordered_distinct_and_keeps_the_ends(size: int, count: int) -> None:
    rows = [{"_step": step} for step in range(size)]
    steps = [row["_step"] for row in sample(rows, count)]
    assert len(steps) == min(size, count)
    assert steps == sorted(set(steps))
    if size and count > 1:
        assert (steps[0], steps[-1]) == (0, size - 1)


def test_a_sample_of_nothing_is_refused() -> None:
    with pytest.raises(UsageError, match="at least 1"):
        sample(ROWS, 0)


def test_another_axis_orders_the_rows_that_have_it() -> None:
    rows: list[dict[str, Any]] = [
        {"_step": 0, "epoch": 2},
        {"_step": 1, "epoch": 1},
        {"_step": 2},
        {"_step": 3, "epoch": float("nan")},
    ]
    assert [row["_step"] for row in order_by(rows, "epoch")] == [1, 0]
    assert order_by(rows, "_step") is rows


def test_columns_have_the_axes_first() -> None:
    assert columns([{"z": 1, "_step": 0}, {"a": 1, "z": 2}]) == ["_step", "z", "a"]
