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
from strobe.store.series.lockstep import Task, run_together
from strobe.store.series.page import FAN_OUT, POINTS_PER_BUCKET, PageStore
from strobe.store.series.read import read_zone

Axis: TypeAlias = Literal["step", "time"]


def query(store: PageStore, lines: Sequence[Line], pixels: int, axis: Axis = "step") -> list[Buckets]:
    """Return for each line at most `pixels` buckets, in step order, over exactly the points in its window.

    `axis` says along what the buckets are cut into equal widths. Up to `pixels` points come raw (`is_raw`).
    """
    if pixels < 1:
        raise UsageError(f"a chart of {pixels} pixels shows nothing; ask for at least 1")
    return [_fit(buckets, pixels, axis) for buckets in resolve(store, lines, pixels)]


def digest(store: PageStore, lines: Sequence[Line]) -> list[Buckets]:
    """Return for each line one bucket over all points in its window (none when there is no point)."""
    return query(store, lines, 1)


def resolve(store: PageStore, lines: Sequence[Line], pixels: int) -> list[Buckets]:
    """Return each line in buckets over exactly the points in its window: all raw if at most `pixels`, else more than
    these, mostly by a factor below 4, or below 16 when they are raw."""
    opened = open_zones(store, lines)
    parts: list[list[Buckets]] = [[] for _ in lines]
    tasks: list[Task[Buckets]] = []
    owners: list[list[Buckets]] = []
    for zones, found in zip(opened, parts, strict=True):
        level = choose_level(sum(max(map(_num_points, zone)) for zone in zones), pixels)
        for zone in zones:
            if len(zone) > 1:
                found.append(_merged(store, zone, pixels))
                continue
            [source] = zone
            tasks.append(cover(source.part.series, source.known, source.window, level, pixels))
            owners.append(found)
            found.append(Buckets.of_points(select(source.tail, source.window)))
    for found, buckets in zip(owners, run_together(store, tasks), strict=True):
        found.append(buckets)
    return [_in_step_order(found) for found in parts]


def in_columns(buckets: Buckets, x: Array, first: int, last: int, pixels: int) -> tuple[Array, Buckets]:
    """Join the buckets whose rising x lies in the same of `pixels` equal widths from `first` to `last`.

    Returns the numbers of the columns that hold something, and what they hold.
    """
    offset: Array = (x - first).view(np.uint64).astype(np.float64)  # right where a signed difference would overflow
    column = np.minimum((offset * (pixels / (last - first + 1))).astype(np.int64), pixels - 1)
    starts = np.flatnonzero(np.append(True, column[1:] != column[:-1]))
    return column[starts], buckets.grouped(starts)


def _num_points(source: Source) -> int:
    return points_at_least(source.known, source.window) + len(select(source.tail, source.window))


def _fit(buckets: Buckets, pixels: int, axis: Axis) -> Buckets:
    if len(buckets) <= pixels:
        return buckets
    # Time may run back from step to step; its running maximum does not, so that columns hold neighbours.
    x = buckets.first_step if axis == "step" else np.maximum.accumulate(buckets.min_time)
    return in_columns(buckets, x, int(x[0]), int(x[-1]), pixels)[1]


def _merged(store: PageStore, zone: Zone, pixels: int) -> Buckets:
    """Return the points of overlapping attempts in at most 16 buckets a pixel, whatever their number."""
    width, parts = 1, [Buckets.none()]
    for points in read_zone(store, zone):
        buckets = Buckets.of_points(points)
        parts.append(buckets.grouped(np.arange(0, len(buckets), width)))
        if sum(map(len, parts)) > POINTS_PER_BUCKET * pixels:
            held = Buckets.concat(parts)
            parts = [held.grouped(np.arange(0, len(held), FAN_OUT))]
            width *= FAN_OUT
    return Buckets.concat(parts)


def _in_step_order(parts: Sequence[Buckets]) -> Buckets:
    filled = [part for part in parts if len(part)]
    return Buckets.concat(sorted(filled, key=lambda part: int(part.first_step[0]))) if filled else Buckets.none()
