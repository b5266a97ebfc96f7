"""Charts of how well a classifier does: confusion matrix, precision-recall and ROC curves.

The counting is done here, in plain Python, with numpy for the sorting when the process has it: no other library.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import accumulate, pairwise
from typing import Any

from strobe.data.plot.chart import KINDS, CustomChart, plot_table
from strobe.data.table import Table

#: points of all curves of a chart; more cannot be told apart on a screen
_MAX_POINTS = 10_000


def confusion_matrix(
    probs: Any = None,
    y_true: Any = None,
    preds: Any = None,
    class_names: Sequence[str] | None = None,
    title: str = "Confusion Matrix Curve",
    split_table: bool = False,
) -> CustomChart:
    """Return a chart of how often each class was taken for each: give `preds`, or `probs` with a row per sample.

    With `class_names`, classes are their positions 0, 1, 2…; else whatever values occur.
    """
    if (probs is None) == (preds is None):
        raise ValueError("give either probs or preds, not both and not none")
    if y_true is None:
        raise ValueError("confusion_matrix needs y_true, the class that each sample has")
    truth = _listed(y_true)
    guess = [row.index(max(row)) for row in map(_listed, _listed(probs))] if preds is None else _listed(preds)
    if len(truth) != len(guess):
        raise ValueError(f"{len(truth)} true classes and {len(guess)} predictions; they must be as many")
    classes = sorted({*truth, *guess}) if class_names is None else list(range(len(class_names)))
    names = [f"Class_{i + 1}" for i in range(len(classes))] if class_names is None else [str(n) for n in class_names]
    if unknown := {*truth, *guess} - {*classes}:
        raise ValueError(
            f"class {min(unknown)!r} occurs, but class_names has {len(classes)} names (0 to {len(classes) - 1})"
        )
    counts = Counter(zip(truth, guess, strict=True))
    rows = [
        [actual_name, predicted_name, counts[actual, predicted]]
        for actual, actual_name in zip(classes, names, strict=True)
        for predicted, predicted_name in zip(classes, names, strict=True)
    ]
    columns = ["Actual", "Predicted", "nPredictions"]
    fields = {name: name for name in columns}
    return plot_table(KINDS["confusion_matrix"], Table(columns, rows), fields, {"title": title}, split_table)


def pr_curve(
    y_true: Any = None,
    y_probas: Any = None,
    labels: Sequence[str] | None = None,
    classes_to_plot: Iterable[Any] | None = None,
    interp_size: int = 21,
    title: str = "Precision-Recall Curve",
    split_table: bool = False,
) -> CustomChart:
    """Return precision over recall for each class against the rest, at `interp_size` recalls from 1 down to 0.

    The precision at a recall is the best that any threshold with at least that recall reaches.
    """
    if interp_size < 2:
        raise ValueError(f"interp_size must be 2 or more, got {interp_size}")
    recalls = [1 - i / (interp_size - 1) for i in range(interp_size)]
    rows = []
    for name, scores, is_positive in _one_against_rest(y_true, y_probas, labels, classes_to_plot):
        positives, negatives = count_above(scores, is_positive)
        total = positives[-1] or 1
        points = [(tp / total, tp / (tp + fp)) for tp, fp in zip(positives, negatives, strict=True)]
        # from the highest recall down, the best precision so far
        best = list(accumulate((precision for _, precision in reversed(points)), max))[::-1]
        position = len(points) - 1
        for recall in recalls:
            while position > 0 and points[position - 1][0] >= recall:
                position -= 1
            rows.append([name, best[position], recall])
    axes = {"x-axis-title": "Recall", "y-axis-title": "Precision"}
    fields = {"x": "recall", "y": "precision", "class": "class"}
    table = Table(["class", "precision", "recall"], rows)
    return plot_table(KINDS["area_under_curve"], table, fields, {"title": title, **axes}, split_table)


def roc_curve(
    y_true: Any = None,
    y_probas: Any = None,
    labels: Sequence[str] | None = None,
    classes_to_plot: Iterable[Any] | None = None,
    title: str = "ROC Curve",
    split_table: bool = False,
) -> CustomChart:
    """Return the true positive rate over the false positive rate for each class against the rest.

    Points on a straight line between their neighbours are left out; curves of very many points are thinned.
    """
    curves = []
    for name, scores, is_positive in _one_against_rest(y_true, y_probas, labels, classes_to_plot):
        positives, negatives = count_above(scores, is_positive)
        points = _corners([(0, 0), *zip(negatives, positives, strict=True)])
        curves.append((name, points, negatives[-1] or 1, positives[-1] or 1))
    limit = max(2, _MAX_POINTS // max(1, len(curves)))
    rows = [
        [name, fp / num_negative, tp / num_positive]
        for name, points, num_negative, num_positive in curves
        for fp, tp in _thinned(points, limit)
    ]
    axes = {"x-axis-title": "False positive rate", "y-axis-title": "True positive rate"}
    fields = {"x": "fpr", "y": "tpr", "class": "class"}
    table = Table(["class", "fpr", "tpr"], rows)
    return plot_table(KINDS["area_under_curve"], table, fields, {"title": title, **axes}, split_table)


def _one_against_rest(
    y_true: Any, y_probas: Any, labels: Sequence[str] | None, wanted: Iterable[Any] | None
) -> Iterable[tuple[str, list[float], list[bool]]]:
    """Yield, for each class: its name, the samples' scores for it, and which samples are of it."""
    if y_true is None or y_probas is None:
        raise ValueError("give y_true, the class of each sample, and y_probas, a row of scores for each sample")
    truth, scores = _listed(y_true), _listed(y_probas)
    classes = sorted(set(truth))
    if scores and len(classes) <= 2 and isinstance(scores[0], (int, float)):
        scores = [(1 - score, score) for score in scores]  # of two classes, the score of the second says all
    if not truth or len(truth) != len(scores):
        raise ValueError(f"{len(truth)} true classes and {len(scores)} rows of scores; they must be as many, and some")
    scores = [_listed(row) for row in scores]
    width = min(map(len, scores))
    if width < len(classes):
        raise ValueError(f"{len(classes)} classes occur in y_true, but y_probas has {width} scores per sample")
    shown = set(classes if wanted is None else _listed(wanted))
    for position, found in enumerate(classes):
        if found in shown:
            name = labels[found] if labels is not None and isinstance(found, int) else found
            yield str(name), [row[position] for row in scores], [value == found for value in truth]


def count_above(scores: Sequence[float], is_positive: Sequence[bool]) -> tuple[list[int], list[int]]:
    """Return, for each distinct score from the highest down, how many positives and negatives reach it."""
    np: Any = sys.modules.get("numpy")
    if np is not None and len(scores) > 1000:
        order = np.argsort(-np.asarray(scores, dtype=np.float64), kind="stable")
        ranked, hits = np.asarray(scores, dtype=np.float64)[order], np.asarray(is_positive)[order]
        ends = np.append(np.flatnonzero(np.diff(ranked)), len(ranked) - 1)
        positives = hits.cumsum()[ends]
        return positives.tolist(), (ends + 1 - positives).tolist()
    ordered = sorted(zip(scores, is_positive, strict=True), key=lambda pair: -pair[0])
    running = list(accumulate(hit for _, hit in ordered))
    last = len(ordered) - 1
    kept = [i for i, (score, _) in enumerate(ordered) if i == last or ordered[i + 1][0] != score]
    return [int(running[i]) for i in kept], [i + 1 - int(running[i]) for i in kept]


def _corners(points: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Leave out points that lie on the line from the point before to the point after."""
    kept = points[:1]
    for here, after in pairwise(points[1:]):
        (x0, y0), (x1, y1), (x2, y2) = kept[-1], here, after
        if (x1 - x0) * (y2 - y1) != (x2 - x1) * (y1 - y0):
            kept.append(here)
    return kept + points[1:][-1:]


def _thinned(points: list[tuple[int, int]], limit: int) -> list[tuple[int, int]]:
    if len(points) <= limit:
        return points
    return [points[round(i * (len(points) - 1) / (limit - 1))] for i in range(limit)]


def _listed(values: Any) -> list[Any]:
    return list(values.tolist() if hasattr(values, "tolist") else values)
