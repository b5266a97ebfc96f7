"""Charts: series of runs over a range of an axis, at most so many buckets each; many runs with few statements."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from strobe.errors import NotInStore
from strobe.store.database import Cursor, Database
from strobe.store.lines import RunBook, read_books
from strobe.store.pages import Pages
from strobe.store.series import Buckets, Line, Points, Window, digest, join, query, read_points
from strobe.store.series.column import Array
from strobe.store.series.join import JOIN_LIMIT
from strobe.store.series.page import MAX_I64, MIN_I64
from strobe.store.series_table import HISTORY

#: step, wall time in nanoseconds, or nanoseconds since the run began
Axis = Literal["step", "time", "relative"]


@dataclass(frozen=True, slots=True)
class Ask:
    """One curve: a key of a run; of its samples of the system, of one attempt, or over another key, if so asked."""

    run_id: int
    key: str
    is_system: bool = False
    attempt: int | None = None
    x_key: str | None = None


@dataclass(frozen=True, slots=True)
class Span:
    """A range of an axis, both ends included; None is open."""

    axis: Axis = "step"
    first: int | None = None
    last: int | None = None

    def window(self, started_ns: int) -> Window:
        first = MIN_I64 if self.first is None else self.first
        last = MAX_I64 if self.last is None else self.last
        if self.axis == "step":
            return Window(first_step=first, last_step=last)
        origin = started_ns if self.axis == "relative" else 0
        return Window(first_time=_bounded(first + origin), last_time=_bounded(last + origin))


WHOLE = Span()


@dataclass(frozen=True, slots=True)
class Chart:
    """The answer to an `Ask`: buckets in step order."""

    ask: Ask
    #: '' or the writer that sampled the system
    lane: str
    buckets: Buckets
    started_ns: int
    version: int
    #: from when times are counted: 0, or the run's start
    origin_ns: int = 0
    #: the other key's values, one for each bucket, where it was asked for
    x: Array | None = None
    is_approximate: bool = False
    #: whether it also depends on the run that this one was forked from, whose version is another
    is_forked: bool = False


@dataclass(frozen=True, slots=True)
class KeyFacts:
    """A key of a run."""

    #: '' for what was logged, else the writer that sampled the system
    lane: str
    key: str
    #: whether it has numbers, and whether it has other values
    has_points: bool = False
    has_objects: bool = False


class Charts:
    """Series of a store's runs."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def query(self, asks: Sequence[Ask], *, span: Span = WHOLE, pixels: int = 1000) -> list[Chart]:
        """Return a chart for each curve that there is: one per ask, and per sampler for samples of the system."""
        return self._database.read(lambda cursor: _query(cursor, asks, span, pixels))

    def newer(self, run_id: int, keys: Sequence[str], after_step: int, *, limit: int = 5000) -> dict[str, Points]:
        """Return the points of keys above a step, at most `limit` of each: what somebody who follows a run lacks."""

        def ask(cursor: Cursor) -> dict[str, Points]:
            book = _book(read_books(cursor, [run_id], keys), run_id)
            found = {}
            for key in keys:
                line = book.line(key, Window(first_step=after_step + 1))
                parts = list(read_points(Pages(cursor), line, limit)) if line.parts else []
                if parts:
                    found[key] = Points.concat(parts)
            return found

        return self._database.read(ask)

    def digests(self, run_id: int, keys: Sequence[str] | None = None) -> dict[str, Buckets]:
        """Return one bucket over all points for each key of a run that has any."""
        return self.digests_of([run_id], keys)[run_id]

    def digests_of(self, run_ids: Sequence[int], keys: Sequence[str] | None = None) -> dict[int, dict[str, Buckets]]:
        """Return the same for many runs, with few statements."""

        def ask(cursor: Cursor) -> dict[int, dict[str, Buckets]]:
            books = read_books(cursor, run_ids, keys)
            named = [(run_id, key) for run_id in run_ids for key in charted_keys(_book(books, run_id), keys)]
            buckets = digest(Pages(cursor), [books[run_id].line(key) for run_id, key in named])
            found: dict[int, dict[str, Buckets]] = {run_id: {} for run_id in run_ids}
            for (run_id, key), bucket in zip(named, buckets, strict=True):
                if len(bucket):
                    found[run_id][key] = bucket
            return found

        return self._database.read(ask)

    def keys(self, run_id: int) -> list[KeyFacts]:
        """Return what a run has logged under, and what its system was sampled by, in order."""
        return self.keys_of([run_id])[run_id]

    def keys_of(self, run_ids: Sequence[int]) -> dict[int, list[KeyFacts]]:
        """Return the same for many runs, with few statements."""

        def ask(cursor: Cursor) -> dict[int, list[KeyFacts]]:
            books = read_books(cursor, run_ids, lane=None)
            return {run_id: _key_facts(_book(books, run_id)) for run_id in run_ids}

        return self._database.read(ask)


def _key_facts(book: RunBook) -> list[KeyFacts]:
    found: dict[tuple[str, str], KeyFacts] = {}
    owner: RunBook | None = book
    while owner is not None:  # a fork has also what it took over
        for row in owner.rows:
            name = (row.lane, row.key)
            known = found.get(name, KeyFacts(*name))
            found[name] = replace(
                known,
                has_points=known.has_points or bool(row.has_points),
                has_objects=known.has_objects or bool(row.has_objects),
            )
        owner = owner.parent
    return [found[name] for name in sorted(found)]


def charted_keys(book: RunBook, keys: Collection[str] | None) -> list[str]:
    """Return the keys of a run that have points, also those taken over, or those of them that are named."""
    names: set[str] = set()
    owner: RunBook | None = book
    while owner is not None:
        names |= {row.key for row in owner.rows if row.has_points and (keys is None or row.key in keys)}
        owner = owner.parent
    return sorted(names)


def _query(cursor: Cursor, asks: Sequence[Ask], span: Span, pixels: int) -> list[Chart]:
    named = {ask.key for ask in asks} | {ask.x_key for ask in asks if ask.x_key}
    lane = None if any(ask.is_system for ask in asks) else HISTORY
    books = read_books(cursor, {ask.run_id for ask in asks}, named, lane=lane)
    pages = Pages(cursor)
    wanted: list[tuple[Ask, str, RunBook, Line]] = []
    charts: list[Chart] = []
    for ask in asks:
        book = _book(books, ask.run_id)
        for found_lane in _lanes(book, ask):
            line = book.line(ask.key, span.window(book.started_ns), lane=found_lane, attempt=ask.attempt)
            if ask.x_key is None:
                wanted.append((ask, found_lane, book, line))
            else:
                over = book.line(ask.x_key, span.window(book.started_ns), lane=found_lane, attempt=ask.attempt)
                joined = join(pages, over, line, pixels, JOIN_LIMIT)
                charts.append(
                    replace(
                        _chart(ask, found_lane, joined.y, book, span), x=joined.x, is_approximate=joined.approximate
                    )
                )
    buckets = query(pages, [line for *_, line in wanted], pixels, "step" if span.axis == "step" else "time")
    for (ask, found_lane, book, _), found in zip(wanted, buckets, strict=True):
        charts.append(_chart(ask, found_lane, found, book, span))
    return charts


def _chart(ask: Ask, lane: str, buckets: Buckets, book: RunBook, span: Span) -> Chart:
    origin_ns = book.started_ns if span.axis == "relative" else 0
    is_forked = book.parent is not None
    return Chart(ask, lane, buckets, book.started_ns, book.version, origin_ns, is_forked=is_forked)


def _lanes(book: RunBook, ask: Ask) -> list[str]:
    if not ask.is_system:
        return [HISTORY]
    return sorted({row.lane for row in book.rows if row.lane != HISTORY and row.key == ask.key})


def _book(books: dict[int, RunBook], run_id: int) -> RunBook:
    if run_id not in books:
        raise NotInStore(f"there is no run with the number {run_id}")
    return books[run_id]


def _bounded(moment: int) -> int:
    return max(MIN_I64, min(MAX_I64, moment))
