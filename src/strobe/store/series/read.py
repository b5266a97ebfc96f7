"""Reading: raw points of a line in step order, some pages at a time.

History, export and exact joins read with it; a query only where attempts overlap. Must not know buckets.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from strobe.store.series.cover import select
from strobe.store.series.line import Line, Source, Zone, open_zones
from strobe.store.series.page import PageRange, PageStore
from strobe.store.series.point import Points
from strobe.store.series.pyramid import load_points

_BATCH = 16  # raw pages to a fetch


def read_points(store: PageStore, line: Line, limit: int | None = None) -> Iterator[Points]:
    """Yield the points of a line in step order, some pages at a time, at most `limit` of them."""
    left = limit
    for zone in open_zones(store, [line])[0]:
        for points in read_zone(store, zone):
            if left is not None and len(points) >= left:
                if left:
                    yield points.take(slice(left))
                return
            left = None if left is None else left - len(points)
            yield points


def read_zone(store: PageStore, zone: Zone) -> Iterator[Points]:
    """Yield the points of sources that overlap in steps, merged; of two at one step that of the later source."""
    streams = [_read_source(store, source) for source in zone]
    if len(streams) == 1:
        yield from streams[0]
        return
    heads = [next(stream, Points.none()) for stream in streams]
    while any(len(head) for head in heads):
        bound = min(int(head.step[-1]) for head in heads if len(head))  # all streams are known up to here
        taken = []
        for index, head in enumerate(heads):
            place = int(np.searchsorted(head.step, bound, side="right"))
            taken.append(head.take(slice(place)))
            heads[index] = head.take(slice(place, None)) if place < len(head) else next(streams[index], Points.none())
        yield _merge(taken)


def _merge(parts: Sequence[Points]) -> Points:
    points = Points.concat(parts)
    order = np.argsort(points.step, kind="stable")
    steps = points.step[order]
    return points.take(order[np.append(steps[1:] != steps[:-1], True)])


def _read_source(store: PageStore, source: Source) -> Iterator[Points]:
    """Yield the points of one source, never an empty piece."""
    series, window, known = source.part.series, source.window, source.known
    for first in range(known.low, known.high + 1, _BATCH):
        pages = store.fetch([PageRange(series, 0, first, min(first + _BATCH - 1, known.high))])
        for page in sorted(pages, key=lambda page: page.number):
            points = select(load_points(page), window)
            if len(points):
                yield points
    tail = select(source.tail, window)
    if len(tail):
        yield tail
