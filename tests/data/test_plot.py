"""Charts: the table and spec they carry, and the counting behind the curves."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from strobe.data import Table, load, plot
from strobe.data.files import DirectoryFiles
from strobe.data.plot.chart import CustomChart
from strobe.data.plot.classifier import count_above


def table() -> Table:
    return Table(columns=["x", "y", "name"], data=[[1, 0.5, "a"], [2, 1.5, "b"]])


@pytest.mark.parametrize(
    ("chart", "spec"),
    [
        (plot.line(table(), "x", "y", title="t"), {"kind": "line", "x": "x", "y": "y", "title": "t"}),
        (
            plot.line(table(), "x", "y", stroke="name"),
            {"kind": "line", "x": "x", "y": "y", "stroke": "name", "title": ""},
        ),
        (plot.scatter(table(), "x", "y"), {"kind": "scatter", "x": "x", "y": "y", "title": ""}),
        (plot.bar(table(), "name", "y"), {"kind": "bar", "label": "name", "value": "y", "title": ""}),
        (plot.histogram(table(), "y"), {"kind": "histogram", "value": "y", "title": ""}),
        (plot.visualize("panel", table()), {"kind": "visualize", "name": "panel"}),
        (
            plot.plot_table("me/mine/v1", table(), {"a": "x"}, {"title": "t"}, split_table=True),
            {
                "kind": "vega",
                "name": "me/mine/v1",
                "fields": {"a": "x"},
                "string_fields": {"title": "t"},
                "split_table": True,
            },
        ),
    ],
)
def test_charts_of_a_table(files: DirectoryFiles, chart: CustomChart, spec: dict[str, Any]) -> None:
    record = chart.record(files, "c", 0)
    assert record["_type"] == "chart"
    assert record["spec"] == spec
    assert record["table"]["_type"] == "table"
    assert load(record, files.directory) == chart


def test_a_big_chart_is_a_file_and_a_small_record(files: DirectoryFiles) -> None:
    rows = [[i, i / 7] for i in range(20_000)]
    chart = plot.line(Table(columns=["x", "y"], data=rows), "x", "y")
    record = chart.record(files, "c", 0)
    assert record["table"]["path"].startswith("media/table/c_table_0_")
    assert load(record, files.directory) == chart


def test_line_series_with_shared_or_own_x() -> None:
    shared = plot.line_series([0, 1], [[1, 2], [3, 4]], keys=["a", "b"], title="t", xname="time")
    assert shared.table.data == [[0, "a", 1], [1, "a", 2], [0, "b", 3], [1, "b", 4]]
    assert (shared.spec["kind"], shared.spec["xname"]) == ("line_series", "time")
    own = plot.line_series(np.array([[0, 1], [2, 3]]), np.array([[1, 2], [3, 4]]))
    assert own.table.data == [[0, "line_0", 1], [1, "line_0", 2], [2, "line_1", 3], [3, "line_1", 4]]
    with pytest.raises(ValueError, match="2 lines in ys need as many in keys, got 1"):
        plot.line_series([0], [[1], [2]], keys=["a"])
    with pytest.raises(ValueError, match="2 lines in ys need as many in xs, got 1"):
        plot.line_series([[0]], [[1], [2]])
    with pytest.raises(ValueError, match="line 'line_0' has 1 x values and 2 y values"):
        plot.line_series([0], [[1, 2]])


def test_mistakes_in_charts() -> None:
    with pytest.raises(ValueError, match="the chart's y is column 'z', but the table has"):
        plot.line(table(), "x", "z")
    with pytest.raises(TypeError, match="a chart draws a Table, got list"):
        plot.scatter([[1, 2]], "x", "y")  # type: ignore[arg-type]


def test_confusion_matrix() -> None:
    chart = plot.confusion_matrix(y_true=[0, 1, 1, 2], preds=[0, 1, 2, 2], class_names=["a", "b", "c"])
    counts = {(row[0], row[1]): row[2] for row in chart.table.data}
    assert len(counts) == 9
    assert {pair: n for pair, n in counts.items() if n} == {
        ("a", "a"): 1,
        ("b", "b"): 1,
        ("b", "c"): 1,
        ("c", "c"): 1,
    }
    by_probability = plot.confusion_matrix(y_true=np.array([0, 1]), probs=np.array([[0.9, 0.1], [0.8, 0.2]]))
    assert by_probability.table.data == [
        ["Class_1", "Class_1", 1],
        ["Class_1", "Class_2", 0],
        ["Class_2", "Class_1", 1],
        ["Class_2", "Class_2", 0],
    ]
    names = plot.confusion_matrix(y_true=["cat", "dog"], preds=["dog", "dog"]).table.get_column("Actual")
    assert names == ["Class_1", "Class_1", "Class_2", "Class_2"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"y_true": [0]}, "either probs or preds"),
        ({"y_true": [0], "preds": [0], "probs": [[1]]}, "either probs or preds"),
        ({"preds": [0]}, "needs y_true"),
        ({"y_true": [0, 1], "preds": [0]}, "2 true classes and 1 predictions"),
        ({"y_true": [0, 5], "preds": [0, 1], "class_names": ["a", "b"]}, "class 5 occurs"),
    ],
)
def test_mistakes_in_confusion_matrices(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        plot.confusion_matrix(**arguments)


def brute(scores: Sequence[float], truth: Sequence[bool]) -> tuple[list[int], list[int]]:
    levels = sorted(set(scores), reverse=True)
    hits = [sum(t for s, t in zip(scores, truth, strict=True) if s >= level) for level in levels]
    misses = [sum(not t for s, t in zip(scores, truth, strict=True) if s >= level) for level in levels]
    return hits, misses


@given(st.lists(st.tuples(st.floats(0, 1) | st.sampled_from([0.0, 0.5, 1.0]), st.booleans()), min_size=1, max_size=40))
def test_counting_above_each_threshold(samples: list[tuple[float, bool]]) -> None:
    scores, truth = [s for s, _ in samples], [t for _, t in samples]
    assert count_above(scores, truth) == brute(scores, truth)


def test_counting_with_and_without_numpy_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    scores, truth = rng.random(3000).round(2).tolist(), (rng.random(3000) < 0.5).tolist()
    with_numpy = count_above(scores, truth)
    monkeypatch.delitem(sys.modules, "numpy")
    assert count_above(scores, truth) == with_numpy


TRUTH = [0, 0, 1, 1]
SCORES = [[0.9, 0.1], [0.6, 0.4], [0.65, 0.35], [0.2, 0.8]]


def test_roc_curve_by_hand() -> None:
    chart = plot.roc_curve(TRUTH, SCORES, labels=["cat", "dog"], classes_to_plot=[1])
    # scores of class 1 from the highest: 0.8 dog, 0.4 cat, 0.35 dog, 0.1 cat
    assert chart.table.data == [
        ["dog", 0.0, 0.0],
        ["dog", 0.0, 0.5],
        ["dog", 0.5, 0.5],
        ["dog", 0.5, 1.0],
        ["dog", 1.0, 1.0],
    ]
    assert chart.spec["x-axis-title"] == "False positive rate"
    assert {row[0] for row in plot.roc_curve(TRUTH, np.array(SCORES)).table.data} == {"0", "1"}


def test_pr_curve_by_hand() -> None:
    chart = plot.pr_curve(TRUTH, SCORES, classes_to_plot=[1], interp_size=3)
    assert chart.table.columns == ["class", "precision", "recall"]
    assert chart.table.data == [["1", pytest.approx(2 / 3), 1.0], ["1", 1.0, 0.5], ["1", 1.0, 0.0]]
    assert len(plot.pr_curve(TRUTH, SCORES).table) == 42


def test_of_two_classes_one_score_is_enough() -> None:
    both = plot.roc_curve(TRUTH, SCORES, classes_to_plot=[1])
    assert plot.roc_curve(TRUTH, [row[1] for row in SCORES], classes_to_plot=[1]) == both


def test_straight_parts_of_a_curve_are_left_out() -> None:
    truth = [0] * 500 + [1] * 500
    perfect = plot.roc_curve(truth, [i / 1000 for i in range(1000)], classes_to_plot=[1])
    assert perfect.table.data == [["1", 0.0, 0.0], ["1", 0.0, 1.0], ["1", 1.0, 1.0]]


def test_long_curves_are_thinned_and_keep_their_ends() -> None:
    rng = np.random.default_rng(0)
    truth, scores = rng.integers(0, 2, 60_000), rng.random(60_000)
    rows = plot.roc_curve(truth, scores, classes_to_plot=[1]).table.data
    assert 9_000 < len(rows) <= 10_000
    assert (rows[0], rows[-1]) == (["1", 0.0, 0.0], ["1", 1.0, 1.0])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((None, None), "give y_true"),
        (([0, 1], [[1, 0]]), "2 true classes and 1 rows"),
        (([], []), "they must be as many, and some"),
        (([0, 1, 2], [[1, 0]] * 3), "3 classes occur in y_true, but y_probas has 2 scores"),
    ],
)
def test_mistakes_in_curves(arguments: tuple[Any, Any], message: str) -> None:
    for draw in (plot.roc_curve, plot.pr_curve):
        with pytest.raises(ValueError, match=message):
            draw(*arguments)
    with pytest.raises(ValueError, match="interp_size must be 2 or more"):
        plot.pr_curve([0], [[1]], interp_size=1)
