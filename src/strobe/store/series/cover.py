"""Covers: the points of a window as few buckets, exact at its edges.

The one idea: start with the pages of one level, and past its last complete page with the finer ones that follow; a
bucket that lies partly in the window is looked at again one level down, until raw points decide. The directory tells
where that will happen, so mostly one fetch does. Times that jump make more buckets partial, never a wrong answer.
Must not know lines or the columns of a chart.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple, TypeVar

import numpy as np

from strobe.store.series.bucket import Buckets
from strobe.store.series.column import Array
from strobe.store.series.lockstep import Exchange, Pages, Task
from strobe.store.series.page import (
    BUCKETS_PER_PAGE,
    EVERYTHING,
    FAN_OUT,
    MAX_I64,
    MIN_I64,
    POINTS_PER_BUCKET,
    POINTS_PER_PAGE,
    Directory,
    Page,
    PageRange,
    Window,
    complete_pages,
    page_above,
)
from strobe.store.series.point import Curve
from strobe.store.series.pyramid import load_buckets, load_curves

_Curve = TypeVar("_Curve", bound=Curve)


def points_at_least(known: Directory, window: Window) -> int:
    """Return a lower bound of the points in the window, less than two raw pages below the truth where times rise."""
    opens, closes = _is_cut(known, window)
    end = min((known.high + 1 - closes) * POINTS_PER_PAGE, known.count)
    return max(end - (known.low + opens) * POINTS_PER_PAGE, 0)


def choose_level(num_points: int, pixels: int) -> int:
    """Return 0 up to 16 points a pixel, else the coarsest level that has at least `pixels` buckets."""
    level, size = 0, POINTS_PER_BUCKET
    while num_points > POINTS_PER_BUCKET * pixels and num_points // size >= pixels:
        level, size = level + 1, size * FAN_OUT
    return level


def select(points: _Curve, window: Window) -> _Curve:
    """Return the points that lie in the window."""
    if window == EVERYTHING:
        return points
    step, time = points.step, points.time_ns
    inside = (step >= window.first_step) & (step <= window.last_step)
    inside &= (time >= window.first_time) & (time <= window.last_time)
    return points if inside.all() else points.take(inside)


def cover(series: int, known: Directory, window: Window, level: int, pixels: int) -> Task[Buckets]:
    """Return the points in the window as buckets of `level` or finer, in step order; all raw if at most `pixels`."""
    if known.low > known.high:
        return Buckets.none()
    descent = _Descent(series, window)
    ranges = list(_pages_of_level(series, known, level))
    for run in ranges:
        for number in range(run.first, run.last + 1):
            descent.want(run.level, number)
    yield from descent.fetch([*ranges, *_pages_at_edges(series, known, window, level)])
    yield from descent.run()
    if sum(int(piece.buckets.count.sum()) for piece in descent.kept) <= pixels:
        while any(piece.level for piece in descent.kept):
            descent.look_below_all()
            yield from descent.run()
    return _in_order([piece.buckets for piece in descent.kept])


class _Piece(NamedTuple):
    """Buckets of one page that lie in the window, and their places in it."""

    level: int
    number: int
    places: Array
    buckets: Buckets


class _Descent:
    """The way down: what is still to be looked at, by level and page, and what has been kept."""

    def __init__(self, series: int, window: Window) -> None:
        self.kept: list[_Piece] = []
        self._series = series
        self._window = window
        self._pages = Pages()
        # Places in each page; None for all of them.
        self._wanted: dict[int, dict[int, list[Array] | None]] = defaultdict(dict)

    def want(self, level: int, number: int) -> None:
        """Have a whole page looked at."""
        self._wanted[level][number] = None

    def fetch(self, ranges: list[PageRange]) -> Task[None]:
        """Get pages ahead of the look at them."""
        self._pages.update((yield Exchange(fetch=ranges)))

    def run(self) -> Task[None]:
        """Look at all that is wanted, and at what that makes wanted, level by level."""
        for level in range(max(self._wanted, default=0), -1, -1):
            wanted = self._wanted.pop(level, {})
            missing = [number for number in wanted if (self._series, level, number) not in self._pages]
            if missing:
                yield from self.fetch([PageRange(self._series, level, number, number) for number in missing])
            pages = [self._pages[self._series, level, number] for number in wanted]
            pages = [page for page in pages if _overlaps(page, self._window)]
            if level == 0:
                for page, points in zip(pages, load_curves(pages), strict=True):
                    self._keep_points(page, points, wanted[page.number])
            else:
                for page, buckets in zip(pages, load_buckets(pages), strict=True):
                    self._keep_buckets(page, buckets, wanted[page.number])

    def look_below_all(self) -> None:
        """Have what lies one level below every bucket kept looked at instead of it."""
        kept, self.kept = self.kept, []
        for piece in kept:
            if piece.level:
                self._look_below(piece.level, piece.number, piece.places)
            else:
                self.kept.append(piece)

    def _keep_points(self, page: Page, points: Curve, places: list[Array] | None) -> None:
        if places is not None:
            points = points.take(np.concatenate(places))
        buckets = Buckets.of_points(select(points, self._window))
        self.kept.append(_Piece(0, page.number, np.empty(0, np.int64), buckets))

    def _keep_buckets(self, page: Page, buckets: Buckets, places: list[Array] | None) -> None:
        chosen = np.arange(len(buckets)) if places is None else np.concatenate(places)
        if places is not None:
            buckets = buckets.take(chosen)
        if _contains(self._window, page):
            self.kept.append(_Piece(page.level, page.number, chosen, buckets))
            return
        inside, touched = _classify(buckets, self._window)
        self.kept.append(_Piece(page.level, page.number, chosen[inside], buckets.take(inside)))
        self._look_below(page.level, page.number, chosen[touched & ~inside])

    def _look_below(self, level: int, number: int, places: Array) -> None:
        width, page_size = (POINTS_PER_BUCKET, POINTS_PER_PAGE) if level == 1 else (FAN_OUT, BUCKETS_PER_PAGE)
        below = ((number * BUCKETS_PER_PAGE + places)[:, None] * width + np.arange(width)).ravel()
        numbers = below // page_size
        for child in np.unique(numbers).tolist():
            chosen = self._wanted[level - 1].setdefault(child, [])
            assert chosen is not None, "a page is wanted whole and by places"
            chosen.append(below[numbers == child] % page_size)


def _pages_of_level(series: int, known: Directory, level: int) -> Iterator[PageRange]:
    """Yield what covers the raw pages from low to high: pages of `level`, then the open end level by level."""
    covered = 0  # raw pages
    for at in range(level, -1, -1):
        if at == 0:
            first, last = max(known.low, covered), known.high
        else:
            complete = complete_pages(at, known.count)
            first = max(page_above(known.low, at), page_above(covered, at))
            last = min(page_above(known.high, at), complete - 1)
            covered = complete * FAN_OUT ** (at - 1)
        if first <= last:
            yield PageRange(series, at, first, last)


def _pages_at_edges(series: int, known: Directory, window: Window, level: int) -> Iterator[PageRange]:
    """Yield the pages that a cut through the window's ends will lead down to."""
    opens, closes = _is_cut(known, window)
    for is_cut, raw_number in ((opens, known.low), (closes, known.high)):
        if is_cut:
            for at in range(level - 1, -1, -1):
                number = page_above(raw_number, at)
                yield PageRange(series, at, number, number)


def _is_cut(known: Directory, window: Window) -> tuple[bool, bool]:
    """Return whether the window may begin after, and end before, the points of the pages from low to high."""
    begins = window.first_step > known.first_step or window.first_time > MIN_I64
    ends = window.last_step < known.last_step or window.last_time < MAX_I64
    return begins, ends


def _overlaps(page: Page, window: Window) -> bool:
    return (
        page.first_step <= window.last_step
        and page.last_step >= window.first_step
        and page.min_time <= window.last_time
        and page.max_time >= window.first_time
    )


def _contains(window: Window, page: Page) -> bool:
    return (
        page.first_step >= window.first_step
        and page.last_step <= window.last_step
        and page.min_time >= window.first_time
        and page.max_time <= window.last_time
    )


def _classify(buckets: Buckets, window: Window) -> tuple[Array, Array]:
    """Return which buckets lie wholly in the window, and which may have a point in it."""
    inside = (buckets.first_step >= window.first_step) & (buckets.last_step <= window.last_step)
    inside &= (buckets.min_time >= window.first_time) & (buckets.max_time <= window.last_time)
    touched = (buckets.first_step <= window.last_step) & (buckets.last_step >= window.first_step)
    touched &= (buckets.min_time <= window.last_time) & (buckets.max_time >= window.first_time)
    return inside, touched


def _in_order(parts: list[Buckets]) -> Buckets:
    parts = [part for part in parts if len(part)]
    if not parts:
        return Buckets.none()
    buckets = Buckets.concat(sorted(parts, key=lambda part: int(part.first_step[0])))
    if (buckets.first_step[1:] < buckets.first_step[:-1]).any():  # finer buckets between those of one page
        return buckets.take(np.argsort(buckets.first_step, kind="stable"))
    return buckets
