"""Buckets: what a run of consecutive points comes to, and how buckets join into wider ones.

The one idea: a single point is a bucket too, so raw points, every level of the pyramid and the columns of a chart are
made by one reduction. Extremes and sums are over finite values; NaN and inf are counted apart, so that neither hides
the other. Must not know pages.
"""

from __future__ import annotations

import numpy as np

from strobe.store.series.column import Array
from strobe.store.series.page import MAX_I64
from strobe.store.series.point import Columns, Points

_FIRST_STEP, _LAST_STEP, _MIN_TIME, _MAX_TIME, _MIN_STEP, _MAX_STEP, _COUNT, _NAN, _POSINF, _NEGINF = range(10)
_MIN, _MAX, _SUM, _FIRST, _LAST = range(5)


class Buckets(Columns):
    """Buckets in step order. Where a bucket has no finite value, `min` and `max` are NaN and lie at its first step."""

    __slots__ = ()

    @classmethod
    def none(cls) -> Buckets:
        """Return no buckets."""
        return cls(np.empty((10, 0), "<i8"), np.empty((5, 0), "<f8"))

    @classmethod
    def of_points(cls, points: Points) -> Buckets:
        """Return each point as a bucket of its own."""
        value = points.value
        ints: Array = np.empty((10, len(points)), "<i8")
        ints[[_FIRST_STEP, _LAST_STEP, _MIN_STEP, _MAX_STEP]] = points.step
        ints[[_MIN_TIME, _MAX_TIME]] = points.time_ns
        ints[_COUNT] = 1
        ints[_NAN:] = 0
        floats: Array = np.empty((5, len(points)), "<f8")
        floats[:] = value
        finite = np.isfinite(value)
        if not finite.all():
            ints[_NAN] = np.isnan(value)
            ints[_POSINF] = value == np.inf
            ints[_NEGINF] = value == -np.inf
            floats[_MIN:_SUM, ~finite] = np.nan
            floats[_SUM, ~finite] = 0.0
        return cls(ints, floats)

    def grouped(self, starts: Array) -> Buckets:
        """Join neighbours: bucket `i` of the result stands for those from `starts[i]` up to the next start.

        `starts` rises strictly from 0; both may be empty together.
        """
        if len(starts) == len(self):
            return self
        ends: Array = np.append(starts[1:], len(self)) - 1
        ints: Array = np.empty((10, len(starts)), "<i8")
        floats: Array = np.empty((5, len(starts)), "<f8")
        ints[_FIRST_STEP] = self.first_step[starts]
        ints[_LAST_STEP] = self.last_step[ends]
        ints[_MIN_TIME] = np.minimum.reduceat(self.min_time, starts)
        ints[_MAX_TIME] = np.maximum.reduceat(self.max_time, starts)
        np.add.reduceat(self.ints[_COUNT:], starts, axis=1, out=ints[_COUNT:])
        floats[_FIRST] = self.first[starts]
        floats[_LAST] = self.last[ends]
        with np.errstate(over="ignore", invalid="ignore"):  # a sum past the float range is inf, as in any sum
            np.add.reduceat(self.sum, starts, out=floats[_SUM])
        sizes = np.diff(starts, append=len(self))
        np.fmin.reduceat(self.min, starts, out=floats[_MIN])  # fmin passes over NaN
        np.fmax.reduceat(self.max, starts, out=floats[_MAX])
        # Steps rise, so the least step among those that reach the extreme is where it was reached first.
        is_min = self.min == np.repeat(floats[_MIN], sizes)
        is_max = self.max == np.repeat(floats[_MAX], sizes)
        ints[_MIN_STEP] = np.minimum.reduceat(np.where(is_min, self.min_step, MAX_I64), starts)
        ints[_MAX_STEP] = np.minimum.reduceat(np.where(is_max, self.max_step, MAX_I64), starts)
        nowhere = np.isnan(floats[_MIN])
        ints[_MIN_STEP : _MAX_STEP + 1, nowhere] = ints[_FIRST_STEP, nowhere]
        return Buckets(ints, floats)

    @property
    def is_raw(self) -> bool:
        """Whether each bucket is one point."""
        return bool((self.count == 1).all())

    @property
    def first_step(self) -> Array:
        return self.ints[_FIRST_STEP]

    @property
    def last_step(self) -> Array:
        return self.ints[_LAST_STEP]

    @property
    def min_time(self) -> Array:
        return self.ints[_MIN_TIME]

    @property
    def max_time(self) -> Array:
        return self.ints[_MAX_TIME]

    @property
    def min_step(self) -> Array:
        """The step of the least finite value, the first where several are equal."""
        return self.ints[_MIN_STEP]

    @property
    def max_step(self) -> Array:
        """The step of the greatest finite value, the first where several are equal."""
        return self.ints[_MAX_STEP]

    @property
    def count(self) -> Array:
        return self.ints[_COUNT]

    @property
    def nan(self) -> Array:
        return self.ints[_NAN]

    @property
    def posinf(self) -> Array:
        return self.ints[_POSINF]

    @property
    def neginf(self) -> Array:
        return self.ints[_NEGINF]

    @property
    def min(self) -> Array:
        return self.floats[_MIN]

    @property
    def max(self) -> Array:
        return self.floats[_MAX]

    @property
    def sum(self) -> Array:
        """The sum of the finite values."""
        return self.floats[_SUM]

    @property
    def first(self) -> Array:
        """The value of the first point, NaN and inf included."""
        return self.floats[_FIRST]

    @property
    def last(self) -> Array:
        return self.floats[_LAST]
