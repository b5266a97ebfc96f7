"""Choirs: series that were logged together, so their steps and times are the same; they are appended as one matrix.

The one idea: what they share is packed once, and their values are reduced in one numpy call, so twenty keys of a row
cost little more than a few. The pages are those that each series would have got alone. Must not know where pages are
kept.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from strobe.store.series.column import Array, packed_ints
from strobe.store.series.lockstep import Exchange, Pages, Task
from strobe.store.series.page import POINTS_PER_PAGE, Page, PageRange
from strobe.store.series.point import Points
from strobe.store.series.pyramid import load_points, load_values, lowest_buckets, raw_pages, siblings, upper_pages


def append(members: Mapping[int, Points], count: int) -> Task[None]:
    """Add points above the last step of series of `count` points each; all have the very same integers."""
    first, in_last = divmod(count, POINTS_PER_PAGE)
    num_new = len(next(iter(members.values())))
    total = count + num_new
    wanted: list[PageRange] = []
    for series in members:
        wanted += siblings(series, first, total // POINTS_PER_PAGE, total)
        if in_last:
            wanted.append(PageRange(series, 0, first, first))
    known = yield Exchange(fetch=wanted)
    pages: list[Page] = []
    for part in _with_last_pages(members, first, known) if in_last else [members]:
        ints = next(iter(part.values())).ints
        values: Array = np.concatenate([points.floats for points in part.values()])
        pages += raw_pages(list(part), first, ints, values)
        pages += upper_pages(list(part), first, lowest_buckets(ints, values), total, known)
    yield Exchange(put=pages)


def _with_last_pages(members: Mapping[int, Points], number: int, known: Pages) -> list[dict[int, Points]]:
    """Return the members with the points of their last pages, those together that still have the same integers."""
    parts: dict[bytes, dict[int, Points]] = {}
    for series, new in members.items():
        page = known[series, 0, number]
        part = parts.setdefault(packed_ints(page.body), {})
        if not part:
            part[series] = Points.concat([load_points(page), new])
        else:
            shared = next(iter(part.values())).ints
            values: Array = np.concatenate([load_values(page), new.floats], axis=1)
            part[series] = Points(shared, values)
    return list(parts.values())
