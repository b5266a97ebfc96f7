"""Which rows share a picture of accuracy against cost, and which of them are worth having."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from strobe.bench.publish.pareto import ROUNDING, trade_offs
from strobe.bench.records import Correct, Environment, Record
from tests.bench.results import result

HERE = Environment(cpu="here", cpu_count=2, hardware={"cpu": "here"})


def _row(
    config: str,
    score: float,
    error: float | None,
    *,
    subject: str = "Optimized",
    is_correct: bool = True,
    **fields: Any,
) -> Record:
    found = Correct(is_correct=is_correct, error=error, max_error=error, tolerance=0.3, reference="OOTB float64")
    key = f"toy/{subject.lower()}/inference/{config}"
    known = {"model": "Toy", "mode": "Inference", "environment": HERE, "threads": 2}
    return msgspec.structs.replace(result([score], key, correctness=found, **known), **fields)


def _best(*rows: Record) -> list[str]:
    (task,) = trade_offs(rows)
    return [mark["name"] for mark in task["marks"] if mark["is_best"]]


def test_a_task_with_its_marks_the_cheapest_first() -> None:
    rows = [
        _row("one", 100, 0.0, subject="OOTB"),
        _row("one-fp32", 200, 2e-6),
        _row("one-embed8-int8", 500, 0.12),
        _row("one-embed4-int8", 625, 0.4, is_correct=False),
    ]
    (task,) = trade_offs(rows)
    assert (task["title"], task["conditions"], task["unit"]) == ("Toy Inference one", "batch 8", "ms")
    assert [(mark["name"], mark["cost"], mark["error"]) for mark in task["marks"]] == [
        ("Optimized embed4-int8", pytest.approx(1.6), 0.4),
        ("Optimized embed8-int8", pytest.approx(2.0), 0.12),
        ("Optimized fp32", pytest.approx(5.0), 2e-6),
        ("OOTB", pytest.approx(10.0), 0.0),
    ]
    assert [mark["is_correct"] for mark in task["marks"]] == [False, True, True, True]
    assert {mark["tolerance"] for mark in task["marks"]} == {0.3}
    # What is wrong is no bargain; what fp32 rounds is no reason to pay twice as much.
    assert _best(*rows) == ["Optimized embed8-int8", "Optimized fp32"]


def test_what_is_as_cheap_and_as_exact_is_as_good() -> None:
    assert _best(_row("one-bf16", 10, 0.01), _row("one-fp16", 10, 0.01)) == ["Optimized bf16", "Optimized fp16"]
    assert _best(_row("one-bf16", 10, 0.01), _row("one-fp16", 10, 0.02)) == ["Optimized bf16"]
    assert _best(_row("one-bf16", 10, 0.01), _row("one-fp16", 9, 0.01)) == ["Optimized bf16"]


def test_what_is_right_but_nobody_knows_how_much_has_no_mark() -> None:
    (task,) = trade_offs([_row("one-fp32", 10, 1e-6), _row("one-bf16", 20, 1e-3), _row("one-fp16", 90, None)])
    assert [mark["name"] for mark in task["marks"]] == ["Optimized bf16", "Optimized fp32"]


def test_names_of_benchmarks_may_be_of_any_form() -> None:
    (task,) = trade_offs([_row("one-fp32", 10, 1e-6, benchmark="mine"), _row("one-fp16", 20, 1e-3, benchmark="a/b")])
    assert len(task["marks"]) == 2


def test_an_output_that_is_no_number_has_a_mark() -> None:
    (task,) = trade_offs([_row("one-fp32", 10, 1e-6), _row("one-fp16", 90, None, is_correct=False)])
    assert [(mark["error"], mark["is_best"]) for mark in task["marks"]] == [(None, False), (1e-6, True)]


@pytest.mark.parametrize(
    "fields",
    [
        {"batch_size": 64},
        {"device": "cuda"},
        {"threads": 1},
        {"devices": 2},
        {"unit": "TF/s"},
        {"metric": "serving"},
        {"correctness": None},
        {"is_trial": True},
        {"is_changed": True},
        {"samples": (), "error": "out of memory"},
    ],
)
def test_only_what_was_measured_alike_shares_a_picture(fields: dict[str, Any]) -> None:
    other = _row("one-int8", 100, 0.1)
    assert len(trade_offs([_row("one-fp32", 10, 1e-6), other])) == 1
    changed = msgspec.structs.replace(other, **fields)
    assert trade_offs([_row("one-fp32", 10, 1e-6), changed]) == []


def test_another_size_is_another_picture() -> None:
    pairs = [_row(f"{size}-{kind}", 10, 1e-6) for size in ("one", "two") for kind in ("fp32", "int8")]
    assert [task["title"] for task in trade_offs(pairs)] == ["Toy Inference one", "Toy Inference two"]


def test_how_it_was_measured_is_said_where_that_is_unusual() -> None:
    (task,) = trade_offs([_row(f"one-{kind}", 10, 1e-6, device="cuda", threads=1) for kind in ("fp32", "int8")])
    assert task["conditions"] == "batch 8, cuda, threads=1"


@given(st.lists(st.tuples(st.integers(1, 9), st.sampled_from([0.0, 1e-7, 1e-3, 0.1, 0.2])), min_size=2, max_size=8))
def test_the_best_cover_all_others_and_do_not_beat_each_other(places: list[tuple[int, float]]) -> None:
    rows = [_row(f"one-embed{index}", score, error) for index, (score, error) in enumerate(places)]
    (task,) = trade_offs(rows)
    marks = [(mark["cost"], max(mark["error"], ROUNDING), mark["is_best"]) for mark in task["marks"]]
    best = {mark[:2] for mark in marks if mark[2]}
    for cost, error, is_best in marks:
        covering = {one for one in best if one[0] <= cost and one[1] <= error}
        assert covering == {(cost, error)} if is_best else covering
