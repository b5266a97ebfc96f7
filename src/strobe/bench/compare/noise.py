"""The noise floor of a benchmark: how far two measurements of the same code lie apart on this machine.

Repeats within one session share its state (memory layout, neighbours, temperature), so their spread says nothing about
the next session. What earlier sessions of one commit show is the honest figure. Without such a history a scatter of
10 % from session to session is assumed, so that two sessions show only what is large. Repeats that were interleaved
shared every state and need no floor, unless they are so few that all might have been lucky alike.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

from strobe.bench import stats, student
from strobe.bench.compare.estimate import Estimate
from strobe.bench.compare.pairing import RowKey, row_key
from strobe.bench.records import Record, distinct

#: standard deviation, from session to session of the same code, that is assumed where no history knows better
ASSUMED = 0.10
#: what a process may gain by luck (where its memory lies, which core it got): for too few pairs to rank
LUCK = 0.25
#: so many sessions beyond the first of their commit make a history
_ENOUGH = 4

Source = Literal["interleaved", "few", "history", "assumed"]
#: how each is known, in words
GROUNDS: dict[Source, str] = {
    "interleaved": "none: the sides were measured in turns",
    "few": "assumed: so few pairs may all be lucky by chance",
    "history": "what earlier sessions of one commit differed by",
    "assumed": f"assumed, since no history of one commit is known: sessions scatter by {100 * ASSUMED:.0f} %",
}


@dataclass(frozen=True, slots=True)
class Floor:
    """A relative difference that noise alone brings about, and how that is known."""

    value: float
    source: Source
    #: sessions that it rests on
    num_sessions: int = 0


INTERLEAVED = Floor(0.0, "interleaved")
FEW = Floor(LUCK, "few")


@dataclass(frozen=True, slots=True)
class _Scatter:
    """How the logarithms of a benchmark's medians scatter from session to session, commit by commit."""

    deviation: float
    freedom: int
    num_sessions: int


#: taken as if 31 sessions had shown it, since it may well be more
_ASSUMPTION = _Scatter(ASSUMED, freedom=30, num_sessions=0)


class History:
    """What earlier sessions say about the noise of each benchmark; a result that is named twice counts once."""

    def __init__(self, records: Iterable[Record]) -> None:
        self._logs: dict[tuple[RowKey, str], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
        for record in distinct(records):
            place = record.environment
            # Uncommitted code may differ between two sessions: they prove nothing about noise. Nor do single trials,
            # nor what was measured until it differed.
            is_proof = place.git_commit and not place.is_dirty and not record.is_aside
            if is_proof and record.samples and min(record.samples) > 0:
                same_code = f"{place.git_commit}/{place.softprint}"
                self._logs[row_key(record), place.fingerprint][same_code].append(math.log(stats.median(record.samples)))

    def floor(self, a: Record, b: Record) -> Floor:
        """Return the floor for these two sessions; the less quiet machine counts."""
        scatter = self._scatter(a, b)
        found = scatter or _ASSUMPTION
        apart = student.quantile(0.95, found.freedom) * math.sqrt(2) * found.deviation
        return Floor(math.expm1(apart), "history" if scatter else "assumed", found.num_sessions)

    def widen(self, a: Record, b: Record, found: Estimate, confidence: float) -> Estimate:
        """Return an estimate of two sessions with what they differ by in its bounds and its p.

        A second opinion as to p: neither the test within the sessions nor that between them may be left unconvinced.
        """
        if found.error is None:
            return found
        scatter = self._scatter(a, b) or _ASSUMPTION
        between = math.sqrt(2) * scatter.deviation
        error, freedom = student.combined([(found.error**2, found.freedom), (between**2, scatter.freedom)])
        whole = student.Mean(math.log(found.value), error, freedom)
        low, high = map(stats.factor, whole.bounds(confidence))
        return replace(found, low=low, high=high, p=max(found.p, whole.p), freedom=freedom, between=between)

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
