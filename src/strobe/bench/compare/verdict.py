"""What may be said about one row: faster, slower, same, inconclusive — or that it must not be compared at all.

*Faster* and *slower* need three things: a small p after the correction for the number of rows, bounds that exclude
"equal", and a difference beyond both the noise floor and the threshold of what matters. *Same* needs bounds that lie
within the threshold. Everything else is *inconclusive*, which is a result too, and so are two sessions of which one had
to share the machine. Correctness comes first: a row that computes the wrong thing has no speed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from strobe.bench.compare.estimate import Estimate
from strobe.bench.compare.noise import GROUNDS, Floor
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
    #: occasions that alpha is shared by: whoever looks again later on has half of it now
    num_occasions: int = 1

    @property
    def level(self) -> float:
        """The p that convinces on one occasion."""
        return self.alpha / self.num_occasions

    @property
    def confidence(self) -> float:
        return 1.0 - self.level


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
    #: the greater of the p within and between the sessions, after Holm's correction
    p: float | None
    floor: Floor
    #: what the reader should know besides
    notes: tuple[str, ...] = ()
    #: why it is inconclusive, if it is
    reason: str = ""
    #: why no difference between its two sessions says anything about the code, if so
    disturbance: str = ""


def gate(a: Record, b: Record) -> tuple[Verdict, str] | None:
    """Return why a row has no speed to compare, if so."""
    for side, record in (("A", a), ("B", b)):
        if record.is_left_out:
            return "inconclusive", f"in {side} {record.error}"
        if record.error is not None or not record.samples:
            # Below its first line an error has the last words of the process, which are for the table.
            error = (record.error or "no samples").splitlines()[0]
            return "failed", f"{side} failed: {error}"
        if record.correctness is not None and not record.correctness.is_correct:
            return "incorrect", f"{side} is incorrect: error {_error_text(record)}"
    return None


def disturbance(a: Record, b: Record) -> str:
    """Return that others had the machine in most repeats of a side, if so: two sessions differ by that alone.

    Repeats in turns share their neighbours, and need no such doubt.
    """
    sides = [side for side, record in (("A", a), ("B", b)) if _is_disturbed(record)]
    return f"others used the CPUs in most repeats of {' and '.join(sides)}" if sides else ""


def _is_disturbed(record: Record) -> bool:
    return 2 * sum(repeat.is_disturbed for repeat in record.repeats) > len(record.repeats)


def _error_text(record: Record) -> str:
    found = record.correctness
    if found is None or found.error is None:
        return "not a number"
    return f"{found.error:.2g}, tolerance {found.tolerance:.2g}"


def judge(estimate: Estimate, p: float, floor: Floor, rule: Rule) -> Verdict:
    """Judge an estimate by its corrected p and the noise floor."""
    if estimate.low is None or estimate.high is None:
        return "inconclusive"
    matters = math.log1p(rule.threshold)
    low, size, high = map(math.log, (estimate.low, estimate.value, estimate.high))
    if p <= rule.level and (low > 0 or high < 0) and abs(size) >= max(math.log1p(floor.value), matters):
        return "faster" if size > 0 else "slower"
    is_enough = estimate.n >= _ENOUGH_FOR_SAME and floor.source != "few"
    if is_enough and low > -matters and high < matters:
        return "same"
    return "inconclusive"


def why_open(estimate: Estimate, p: float, floor: Floor, rule: Rule) -> str:
    """Return what an inconclusive row lacks."""
    if estimate.low is None:
        return "one repeat has no bounds"
    size = abs(math.log(estimate.value))
    if size >= math.log1p(rule.threshold):
        if size < math.log1p(floor.value):
            return f"within the noise floor of {100 * floor.value:.0f} % ({GROUNDS[floor.source]})"
        return f"p is {p:.2g}, and {rule.level:.2g} is asked for"
    if floor.value:
        return f"a noise floor of {100 * floor.value:.0f} % hides it ({GROUNDS[floor.source]})"
    return "the bounds are too wide to call it the same"
