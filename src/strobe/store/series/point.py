"""Points: the raw rows of a series as arrays.

The one idea: all integer columns are rows of one matrix, so that cutting, joining and encoding are one numpy call each.
Must not know pages or buckets.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from strobe.store.series.column import Array

FLOAT, INT, BOOL = 0, 1, 2  # what the user logged; the value is a float64 all the same

_STEP, _TIME, _LAG, _WRITER, _SEQUENCE, _KIND = range(6)
CURVE_INTS = 2  # step and time

_Columns = TypeVar("_Columns", bound="Columns")


@dataclass(frozen=True, slots=True, eq=False)
class Columns:
    """Rows as two matrices: `ints` int64 and `floats` float64, one matrix row per column."""

    ints: Array
    floats: Array

    def __len__(self) -> int:
        return int(self.ints.shape[1])

    def take(self: _Columns, chosen: Array | slice) -> _Columns:
        """Return the rows of a slice, a mask or an index array; a slice copies nothing."""
        return type(self)(self.ints[:, chosen], self.floats[:, chosen])

    @classmethod
    def concat(cls: type[_Columns], parts: Sequence[_Columns]) -> _Columns:
        """Return the rows of all parts, in that order; there must be at least one part."""
        if len(parts) == 1:
            return parts[0]
        return cls(np.concatenate([p.ints for p in parts], axis=1), np.concatenate([p.floats for p in parts], axis=1))


class Curve(Columns):
    """Points as far as a chart needs them: steps, times and values."""

    __slots__ = ()

    @property
    def step(self) -> Array:
        return self.ints[_STEP]

    @property
    def time_ns(self) -> Array:
        return self.ints[_TIME]

    @property
    def value(self) -> Array:
        return self.floats[0]


class Points(Curve):
    """Scalar points. In a series, and wherever `ordered` is said, steps rise strictly.

    `lag_ns` is the time that orders a point less `time_ns` (almost always 0); `writer` is an index into the run's
    writers.
    """

    __slots__ = ()

    @classmethod
    def of(
        cls,
        step: Array | Sequence[int],
        value: Array | Sequence[float],
        *,
        time_ns: Array | Sequence[int] | int = 0,
        lag_ns: Array | Sequence[int] | int = 0,
        writer: Array | Sequence[int] | int = 0,
        sequence: Array | Sequence[int] | int = 0,
        kind: Array | Sequence[int] | int = FLOAT,
    ) -> Points:
        """Build points from columns; a single number stands for a column of it."""
        ints: Array = np.empty((6, len(step)), "<i8")
        for row, column in enumerate((step, time_ns, lag_ns, writer, sequence, kind)):
            ints[row] = column
        floats: Array = np.empty((1, len(step)), "<f8")
        floats[0] = value
        return cls(ints, floats)

    @classmethod
    def none(cls) -> Points:
        """Return no points."""
        return cls(np.empty((6, 0), "<i8"), np.empty((1, 0), "<f8"))

    @property
    def lag_ns(self) -> Array:
        return self.ints[_LAG]

    @property
    def writer(self) -> Array:
        return self.ints[_WRITER]

    @property
    def sequence(self) -> Array:
        return self.ints[_SEQUENCE]

    @property
    def kind(self) -> Array:
        return self.ints[_KIND]

    @property
    def curve(self) -> Curve:
        return Curve(self.ints[:CURVE_INTS], self.floats)

    @property
    def order_ns(self) -> Array:
        """The moments that order points; the sum wraps like the subtraction that made the lag, so they are exact."""
        moments: Array = self.time_ns + self.lag_ns
        return moments

    def plain_values(self) -> list[float | int | bool]:
        """Return the values as what was logged: floats, integers and bools."""
        numbers: list[float | int | bool] = self.value.tolist()
        for index in np.flatnonzero(self.kind).tolist():
            number = numbers[index]
            if int(self.kind[index]) == BOOL:
                numbers[index] = bool(number)
            elif math.isfinite(number):  # an integer beyond all doubles is inf here
                numbers[index] = int(number)
        return numbers

    def ordered(self, rank: Array) -> Points:
        """Return the points by step, of each step the latest: the greatest (time + lag, rank of writer, sequence).

        Of points that are equal in all of these the last given is kept.
        """
        if (self.step[1:] > self.step[:-1]).all():
            return self
        order = np.lexsort((self.sequence, rank[self.writer], self.order_ns, self.step))
        steps = self.step[order]
        return self.take(order[np.append(steps[1:] != steps[:-1], True)])
