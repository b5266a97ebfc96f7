"""Queries: a line within its window as at most so many buckets.

The one idea: all lines are resolved together into somewhat more buckets than there are pixels, each over exactly the
points in the window, and those are joined along the axis. Must not know which key or run a line is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

import numpy as np

from strobe.errors import UsageError
from strobe.store.series.bucket import Buckets
from strobe.store.series.column import Array
from strobe.store.series.cover import choose_level, cover, points_at_least, select
from strobe.store.series.line import Line, Source, Zone, open_zones
from strobe.store.series.lockstep import Exchange, Task, run, together
from strobe.store.series.page import FAN_OUT, POINTS_PER_BUCKET, PageRange, PageStore
from strobe.store.series.point import Curve, Points
from strobe.store.series.pyramid import load_curves
from strobe.store.series.read import read_zone

Axis: TypeAlias = Literal["step", "time"]


def query(store: PageStore, lines: Sequence[Line], pixels: int, axis: Axis = "step") -> list[Buckets]:
    """Return for each line at most `pixels` buckets, in step order, over exactly the points in its window.

    `axis` says along what the buckets are cut into equal widths. Up to `pixels` points come raw (`is_raw`).
    """
    if pixels < 1:
        raise UsageError(f"a chart of {pixels} pixels shows nothing; ask for at least 1")
    return run(store, together(_query(store, zones, pixels, axis) for zones in open_zones(store, lines)))


def digest(store: PageStore, lines: Sequence[Line]) -> list[Buckets]:
    """Return for each line one bucket over all points in its window (none when there is no point)."""
    return query(store, lines, 1)


def resolve(store: PageStore, zones: Sequence[Zone], pixels: int) -> Task[Buckets]:
    """Return a line in buckets over exactly the points in its window: all raw if at most `pixels`, else more than that.

    Mostly fewer than 4 times more, or 16 times when they are raw.
    """
    level = _choose_level(zones, pixels)
    parts = yield from together(_resolve(store, zone, level, pixels) for zone in zones)
    return Buckets.concat([Buckets.none(), *parts])


def column_of(x: Array, first: int, last: int, pixels: int) -> Array:
    """Return in which of `pixels` equal widths from `first` to `last` each of a rising x lies."""
    offset: Array = (x - first).view(np.uint64).astype(np.float64)  # right where a signed difference would overflow
    column: Array = np.minimum(offset * (pixels / (last - first + 1)), pixels - 1)  # the last may be rounded up
    return column.astype(np.int64)


def starts_of(column: Array) -> Array:
    """Return where each column that holds something begins."""
    return np.flatnonzero(np.append(True, column[1:] != column[:-1]))


def _query(store: PageStore, zones: Sequence[Zone], pixels: int, axis: Axis) -> Task[Buckets]:
    if _choose_level(zones, pixels) == 0 and all(len(zone) == 1 for zone in zones):
        # Most charts are this: so few points that buckets are made of them in one go.
        parts = yield from together(_raw(source) for [source] in zones)
        points = Curve.concat([Points.none().curve, *parts])
        if len(points) <= pixels:
            return Buckets.of_points(points)
        return Buckets.of_points(points, _cut(points.step, points.time_ns, pixels, axis))
    buckets = yield from resolve(store, zones, pixels)
    if len(buckets) <= pixels:
        return buckets
    return buckets.grouped(_cut(buckets.first_step, buckets.min_time, pixels, axis))


def _cut(step: Array, time: Array, pixels: int, axis: Axis) -> Array:
    """Return where columns of equal width along the axis begin."""
    # Time may run back from step to step; its running maximum does not, so that columns hold neighbours.
    x = step if axis == "step" else np.maximum.accumulate(time)
    return starts_of(column_of(x, int(x[0]), int(x[-1]), pixels))


def _choose_level(zones: Sequence[Zone], pixels: int) -> int:
    return choose_level(sum(max(map(_num_points, zone)) for zone in zones), pixels)


def _num_points(source: Source) -> int:
    return points_at_least(source.known, source.window) + len(select(source.tail, source.window))


def _raw(source: Source) -> Task[Curve]:
    series, known = source.part.series, source.known
    pages = yield Exchange(fetch=[PageRange(series, 0, known.low, known.high)] if known.low <= known.high else [])
    found = load_curves([pages[series, 0, number] for number in range(known.low, known.high + 1)])
    return select(Curve.concat([*found, source.tail.curve]), source.window)


def _resolve(store: PageStore, zone: Zone, level: int, pixels: int) -> Task[Buckets]:
    if len(zone) > 1:
        return _merged(store, zone, pixels)
    [source] = zone
    folded = yield from cover(source.part.series, source.known, source.window, level, pixels)
    tail = select(source.tail, source.window)
    return Buckets.concat([folded, Buckets.of_points(tail)]) if len(tail) else folded


def _merged(store: PageStore, zone: Zone, pixels: int) -> Buckets:
    """Return the points of overlapping attempts in at most 16 buckets a pixel, whatever their number."""
    width, parts = 1, [Buckets.none()]
    for points in read_zone(store, zone):
        parts.append(Buckets.of_points(points, np.arange(0, len(points), width)))
        if sum(map(len, parts)) > POINTS_PER_BUCKET * pixels:
            held = Buckets.concat(parts)
            parts = [held.grouped(np.arange(0, len(held), FAN_OUT))]
            width *= FAN_OUT
    return Buckets.concat(parts)
