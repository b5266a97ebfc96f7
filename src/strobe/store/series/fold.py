"""Folding: new points become part of the pages.

The one idea: points only ever come, so a page is only ever written, never taken away. Points above the folded end
append; a late one that replaces a point rewrites its page and those above it; one that is inserted moves all that
follows, so everything from its page on is written again, some pages at a time. Must not know where pages are kept.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from strobe.store.series import choir
from strobe.store.series.column import Array
from strobe.store.series.lockstep import Exchange, Task, run, together
from strobe.store.series.page import EVERYTHING, POINTS_PER_PAGE, Directory, PageRange, PageStore, Window
from strobe.store.series.point import Points
from strobe.store.series.pyramid import load_points, lowest_buckets, raw_pages, siblings, upper_pages

_BATCH = 16  # raw pages that a rewrite holds at a time, so that its memory is bounded whatever the series' length


def fold(store: PageStore, batches: Mapping[int, Points], rank: Array) -> None:
    """Merge new points, by series, into the pages.

    They may come in any order, with late and repeated steps. Of two points at one step the greater (time + lag, rank
    of the writer, sequence) stays; `rank[i]` is the place of writer `i` among the sorted writer names. An equal one is
    the same point again and changes nothing, so a fold may be repeated.
    """
    new = {series: points.ordered(rank) for series, points in batches.items() if len(points)}
    if not new:
        return
    known = {series: Directory() for series in new} | dict(store.directory(dict.fromkeys(new, EVERYTHING)))
    late = {
        series: Window(first_step=int(points.step[0]))
        for series, points in new.items()
        if known[series].count and points.step[0] <= known[series].last_step
    }
    known |= store.directory(late) if late else {}
    choirs: dict[tuple[int, int], dict[int, Points]] = {}
    for series, points in new.items():
        if series not in late:
            choirs.setdefault((known[series].count, id(points.ints)), {})[series] = points
    tasks = [choir.append(members, count) for (count, _), members in choirs.items()]
    run(store, together([*tasks, *(_fold(series, known[series], new[series], rank) for series in late)]))


def _fold(series: int, known: Directory, new: Points, rank: Array) -> Task[None]:
    """Merge from the first raw page that the new points reach; append what lies above the last."""
    late, later = _split(new, known.last_step)
    number = known.low
    while len(late):
        old = yield from _read(series, number)
        now, late = _split(late, int(old.step[-1]))
        merged = Points.concat([now, old]).ordered(rank)
        if len(merged) > len(old):
            rest = Points.concat([late, later])
            yield from _rewrite(series, known.count, number, merged, rest, rank)
            return
        yield from _replace(series, known.count, number, old, merged)
        number += _BATCH
    if len(later):
        yield from choir.append({series: later}, known.count)


def _replace(series: int, count: int, number: int, old: Points, new: Points) -> Task[None]:
    """Write those pages of `new`, which begin at raw page `number`, that differ from `old` of the same length."""
    differs = (old.ints != new.ints).any(axis=0) | (old.value.view(np.int64) != new.value.view(np.int64))
    changed = np.flatnonzero(differs)
    if not len(changed):
        return
    first, last = int(changed[0]) // POINTS_PER_PAGE, int(changed[-1]) // POINTS_PER_PAGE
    points = new.take(slice(first * POINTS_PER_PAGE, (last + 1) * POINTS_PER_PAGE))
    yield from _write(series, number + first, points, count)


def _rewrite(series: int, count: int, number: int, held: Points, new: Points, rank: Array) -> Task[None]:
    """Write `held`, which begins at raw page `number`, then all stored pages after it, merged with the new points.

    Points move up, so what is written must stay below what is still to be read: the new points are held meanwhile.
    """
    source = number + _BATCH
    while source * POINTS_PER_PAGE < count:
        whole = min(len(held) // POINTS_PER_PAGE, source - number)
        written = held.take(slice(whole * POINTS_PER_PAGE))
        yield from _write(series, number, written, (number + whole) * POINTS_PER_PAGE)
        old = yield from _read(series, source)
        now, new = _split(new, int(old.step[-1]))
        merged = Points.concat([now, old]).ordered(rank)
        held = Points.concat([held.take(slice(len(written), None)), merged])
        number, source = number + whole, source + _BATCH
    held = Points.concat([held, new])
    yield from _write(series, number, held, number * POINTS_PER_PAGE + len(held))


def _write(series: int, first: int, points: Points, count: int) -> Task[None]:
    known = yield Exchange(fetch=siblings(series, first, first + len(points) // POINTS_PER_PAGE, count))
    above = upper_pages([series], first, lowest_buckets(points.ints, points.floats), count, known)
    yield Exchange(put=raw_pages([series], first, points.ints, points.floats) + above)


def _read(series: int, number: int) -> Task[Points]:
    pages = yield Exchange(fetch=[PageRange(series, 0, number, number + _BATCH - 1)])
    keys = [(series, 0, at) for at in range(number, number + _BATCH)]
    return Points.concat([load_points(pages[key]) for key in keys if key in pages])


def _split(points: Points, last_step: int) -> tuple[Points, Points]:
    """Return the ordered points up to a step, and those above it."""
    place = int(np.searchsorted(points.step, last_step, side="right"))
    return points.take(slice(place)), points.take(slice(place, None))
