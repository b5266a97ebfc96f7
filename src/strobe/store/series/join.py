"""Joining: one key over another, as with loss over tokens or accuracy over loss.

The one idea: a step that both keys have is a point. Up to a limit that is done with all raw points; beyond it both are
cut into the same columns of steps, and the answer says that it is approximate. Must not know how a line is resolved.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from strobe.store.series.bucket import Buckets
from strobe.store.series.column import Array
from strobe.store.series.line import Line, open_zones
from strobe.store.series.lockstep import run, together
from strobe.store.series.page import PageStore
from strobe.store.series.point import Points
from strobe.store.series.query import column_of, resolve, starts_of
from strobe.store.series.read import read_points

JOIN_LIMIT = 65_536  # points of each line that are joined exactly


@dataclass(frozen=True, slots=True, eq=False)
class Joined:
    """y over x, in step order: `x[i]` belongs to bucket `i` of `y`.

    Exact: each bucket is one step that both keys have, and x its value there. Approximate: `x[i]` is the mean of the
    finite x in the bucket's column of steps, NaN where there is none.
    """

    x: Array
    y: Buckets
    approximate: bool


def join(store: PageStore, x: Line, y: Line, pixels: int, limit: int = JOIN_LIMIT) -> Joined:
    """Return y over x: exactly while each line has at most `limit` points in its window, else in `pixels` columns."""
    x_points = _up_to(store, x, limit)
    y_points = None if x_points is None else _up_to(store, y, limit)
    if x_points is None or y_points is None:
        zones = open_zones(store, [x, y])
        x_buckets, y_buckets = run(store, together(resolve(store, of_line, pixels) for of_line in zones))
        return _join_columns(x_buckets, y_buckets, pixels)
    _, x_places, y_places = np.intersect1d(x_points.step, y_points.step, assume_unique=True, return_indices=True)
    return Joined(x_points.value[x_places], Buckets.of_points(y_points.take(y_places)), approximate=False)


def _up_to(store: PageStore, line: Line, limit: int) -> Points | None:
    """Return the points of a line, None if there are more than `limit`."""
    points = Points.concat([Points.none(), *read_points(store, line, limit + 1)])
    return points if len(points) <= limit else None


def _join_columns(x: Buckets, y: Buckets, pixels: int) -> Joined:
    if not len(x) or not len(y):
        return Joined(np.empty(0), Buckets.none(), approximate=True)
    first = max(int(x.first_step[0]), int(y.first_step[0]))
    last = min(int(x.first_step[-1]), int(y.first_step[-1]))
    x_columns, x = _columns(x, first, last, pixels)
    y_columns, y = _columns(y, first, last, pixels)
    _, x_places, y_places = np.intersect1d(x_columns, y_columns, assume_unique=True, return_indices=True)
    x = x.take(x_places)
    num_finite = x.count - x.nan - x.posinf - x.neginf
    with np.errstate(invalid="ignore"):
        mean = np.where(num_finite > 0, x.sum, np.nan) / np.maximum(num_finite, 1)
    return Joined(mean, y.take(y_places), approximate=True)


def _columns(buckets: Buckets, first: int, last: int, pixels: int) -> tuple[Array, Buckets]:
    """Return those of the columns between two steps that hold a bucket, and what they hold."""
    inside = buckets.take((buckets.first_step >= first) & (buckets.first_step <= last))
    if not len(inside):
        return np.empty(0, np.int64), inside
    column = column_of(inside.first_step, first, last, pixels)
    starts = starts_of(column)
    return column[starts], inside.grouped(starts)
