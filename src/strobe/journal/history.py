"""Rows of many writers and attempts as one history.

"Later wins" is the total order (attempt, time, writer, sequence); it is stored with the data, so any arrival order
gives the same result. Rows of one step merge; what a later attempt superseded is left out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from operator import lt
from typing import Any

from strobe.journal.digest import MetricDigest
from strobe.journal.entry import MAX_DEPTH, Row
from strobe.journal.segment import Header
from strobe.journal.value import HOLE_VALUE

_NUMBERS = frozenset({float, int})
_BATCH_ROWS = 2048
_BATCH_VALUES = 200_000
_MAX_BATCHES = 4096
_MAX_SEEN = 100_000

#: kinds of writers whose rows are the run's own history
HISTORY_KINDS = frozenset({"main", "rank", "fork", "shared"})

NumberedRow = tuple[Header, Row]


def order(item: NumberedRow) -> tuple[int, int, str, int]:
    """Return the place of a row in the total order."""
    header, row = item
    return header.attempt, row.order_ns, header.writer, row.sequence


def iter_scalars(key: str, item: Any, depth: int = 0) -> Iterator[tuple[str, float | int]]:
    """Yield what of a value can be charted: numbers, and those inside nested maps under dotted keys."""
    if isinstance(item, (int, float)):
        yield key, item
    elif isinstance(item, dict) and "_type" not in item and depth < MAX_DEPTH:
        for name, inner in item.items():
            yield from iter_scalars(f"{key}.{name}", inner, depth + 1)


class Clips:
    """From which step on a key of an attempt is superseded by later attempts."""

    def __init__(self) -> None:
        #: attempt → key → (place in time of the first row that has the key, its step)
        self._first_steps: dict[int, dict[str, tuple[tuple[int, str, int], int]]] = {}
        self._from_steps: dict[int, int] = {}
        self._seen: set[tuple[str, tuple[str, ...]]] = set()

    def note_row(self, header: Header, row: Row) -> None:
        # Rows of one writer come in the order of time, so only its first row of a key set can be the first of a key.
        name = (header.writer, row.keys)
        if name in self._seen:
            return
        if len(self._seen) >= _MAX_SEEN:  # ever new keys: noting a row twice does no harm
            self._seen.clear()
        self._seen.add(name)
        firsts = self._first_steps.setdefault(header.attempt, {})
        place = (row.order_ns, header.writer, row.sequence)
        for key in row.keys:
            known = firsts.get(key)
            if known is None or place < known[0]:
                firsts[key] = (place, row.step)

    def note_from_step(self, attempt: int, step: int | None) -> None:
        if step is not None:
            self._from_steps[attempt] = step

    def rewound_to(self, attempt: int = 0) -> float:
        """Return the first step that attempts after `attempt` gave up on purpose, whatever the key, or inf."""
        return min((step for number, step in self._from_steps.items() if number > attempt), default=math.inf)

    @property
    def is_empty(self) -> bool:
        """Whether nothing at all is superseded."""
        return len(self._first_steps) < 2 and not self._from_steps

    def clip(self, attempt: int, key: str) -> float:
        """Return the first superseded step, or inf."""
        if self.is_empty:
            return math.inf
        bounds = [step for number, step in self._from_steps.items() if number > attempt]
        bounds += [firsts[key][1] for number, firsts in self._first_steps.items() if number > attempt and key in firsts]
        return min(bounds, default=math.inf)


def merge_rows(
    rows: Iterable[NumberedRow],
    clip: Callable[[int, str], float] | None,
    *,
    base: Mapping[int, dict[str, Any]] | None = None,
    origin_ns: int = 0,
) -> list[dict[str, Any]]:
    """Merge rows by step, ascending, each with `_step`, `_timestamp` and `_runtime` (seconds)."""
    by_step: dict[int, dict[str, Any]] = {step: dict(row) for step, row in (base or {}).items()}
    for header, row in sorted(rows, key=order):
        if clip is None:
            kept = dict(row.items())
        else:
            kept = {key: item for key, item in row.items() if row.step < clip(header.attempt, key)}
            if not kept and row.keys:
                continue
        merged = by_step.setdefault(row.step, {})
        merged.update(kept)
        # Last, so that a logged key of that name cannot hide what they mean.
        merged["_step"] = row.step
        merged["_timestamp"] = row.time_ns / 1e9
        merged["_runtime"] = max(0.0, (row.time_ns - origin_ns) / 1e9)
    return [by_step[step] for step in sorted(by_step)]


class _Batch:
    """Rows of one writer and key set that wait to be folded together: columns fold ten times quicker than rows."""

    __slots__ = ("attempt", "keys", "rows", "writer")

    def __init__(self, attempt: int, writer: str, keys: tuple[str, ...]) -> None:
        self.attempt = attempt
        self.writer = writer
        self.keys = keys
        self.rows: list[Row] = []


class DigestBook:
    """Digests per (attempt, metric), and the last value of everything that was logged."""

    def __init__(self) -> None:
        self._by_attempt: dict[int, dict[str, MetricDigest]] = {}
        self._last_values: dict[str, tuple[tuple[int, int, str, int], Any]] = {}
        self._object_steps: dict[int, dict[str, tuple[int, int]]] = {}
        self._batches: dict[tuple[int, str, tuple[str, ...]], _Batch] = {}
        self.num_rows = 0

    @property
    def by_attempt(self) -> dict[int, dict[str, MetricDigest]]:
        self._fold_all()
        return self._by_attempt

    @property
    def last_values(self) -> dict[str, tuple[tuple[int, int, str, int], Any]]:
        """Top-level key → (order, value) of the latest value."""
        self._fold_all()
        return self._last_values

    @property
    def object_steps(self) -> dict[int, dict[str, tuple[int, int]]]:
        """Attempt → top-level key → (lowest, highest) step, of keys whose values are not all numbers."""
        self._fold_all()
        return self._object_steps

    def add(self, header: Header, row: Row) -> None:
        """Take in one row."""
        self.num_rows += not row.is_fill
        name = (header.attempt, header.writer, row.keys)
        batch = self._batches.get(name)
        if batch is None:
            batch = self._batches[name] = _Batch(*name)
        batch.rows.append(row)
        if len(batch.rows) >= _BATCH_ROWS or len(batch.rows) * len(row.keys) >= _BATCH_VALUES:
            self._fold(batch)
            batch.rows = []
        elif len(self._batches) > _MAX_BATCHES:
            self._fold_all()

    def _fold_all(self) -> None:
        for batch in self._batches.values():
            if batch.rows:
                self._fold(batch)
        # Key sets that come once and never again must not pile up.
        self._batches = {}

    def _fold(self, batch: _Batch) -> None:
        rows = batch.rows
        times = [row.order_ns for row in rows]
        if not all(map(lt, times, times[1:])):  # values that were supplied later stand behind their time
            rows = sorted(rows, key=lambda row: (row.order_ns, row.sequence))
            times = [row.order_ns for row in rows]
        steps = [row.step for row in rows]
        rises = all(map(lt, steps, steps[1:])) and all(map(lt, times, times[1:]))
        digests = self._by_attempt.setdefault(batch.attempt, {})
        for key, column in zip(batch.keys, zip(*(row.values for row in rows), strict=True), strict=True):
            self._note_last(batch, key, column, rows)
            if rises and _NUMBERS.issuperset(map(type, column)):
                digest = digests.get(key)
                if digest is None:
                    digest = digests[key] = MetricDigest()
                digest.extend(steps, column, times)
            else:
                bounds = self._object_steps.setdefault(batch.attempt, {})
                bounds[key] = (min(*steps, *bounds.get(key, steps)), max(*steps, *bounds.get(key, steps)))
                for step, time_ns, item in zip(steps, times, column, strict=True):
                    for name, number in iter_scalars(key, item):
                        digests.setdefault(name, MetricDigest()).add(step, number, time_ns)

    def _note_last(self, batch: _Batch, key: str, column: tuple[Any, ...], rows: list[Row]) -> None:
        for row, item in zip(reversed(rows), reversed(column), strict=True):
            if item is HOLE_VALUE:
                continue
            place = (batch.attempt, row.order_ns, batch.writer, row.sequence)
            known = self._last_values.get(key)
            if known is None or known[0] <= place:
                self._last_values[key] = (place, item)
            return
