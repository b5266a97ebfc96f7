"""The best batch size: greatest throughput that is correct, keeps the latency limit and is no larger than allowed.

Doubles the batch while it qualifies, then bisects between the last that does and the first that does not. A first one
that is late is halved until one is in time. Such trials are short: the best of them may be one that was lucky, and is
measured properly before it is reported. Where it does not qualify then, the next best is, and so on. If none qualifies,
the smallest that was tried is what is reported, with its sign. How a batch is measured is the caller's business.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import msgspec

from strobe.bench.records import Record

#: measures one batch size
Measure = Callable[[int], Record]

#: the bisection ends when the two ends are this near
_PRECISION = 0.1
#: throughput that fell so far does not come back with a larger batch
_HOPELESS = 0.8


@dataclass(frozen=True, slots=True)
class Choice:
    """What a search found; `best` qualifies if any of the trials does."""

    best: Record
    trials: tuple[Record, ...]

    def next_size(self, finals: Sequence[Record]) -> int | None:
        """Return which batch is to be measured properly, after those that were: the best trial that is left.

        None if the last of them qualifies, or none is left. What is larger than a late one need not be tried.
        """
        if not finals:
            return _size(self.best)
        if qualifies(finals[-1]):
            return None
        done = {_size(final) for final in finals}
        too_large = min((_size(final) for final in finals if _is_late(final)), default=math.inf)
        left = [one for one in self.trials if qualifies(one) and _size(one) not in done and _size(one) < too_large]
        return _size(max(left, key=_score)) if left else None


def winner(finals: Sequence[Record]) -> Record:
    """Return what is reported of the batches that were measured properly: the one that qualifies, else the smallest."""
    return next(filter(qualifies, finals), min(finals, key=_size))


def qualifies(record: Record) -> bool:
    """Whether a batch may be chosen. Where too few steps leave the limit undecided, the percentile itself decides."""
    if record.error is not None or not record.samples:
        return False
    if record.correctness is not None and not record.correctness.is_correct:
        return False
    latency = record.latency
    if latency is None or latency.status == "met":
        return True
    return latency.status == "undecided" and latency.num_over <= latency.n * (1.0 - latency.percentile / 100)


def _size(record: Record) -> int:
    return record.batch_size or 0


def _score(record: Record) -> float:
    return record.digest().median


def _is_late(record: Record) -> bool:
    """Whether only the latency limit keeps a batch from being chosen: a smaller one may be in time."""
    return not qualifies(record) and qualifies(msgspec.structs.replace(record, latency=None))


def search(measure: Measure, *, first: int, max_batch: int) -> Choice:
    """Find the best batch up to `max_batch`; below `first` only if that one is late."""
    found: dict[int, Record] = {}

    def is_good(size: int) -> bool:
        found[size] = measure(size)
        return qualifies(found[size])

    def score(size: int) -> float:
        return _score(found[size])

    low, high = 0, first
    best = 0
    while is_good(high):
        low = high
        best = max(best or low, low, key=score)
        if high == max_batch or score(low) < _HOPELESS * score(best):
            high = 0
            break
        high = min(2 * high, max_batch)
    while not low and high > 1 and _is_late(found[high]):
        if is_good(high // 2):
            low = best = high // 2
        else:
            high //= 2
    while high and low and high - low > max(1, _PRECISION * low):
        middle = (low + high) // 2
        if is_good(middle):
            low = middle
            best = max(best, low, key=score)
        else:
            high = middle
    trials = tuple(found[size] for size in sorted(found))
    return Choice(found[best] if best else trials[0], trials)
