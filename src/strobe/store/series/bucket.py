"""Buckets: what a run of consecutive points comes to, and how buckets join into wider ones.

The one idea: a single point is a bucket too, so raw points, every level of the pyramid and the columns of a chart are
made by one reduction. Extremes and sums are over finite values; NaN and inf are counted apart, so that neither hides
the other. Must not know pages.
"""

from __future__ import annotations

import numpy as np

from strobe.store.series.column import Array
from strobe.store.series.group import Groups
from strobe.store.series.point import Columns, Curve

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
    def of_points(cls, points: Curve, starts: Array | None = None) -> Buckets:
        """Return neighbouring points as buckets: bucket `i` is those from `starts[i]` up to the next start.

        Without `starts` each point is a bucket of its own.
        """
        groups = Groups(np.arange(len(points)) if starts is None else starts, len(points))
        value = finite = addend = points.value
        ints: Array = np.zeros((10, len(groups.sizes)), "<i8")
        is_finite = np.isfinite(value)
        if not is_finite.all():
            finite, addend = np.where(is_finite, value, np.nan), np.where(is_finite, value, 0.0)
            for row, is_odd in ((_NAN, np.isnan(value)), (_POSINF, value == np.inf), (_NEGINF, value == -np.inf)):
                ints[row] = groups.sum(is_odd.astype(np.int64))
        low, high = groups.min(finite), groups.max(finite)
        ints[_FIRST_STEP], ints[_LAST_STEP] = groups.first(points.step), groups.last(points.step)
        ints[_MIN_TIME], ints[_MAX_TIME] = groups.min(points.time_ns), groups.max(points.time_ns)
        ints[_MIN_STEP] = groups.at_first(finite, low, points.step)
        ints[_MAX_STEP] = groups.at_first(finite, high, points.step)
        ints[_COUNT] = groups.sizes
        floats: Array = np.empty((5, len(groups.sizes)), "<f8")
        floats[_MIN], floats[_MAX], floats[_SUM] = low, high, groups.sum(addend)
        floats[_FIRST], floats[_LAST] = groups.first(value), groups.last(value)
        return cls(ints, floats)

    @classmethod
    def of_blocks(cls, steps: Array, times: Array, values: Array) -> Buckets:
        """Return the points of several series as buckets of equal size, one series after the other.

        `steps` and `times`, which they share, have a row for each bucket; `values`, all finite, have series before
        that. The same buckets as `of_points` gives.
        """
        num_series, num_buckets = values.shape[:2]
        ints: Array = np.zeros((10, num_series, num_buckets), "<i8")
        ints[_FIRST_STEP], ints[_LAST_STEP] = steps[:, 0], steps[:, -1]
        ints[_MIN_TIME], ints[_MAX_TIME] = times.min(axis=1), times.max(axis=1)
        ints[_COUNT] = steps.shape[1]
        at_low, at_high = values.argmin(axis=2), values.argmax(axis=2)
        row: Array = np.arange(num_buckets)
        ints[_MIN_STEP], ints[_MAX_STEP] = steps[row, at_low], steps[row, at_high]
        floats: Array = np.empty((5, num_series, num_buckets), "<f8")
        floats[_MIN] = np.take_along_axis(values, at_low[:, :, None], axis=2)[:, :, 0]
        floats[_MAX] = np.take_along_axis(values, at_high[:, :, None], axis=2)[:, :, 0]
        with np.errstate(over="ignore", invalid="ignore"):  # past the float range it is inf, as in any sum
            floats[_SUM] = values.sum(axis=2)
        floats[_FIRST], floats[_LAST] = values[:, :, 0], values[:, :, -1]
        return cls(ints.reshape(10, -1), floats.reshape(5, -1))

    def grouped(self, starts: Array) -> Buckets:
        """Join neighbours: bucket `i` of the result stands for those from `starts[i]` up to the next start."""
        if len(starts) == len(self):
            return self
        groups = Groups(starts, len(self))
        low, high = groups.min(self.min), groups.max(self.max)
        ints: Array = np.empty((10, len(starts)), "<i8")
        ints[_FIRST_STEP], ints[_LAST_STEP] = groups.first(self.first_step), groups.last(self.last_step)
        ints[_MIN_TIME], ints[_MAX_TIME] = groups.min(self.min_time), groups.max(self.max_time)
        ints[_MIN_STEP] = groups.at_first(self.min, low, self.min_step)
        ints[_MAX_STEP] = groups.at_first(self.max, high, self.max_step)
        for row in (_COUNT, _NAN, _POSINF, _NEGINF):
            ints[row] = groups.sum(self.ints[row])
        floats: Array = np.empty((5, len(starts)), "<f8")
        floats[_MIN], floats[_MAX], floats[_SUM] = low, high, groups.sum(self.sum)
        floats[_FIRST], floats[_LAST] = groups.first(self.first), groups.last(self.last)
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
