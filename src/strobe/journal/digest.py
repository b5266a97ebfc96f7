"""What one metric adds up to: last, best, count, mean, and a sparkline, in a few hundred bytes.

Points come in rising steps and time almost always; then one pass is exact. Any other point sets `disordered`, and
whoever owns the digest computes it again from all points. A second value at the same step replaces the first.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

SPARK_BUCKETS = 64


class MetricDigest:
    """A running digest of (step, value) points. NaN and ±inf are counted and keep their place as `last`."""

    __slots__ = (
        "_open",
        "_open_step",
        "_spark",
        "_spark_width",
        "count",
        "disordered",
        "first",
        "first_step",
        "goal",
        "last",
        "last_step",
        "last_time_ns",
        "max",
        "max_step",
        "min",
        "min_step",
        "nan",
        "neginf",
        "posinf",
        "sum",
    )

    def __init__(self) -> None:
        self.count = 0
        self.sum = 0.0
        self.min = math.inf
        self.max = -math.inf
        self.min_step: int | None = None
        self.max_step: int | None = None
        self.first: float | None = None
        self.first_step: int | None = None
        self.last: float | int | None = None
        self.last_step: int | None = None
        self.last_time_ns = 0
        self.nan = 0
        self.posinf = 0
        self.neginf = 0
        self.disordered = False
        #: "minimize" or "maximize"; best follows it
        self.goal: str | None = None
        # The value at the highest step so far is kept apart until a later step comes: it may still be replaced.
        self._open: float | int | None = None
        self._open_step: int | None = None
        self._spark: list[tuple[float, int]] = []
        self._spark_width = 1

    def add(self, step: int, number: float | int, time_ns: int = 0) -> None:
        """Take in one point."""
        if self._open_step is not None:
            if step > self._open_step:
                self._fold(self._open_step, self._open)
            elif step < self._open_step or time_ns < self.last_time_ns:
                self.disordered = True
                self._fold(step, number)
                if time_ns >= self.last_time_ns:
                    self.last, self.last_step, self.last_time_ns = number, step, time_ns
                return
        elif self.first_step is None:
            self.first_step = step
        self._open, self._open_step = number, step
        self.last, self.last_step, self.last_time_ns = number, step, time_ns

    def extend(self, steps: Sequence[int], numbers: Sequence[float | int], times_ns: Sequence[int]) -> None:
        """Take in many points whose steps and times rise strictly; the same as adding them one by one, only quicker."""
        if self._open_step is not None and (steps[0] <= self._open_step or times_ns[0] < self.last_time_ns):
            for step, number, time_ns in zip(steps, numbers, times_ns, strict=True):
                self.add(step, number, time_ns)
            return
        if self._open_step is not None:
            self._fold(self._open_step, self._open)
        elif self.first_step is None:
            self.first_step = steps[0]
        self._open, self._open_step = numbers[-1], steps[-1]
        self.last, self.last_step, self.last_time_ns = numbers[-1], steps[-1], times_ns[-1]
        self._fold_many(steps[:-1], numbers[:-1])

    def _fold_many(self, steps: Sequence[int], numbers: Sequence[float | int]) -> None:
        try:
            total = float(sum(numbers))
        except OverflowError:
            total = math.nan
        if not math.isfinite(total):  # something in there is NaN, infinite or huge: look at each
            for step, number in zip(steps, numbers, strict=True):
                self._fold(step, number)
            return
        if not numbers:
            return
        self.count += len(numbers)
        self.sum += total
        if self.first_step == steps[0]:
            self.first = float(numbers[0])
        low, high = min(numbers), max(numbers)
        if low < self.min:
            self.min, self.min_step = float(low), steps[numbers.index(low)]
        if high > self.max:
            self.max, self.max_step = float(high), steps[numbers.index(high)]
        self._add_sparks(numbers)

    def closed(self) -> MetricDigest:
        """Return a copy with the value kept apart folded in; this digest goes on as it was."""
        twin = MetricDigest()
        for name in self.__slots__:
            setattr(twin, name, getattr(self, name))
        twin._spark = list(self._spark)
        if twin._open_step is not None:
            twin._fold(twin._open_step, twin._open)
            twin._open_step = None
        return twin

    def _fold(self, step: int, number: float | int | None) -> None:
        point = _to_float(number)
        self.count += 1
        if self.first_step == step:
            self.first = point
        if math.isnan(point):
            self.nan += 1
        elif math.isinf(point):
            if point > 0:
                self.posinf += 1
            else:
                self.neginf += 1
        else:
            self.sum += point
            if point < self.min:
                self.min, self.min_step = point, step
            if point > self.max:
                self.max, self.max_step = point, step
            self._add_sparks((point,))

    def _add_sparks(self, numbers: Sequence[float | int]) -> None:
        done = 0
        while done < len(numbers):
            if not self._spark or self._spark[-1][1] >= self._spark_width:
                self._open_bucket()
            mean, weight = self._spark[-1]
            part = numbers[done : done + self._spark_width - weight]
            done += len(part)
            both = weight + len(part)
            self._spark[-1] = (mean + (float(sum(part)) - mean * len(part)) / both, both)

    def _open_bucket(self) -> None:
        spark = self._spark
        if len(spark) >= 2 * SPARK_BUCKETS:
            self._spark = [
                ((a * wa + b * wb) / (wa + wb), wa + wb)
                for (a, wa), (b, wb) in zip(spark[::2], spark[1::2], strict=True)
            ]
            self._spark_width *= 2
        self._spark.append((0.0, 0))

    def set_spark(self, buckets: Iterable[tuple[float, int]]) -> None:
        """Take over a sparkline: the mean and the number of consecutive points, bucket by bucket."""
        self._spark = list(buckets)

    @property
    def spark(self) -> list[float]:
        """Up to 128 means of equally many consecutive points."""
        return [mean for mean, weight in self._spark if weight]

    @property
    def num_finite(self) -> int:
        return self.count - self.nan - self.posinf - self.neginf

    @property
    def mean(self) -> float | None:
        return self.sum / self.num_finite if self.num_finite else None

    @property
    def best(self) -> float | None:
        """The highest or the lowest value, as the goal says; None without a goal."""
        if not self.num_finite or self.goal is None:
            return None
        return self.max if self.goal == "maximize" else self.min

    @property
    def best_step(self) -> int | None:
        if self.goal is None:
            return None
        return self.max_step if self.goal == "maximize" else self.min_step

    def merge(self, later: MetricDigest) -> MetricDigest:
        """Return the digest of both sets of points, where `later` lies at later steps. Both must be closed."""
        both = MetricDigest()
        both.count = self.count + later.count
        both.sum = self.sum + later.sum
        both.nan, both.posinf, both.neginf = (
            self.nan + later.nan,
            self.posinf + later.posinf,
            self.neginf + later.neginf,
        )
        low, high = (self if self.min <= later.min else later), (self if self.max >= later.max else later)
        both.min, both.min_step, both.max, both.max_step = low.min, low.min_step, high.max, high.max_step
        start = self if self.first_step is not None else later
        both.first, both.first_step = start.first, start.first_step
        end = later if later.last_step is not None else self
        both.last, both.last_step, both.last_time_ns = end.last, end.last_step, end.last_time_ns
        both.goal = later.goal or self.goal
        spark = self._spark + later._spark
        both._spark_width = max(self._spark_width, later._spark_width)
        if len(spark) > 2 * SPARK_BUCKETS:
            spark = spark[:: 1 + len(spark) // (2 * SPARK_BUCKETS)]
        both._spark = spark
        return both

    @classmethod
    def of(cls, points: Iterable[tuple[int, float | int, int]]) -> MetricDigest:
        """Return the closed digest of (step, value, time_ns) points."""
        digest = cls()
        for step, number, time_ns in points:
            digest.add(step, number, time_ns)
        return digest.closed()


def _to_float(number: float | int | None) -> float:
    try:
        return float(number)  # type: ignore[arg-type]  # None never comes here: an open step has a value
    except OverflowError:
        return math.inf if (number or 0) > 0 else -math.inf
