"""The pyramid: pages of points, and the pages of buckets that stand above them.

The one idea: which pages stand above a run of raw pages, and which neighbours are needed to make them, follows from
page numbers alone. So all that is needed can be asked for at once, and the making is pure. Must not know a store.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from strobe.store.series.bucket import Buckets
from strobe.store.series.column import (
    Array,
    Layout,
    PageCorrupt,
    assemble,
    decode_alike,
    encode_pages,
    layout_of,
    pack_floats,
    pack_ints,
)
from strobe.store.series.lockstep import Pages
from strobe.store.series.page import (
    BUCKETS_PER_PAGE,
    FAN_OUT,
    POINTS_PER_BUCKET,
    POINTS_PER_PAGE,
    Page,
    PageRange,
    complete_pages,
    points_per_page,
)
from strobe.store.series.point import CURVE_INTS, Curve, Points


def load_points(page: Page) -> Points:
    """Return the points of a raw page."""
    return Points(*_decode([page])[0])


def load_curves(pages: Sequence[Page]) -> list[Curve]:
    """Return what a chart needs of raw pages, at half the cost."""
    return [Curve(*found) for found in _decode(pages, CURVE_INTS)]


def load_values(page: Page) -> Array:
    """Return the values of a raw page alone, as a matrix of one row."""
    return _decode([page], 0)[0][1]


def load_buckets(pages: Sequence[Page]) -> list[Buckets]:
    """Return the buckets of pages above level 0."""
    return [Buckets(*found) for found in _decode(pages)]


def raw_pages(choir: Sequence[int], number: int, ints: Array, values: Array) -> list[Page]:
    """Return the points of series that share their integers as raw pages from `number` on.

    `values` has a row for each series.
    """
    pages: list[Page] = []
    for index, start in enumerate(range(0, ints.shape[1], POINTS_PER_PAGE)):
        cut = slice(start, start + POINTS_PER_PAGE)
        (shared,) = pack_ints(ints[:, None, cut])
        points = Points(ints[:, cut], values[:1, cut])
        facts = {
            "level": 0,
            "number": number + index,
            "first_step": int(points.step[0]),
            "last_step": int(points.step[-1]),
            "min_time": int(points.time_ns.min()),
            "max_time": int(points.time_ns.max()),
            "count": len(points),
        }
        for series, own in zip(choir, pack_floats(values[None, :, cut]), strict=True):
            pages.append(Page(series=series, body=assemble(len(points), shared, own), **facts))
    return pages


class _Run(NamedTuple):
    """Pages `first` up to `end` of a level have changed; those it makes above are `above_first` up to `above_end`."""

    level: int
    first: int
    end: int
    above_first: int
    above_end: int


def _runs(first: int, end: int, count: int) -> Iterator[_Run]:
    level = 1
    while first < end:
        above_first = first // FAN_OUT
        above_end = min(-(-end // FAN_OUT), complete_pages(level + 1, count))
        yield _Run(level, first, end, above_first, above_end)
        level, first, end = level + 1, above_first, above_end


def siblings(series: int, first: int, end: int, count: int) -> list[PageRange]:
    """Return what `upper_pages` needs beside the changed raw pages `first` up to `end`, of `count` points in all."""
    wanted = []
    for run in _runs(first, end, count):
        if run.above_first < run.above_end:
            wanted.append(PageRange(series, run.level, run.above_first * FAN_OUT, run.first - 1))
            wanted.append(PageRange(series, run.level, run.end, run.above_end * FAN_OUT - 1))
    return [pages for pages in wanted if pages.first <= pages.last]


def lowest_buckets(ints: Array, values: Array) -> Buckets:
    """Return the level 1 buckets of the complete pages among points that begin with a page, series after series."""
    num_full = ints.shape[1] // POINTS_PER_PAGE * POINTS_PER_PAGE
    full = values[:, :num_full]
    shared = Points(ints[:, :num_full], full[:1])
    if not np.isfinite(full).all():  # rare, and not worth a second way of counting
        starts: Array = np.arange(0, num_full, POINTS_PER_BUCKET)
        return Buckets.concat([Buckets.of_points(Points(shared.ints, row[None]), starts) for row in full])
    blocks = (num_full // POINTS_PER_BUCKET, POINTS_PER_BUCKET)
    return Buckets.of_blocks(
        shared.step.reshape(blocks), shared.time_ns.reshape(blocks), full.reshape(len(values), *blocks)
    )


def upper_pages(choir: Sequence[int], first: int, buckets: Buckets, count: int, known: Pages) -> list[Page]:
    """Return the pages above complete raw pages, from raw page `first` on, whose `lowest_buckets` are given.

    `count` is the number of points of each series up to which pages above may be made; `known` holds at least the
    `siblings`.
    """
    pages: list[Page] = []
    end = first + len(buckets) // (BUCKETS_PER_PAGE * len(choir))
    for run in _runs(first, end, count):
        pages += _bucket_pages(choir, run.level, run.first, buckets)
        if run.above_first < run.above_end:
            before = range(run.above_first * FAN_OUT, run.first)
            after = range(run.end, run.above_end * FAN_OUT)
            each = len(buckets) // len(choir)
            kept = min(each, (run.above_end * FAN_OUT - run.first) * BUCKETS_PER_PAGE)
            parts: list[Buckets] = []
            for index, series in enumerate(choir):
                parts += load_buckets([known[series, run.level, number] for number in before])
                parts.append(buckets.take(slice(index * each, index * each + kept)))
                parts += load_buckets([known[series, run.level, number] for number in after])
            children = Buckets.concat(parts)
            # No group reaches into the next series: each has whole pages here, and a page is a multiple of the fan-out.
            buckets = children.grouped(np.arange(0, len(children), FAN_OUT))
    return pages


def _decode(pages: Sequence[Page], max_ints: int | None = None) -> list[tuple[Array, Array]]:
    """Return the columns of each page; those of one layout, as most are, are decoded together."""
    alike: dict[Layout, list[int]] = defaultdict(list)
    for index, page in enumerate(pages):
        try:
            alike[layout_of(page.body)].append(index)
        except PageCorrupt as exc:
            raise PageCorrupt(f"series {page.series}, level {page.level}, page {page.number}: {exc}") from exc
    found: dict[int, tuple[Array, Array]] = {}
    for layout, indices in alike.items():
        ints, floats = decode_alike(layout, [pages[index].body for index in indices], max_ints)
        found.update((index, (ints[:, place], floats[:, place])) for place, index in enumerate(indices))
    return [found[index] for index in range(len(pages))]


def _bucket_pages(choir: Sequence[int], level: int, number: int, buckets: Buckets) -> Iterator[Page]:
    ints = buckets.ints.reshape(len(buckets.ints), -1, BUCKETS_PER_PAGE)
    floats = buckets.floats.reshape(len(buckets.floats), -1, BUCKETS_PER_PAGE)
    paged = Buckets(ints, floats)
    facts = zip(
        paged.first_step[:, 0].tolist(),
        paged.last_step[:, -1].tolist(),
        paged.min_time.min(axis=1).tolist(),
        paged.max_time.max(axis=1).tolist(),
        encode_pages(ints, floats),
        strict=True,
    )
    each = ints.shape[1] // len(choir)
    for index, (first_step, last_step, min_time, max_time, body) in enumerate(facts):
        yield Page(
            series=choir[index // each],
            level=level,
            number=number + index % each,
            first_step=first_step,
            last_step=last_step,
            min_time=min_time,
            max_time=max_time,
            count=points_per_page(level),
            body=body,
        )
