"""The pyramid: pages of points, and the pages of buckets that stand above them.

The one idea: which pages stand above a run of raw pages, and which neighbours are needed to make them, follows from
page numbers alone. So all that is needed can be asked for at once, and the making is pure. Must not know a store.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from strobe.store.series.bucket import Buckets
from strobe.store.series.column import Array, PageCorrupt, decode, encode
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
    return Points(*_decode(page))


def load_curve(page: Page) -> Curve:
    """Return what a chart needs of a raw page, at half the cost."""
    return Curve(*_decode(page, CURVE_INTS))


def load_values(page: Page) -> Array:
    """Return the values of a raw page alone, as a matrix of one row."""
    return _decode(page, 0)[1]


def load_buckets(page: Page) -> Buckets:
    """Return the buckets of a page above level 0."""
    return Buckets(*_decode(page))


def raw_pages(series: int, number: int, points: Points) -> list[Page]:
    """Return the points as raw pages from `number` on."""
    return [
        _raw_page(series, number + index, points.take(slice(start, start + POINTS_PER_PAGE)))
        for index, start in enumerate(range(0, len(points), POINTS_PER_PAGE))
    ]


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


def lowest_buckets(points: Points) -> Buckets:
    """Return the level 1 buckets of the complete pages among points that begin with a page."""
    num_full = len(points) // POINTS_PER_PAGE
    return Buckets.concat([Buckets.none(), *(_lowest_buckets(points, number) for number in range(num_full))])


def upper_pages(series: int, first: int, buckets: Buckets, count: int, known: Pages) -> list[Page]:
    """Return the pages above complete raw pages, from raw page `first` on, whose `lowest_buckets` are given.

    `count` is the number of points up to which pages above may be made; `known` holds at least the `siblings`.
    """
    pages: list[Page] = []
    for run in _runs(first, first + len(buckets) // BUCKETS_PER_PAGE, count):
        pages += _bucket_pages(series, run.level, run.first, buckets)
        if run.above_first < run.above_end:
            before = range(run.above_first * FAN_OUT, run.first)
            after = range(run.end, run.above_end * FAN_OUT)
            parts = [load_buckets(known[series, run.level, number]) for number in before]
            parts.append(buckets.take(slice((run.above_end * FAN_OUT - run.first) * BUCKETS_PER_PAGE)))
            parts += [load_buckets(known[series, run.level, number]) for number in after]
            children = Buckets.concat(parts)
            buckets = children.grouped(np.arange(0, len(children), FAN_OUT))
    return pages


def _lowest_buckets(points: Points, number: int) -> Buckets:
    """Return the level 1 buckets of one page; page by page, because a page's columns fit a processor's cache."""
    page = points.take(slice(number * POINTS_PER_PAGE, (number + 1) * POINTS_PER_PAGE))
    return Buckets.of_points(page, np.arange(0, POINTS_PER_PAGE, POINTS_PER_BUCKET))


def _decode(page: Page, max_ints: int | None = None) -> tuple[Array, Array]:
    try:
        return decode(page.body, max_ints)
    except PageCorrupt as exc:
        raise PageCorrupt(f"series {page.series}, level {page.level}, page {page.number}: {exc}") from exc


def _raw_page(series: int, number: int, points: Points) -> Page:
    return raw_page(series, number, points, encode(points.ints, points.floats))


def raw_page(series: int, number: int, points: Points, body: bytes) -> Page:
    """Return a raw page whose body is known."""
    return Page(
        series=series,
        level=0,
        number=number,
        first_step=int(points.step[0]),
        last_step=int(points.step[-1]),
        min_time=int(points.time_ns.min()),
        max_time=int(points.time_ns.max()),
        count=len(points),
        body=body,
    )


def _bucket_pages(series: int, level: int, number: int, buckets: Buckets) -> Iterator[Page]:
    for index, start in enumerate(range(0, len(buckets), BUCKETS_PER_PAGE)):
        part = buckets.take(slice(start, start + BUCKETS_PER_PAGE))
        yield Page(
            series=series,
            level=level,
            number=number + index,
            first_step=int(part.first_step[0]),
            last_step=int(part.last_step[-1]),
            min_time=int(part.min_time.min()),
            max_time=int(part.max_time.max()),
            count=points_per_page(level),
            body=encode(part.ints, part.floats),
        )
