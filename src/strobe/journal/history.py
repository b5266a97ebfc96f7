"""Rows of many writers and attempts as one history.

"Later wins" is the total order (attempt, time, writer, sequence); it is stored with the data, so any arrival order
gives the same result. Rows of one step merge; what a later attempt superseded is left out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from strobe.journal.digest import MetricDigest
from strobe.journal.reader import Row
from strobe.journal.segment import Header

#: kinds of writers whose rows are the run's own history
HISTORY_KINDS = frozenset({"main", "rank", "fork", "shared"})

NumberedRow = tuple[Header, Row]


def order(item: NumberedRow) -> tuple[int, int, str, int]:
    """Return the place of a row in the total order."""
    header, row = item
    return header.attempt, row.time_ns, header.writer, row.sequence


def iter_scalars(key: str, item: Any) -> Iterator[tuple[str, float | int]]:
    """Yield what of a value can be charted: numbers, and those inside nested maps under dotted keys."""
    if isinstance(item, (int, float)):
        yield key, item
    elif isinstance(item, dict) and "_type" not in item:
        for name, inner in item.items():
            yield from iter_scalars(f"{key}.{name}", inner)


class Clips:
    """From which step on a key of an attempt is superseded by later attempts."""

    def __init__(self) -> None:
        #: attempt → key → (place in time of the first row that has the key, its step)
        self._first_steps: dict[int, dict[str, tuple[tuple[int, str, int], int]]] = {}
        self._from_steps: dict[int, int] = {}

    def note_row(self, header: Header, row: Row) -> None:
        firsts = self._first_steps.setdefault(header.attempt, {})
        place = (row.time_ns, header.writer, row.sequence)
        for key in row.keys:
            known = firsts.get(key)
            if known is None or place < known[0]:
                firsts[key] = (place, row.step)

    def note_from_step(self, attempt: int, step: int | None) -> None:
        if step is not None:
            self._from_steps[attempt] = step

    def clip(self, attempt: int, key: str) -> float:
        """Return the first superseded step, or inf."""
        if len(self._first_steps) < 2 and not self._from_steps:
            return math.inf
        bounds = [step for number, step in self._from_steps.items() if number > attempt]
        bounds += [firsts[key][1] for number, firsts in self._first_steps.items() if number > attempt and key in firsts]
        return min(bounds, default=math.inf)


def merge_rows(
    rows: Iterable[NumberedRow],
    clip: Callable[[int, str], float],
    *,
    base: Mapping[int, dict[str, Any]] | None = None,
    origin_ns: int = 0,
) -> list[dict[str, Any]]:
    """Merge rows by step, ascending, each with `_step`, `_timestamp` and `_runtime` (seconds)."""
    by_step: dict[int, dict[str, Any]] = {step: dict(row) for step, row in (base or {}).items()}
    for header, row in sorted(rows, key=order):
        kept = {key: item for key, item in row.items() if row.step < clip(header.attempt, key)}
        if not kept and row.keys:
            continue
        merged = by_step.setdefault(row.step, {"_step": row.step})
        merged["_timestamp"] = row.time_ns / 1e9
        merged["_runtime"] = max(0.0, (row.time_ns - origin_ns) / 1e9)
        merged.update(kept)
    return [by_step[step] for step in sorted(by_step)]


class DigestBook:
    """Digests per (attempt, metric), and the last value of everything that was logged."""

    def __init__(self) -> None:
        self.by_attempt: dict[int, dict[str, MetricDigest]] = {}
        #: top-level key → (order, value) of the latest value
        self.last_values: dict[str, tuple[tuple[int, int, str, int], Any]] = {}
        self.num_rows = 0

    def add(self, header: Header, row: Row) -> None:
        """Take in one row."""
        digests = self.by_attempt.setdefault(header.attempt, {})
        place = (header.attempt, row.time_ns, header.writer, row.sequence)
        step, time_ns = row.step, row.time_ns
        self.num_rows += 1
        last_values = self.last_values
        for key, item in row.items():
            previous = last_values.get(key)
            if previous is None or previous[0] <= place:
                last_values[key] = (place, item)
            if type(item) is float or type(item) is int:
                digest = digests.get(key)
                if digest is None:
                    digest = digests[key] = MetricDigest()
                digest.add(step, item, time_ns)
            else:
                for name, number in iter_scalars(key, item):
                    digests.setdefault(name, MetricDigest()).add(step, number, time_ns)
