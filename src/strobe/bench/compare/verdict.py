"""What may be said about one row: faster, slower, same, inconclusive — or that it must not be compared at all.

*Faster* and *slower* need three things: a small p after the correction for the number of rows, bounds that exclude
"equal", and a difference beyond both the noise floor and the threshold of what matters. *Same* needs bounds that lie
within the threshold even when the noise floor is added to them. Everything else is *inconclusive*, which is a result
too. Correctness comes first: a row that computes the wrong thing has no speed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from strobe.bench.compare.estimate import Estimate
from strobe.bench.compare.noise import Floor
from strobe.bench.records import Record

Verdict = Literal["faster", "slower", "same", "inconclusive", "incorrect", "failed"]

#: fewer repeats than this cannot show that nothing has changed
_ENOUGH_FOR_SAME = 5


@dataclass(frozen=True, slots=True)
class Rule:
    """What it takes to be convinced."""

    #: chance of calling any row of one comparison different when none is
    alpha: float = 0.05
    #: relative difference that is too small to matter
    threshold: float = 0.03

    @property
    def confidence(self) -> float:
        return 1.0 - self.alpha


DEFAULT = Rule()


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a comparison."""

    name: str
    a: Record
    b: Record
    verdict: Verdict
    #: None when there is nothing to estimate from
    estimate: Estimate | None
    #: the greater of the rank test's and the history's p, after Holm's correction
    p: float | None
    floor: Floor
    #: what the reader should know besides
    notes: tuple[str, ...] = ()


def gate(a: Record, b: Record) -> tuple[Verdict, str] | None:
    """Return why a row has no speed to compare, if so."""
    for side, record in (("A", a), ("B", b)):
        if record.error is not None or not record.samples:
            return "failed", f"{side} failed: {record.error or 'no samples'}"
        if record.correctness is not None and not record.correctness.is_correct:
            return "incorrect", f"{side} is incorrect: error {_error_text(record)}"
    return None


def _error_text(record: Record) -> str:
    found = record.correctness
    if found is None or found.error is None:
        return "not a number"
    return f"{found.error:.2g}, tolerance {found.tolerance:.2g}"


def judge(estimate: Estimate, p: float, floor: float, rule: Rule) -> Verdict:
    """Judge an estimate by its corrected p and the noise floor."""
    noise, matters = math.log1p(floor), math.log1p(rule.threshold)
    low, size, high = map(math.log, (estimate.low, estimate.value, estimate.high))
    if p <= rule.alpha and (low > 0 or high < 0) and abs(size) >= max(noise, matters):
        return "faster" if size > 0 else "slower"
    if estimate.n >= _ENOUGH_FOR_SAME and low - noise > -matters and high + noise < matters:
        return "same"
    return "inconclusive"


def is_beyond_doubt(a: Sequence[float], b: Sequence[float], margin: float) -> bool:
    """Whether two sides lie so far apart that no test is needed.

    With three repeats a side the smallest p that a rank test can give is 0.1, also for a factor of four. There, the gap
    between the sides has to be three times as wide as the range of either, and twice as wide as the margin.
    """
    if min(len(a), len(b)) < 3:
        return False
    (low_a, high_a), (low_b, high_b) = ((math.log(min(side)), math.log(max(side))) for side in (a, b))
    gap = max(low_b - high_a, low_a - high_b)
    return gap > max(3 * (high_a - low_a), 3 * (high_b - low_b), 2 * math.log1p(margin))
