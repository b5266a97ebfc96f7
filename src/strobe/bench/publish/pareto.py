"""Accuracy against cost: what a task takes in each implementation and precision, and how far its output is off.

A picture is of one task on one system: model, mode, size, batch, device and threads are the same for all of its marks.
Says which marks are worth having; knows nothing of how they are drawn. Pure.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from strobe.bench import stats, table
from strobe.bench.compare.pairing import RowKey, peculiarities, shared_task
from strobe.bench.records import THROUGHPUT, Record
from strobe.bench.spec import without_precision

Fields = dict[str, Any]

#: Errors up to it, relative to the spread of the output, are how fp32 rounds, and count as equal: which of two
#: implementations happens to round better on one batch says nothing about either.
ROUNDING = 1e-5


def trade_offs(records: Iterable[Record]) -> list[Fields]:
    """Return a picture for each task that was measured in more than one way; its marks are the cheapest first."""
    tasks: dict[RowKey, list[Record]] = defaultdict(list)
    for record in records:
        if _has_place(record):
            tasks[shared_task(record)].append(record)
    return [_picture(sorted(rows, key=_cost_s)) for rows in tasks.values() if len(rows) > 1]


def _has_place(record: Record) -> bool:
    # Micros are left out by their unit: each is checked against what its own number format should give.
    is_measured = record.unit == "ex/s" and record.metric == THROUGHPUT and stats.median(record.samples or (0.0,)) > 0
    found = record.correctness
    is_judged = found is not None and not (found.is_correct and found.error is None)  # right, but nobody knows how much
    return is_measured and is_judged and not record.is_aside and not record.is_changed


def _cost_s(record: Record) -> float:
    return 1 / stats.median(record.samples)


def _picture(rows: Sequence[Record]) -> Fields:
    first = rows[0]
    factor, unit = table.scale_of(_cost_s(rows[-1]), "s")
    best = _best(rows)
    size = "" if first.batch_size is None else f"batch {first.batch_size}"
    return {
        "title": " ".join(filter(None, [first.model, first.mode, without_precision(first.config)])),
        "conditions": ", ".join(filter(None, [size, *peculiarities(first)])),
        "unit": unit,
        "marks": [_mark(record, factor, is_best=any(record is one for one in best)) for record in rows],
    }


def _best(rows: Sequence[Record]) -> list[Record]:
    """Return those that are right and that none other beats: none costs less and errs no more, or errs less."""
    places = {
        index: (_cost_s(record), max(found.error, ROUNDING))
        for index, record in enumerate(rows)
        if (found := record.correctness) is not None and found.is_correct and found.error is not None
    }
    return [rows[index] for index, own in places.items() if not any(_beats(other, own) for other in places.values())]


def _beats(other: tuple[float, float], own: tuple[float, float]) -> bool:
    return other != own and other[0] <= own[0] and other[1] <= own[1]


def _mark(record: Record, factor: float, *, is_best: bool) -> Fields:
    found = record.correctness
    assert found is not None  # has no place otherwise
    precision = record.config[len(without_precision(record.config)) :].lstrip("-")
    return {
        "name": f"{record.subject} {precision}".rstrip(),
        "cost": factor * _cost_s(record),
        "score_text": f"{table.score_text(record)} {table.scale(record).unit}",
        "error": found.error,
        "tolerance": found.tolerance,
        "reference": found.reference,
        "is_correct": found.is_correct,
        "is_best": is_best,
    }
