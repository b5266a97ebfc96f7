"""The noise floor of a benchmark: how far two measurements of the same code lie apart on this machine.

Repeats within one session share its state (memory layout, neighbours, temperature), so their spread says too little
about the next session. What earlier sessions of one commit show is the honest figure. Without such a history two
sessions are told apart only by what is far beyond their own spread; repeats that were interleaved shared every state,
and need no floor.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from strobe.bench import stats
from strobe.bench.compare.pairing import RowKey, row_key
from strobe.bench.compare.significance import student
from strobe.bench.records import Record

#: relative difference below which two sessions of unknown noise are not told apart, even if their own spread is small
BLIND = 0.10
_SPREADS = 4
#: so many sessions beyond the first of their commit make a history
_ENOUGH = 4


@dataclass(frozen=True, slots=True)
class Floor:
    """A relative difference that noise alone brings about, and how that is known."""

    value: float
    source: Literal["interleaved", "history", "spread"]
    #: sessions that it rests on
    num_sessions: int = 0


INTERLEAVED = Floor(0.0, "interleaved")


@dataclass(frozen=True, slots=True)
class _Scatter:
    """How the logarithms of a benchmark's medians scatter from session to session, commit by commit."""

    deviation: float
    freedom: int
    num_sessions: int


class History:
    """What earlier sessions say about the noise of each benchmark."""

    def __init__(self, records: Iterable[Record]) -> None:
        self._logs: dict[tuple[RowKey, str], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
        for record in records:
            place = record.environment
            # Uncommitted code may differ between two sessions: they prove nothing about noise.
            if record.samples and min(record.samples) > 0 and place.git_commit and not place.is_dirty:
                same_code = f"{place.git_commit}/{place.softprint}"
                self._logs[row_key(record), place.fingerprint][same_code].append(math.log(stats.median(record.samples)))

    def floor(self, a: Record, b: Record) -> Floor:
        """Return the floor for these two sessions; the less quiet machine counts."""
        scatter = self._scatter(a, b)
        if scatter is None:
            return Floor(max(BLIND, *(_SPREADS * _spread(one.samples) for one in (a, b))), "spread")
        # Student's factor for 95 %, near enough and never too small from 4 degrees of freedom on.
        factor = 1.96 + 3.3 / scatter.freedom
        apart = factor * math.sqrt(2) * scatter.deviation
        return Floor(math.expm1(apart), "history", scatter.num_sessions)

    def p(self, a: Record, b: Record, log_ratio: float) -> float:
        """Return how often two sessions of the same code lie as far apart; 0 when nobody knows."""
        scatter = self._scatter(a, b)
        if scatter is None:
            return 0.0
        if scatter.deviation == 0:
            return 0.0 if log_ratio else 1.0
        return student(abs(log_ratio) / (math.sqrt(2) * scatter.deviation), scatter.freedom)

    def _scatter(self, a: Record, b: Record) -> _Scatter | None:
        known = [self._scatter_of(record) for record in (a, b)]
        found = [scatter for scatter in known if scatter is not None]
        return max(found, key=lambda scatter: scatter.deviation) if len(found) == len(known) else None

    def _scatter_of(self, record: Record) -> _Scatter | None:
        groups = self._logs.get((row_key(record), record.environment.fingerprint), {}).values()
        freedom = sum(len(logs) - 1 for logs in groups)
        if freedom < _ENOUGH:
            return None
        squares = sum((value - sum(logs) / len(logs)) ** 2 for logs in groups for value in logs)
        return _Scatter(math.sqrt(squares / freedom), freedom, sum(map(len, groups)))


def _spread(samples: Sequence[float]) -> float:
    """Return the relative standard deviation, from the median absolute deviation: an outlier must not hide a change."""
    middle = abs(stats.median(samples))
    return 1.4826 * stats.mad(samples) / middle if middle else 0.0
