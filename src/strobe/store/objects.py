"""Typed objects, which is everything logged that is no number: by key and step, as a run's history has them.

What later attempts superseded is left out and what a fork took over is there, by the same book that charts go by
(`strobe.store.lines`). Answers are bounded in number and in bytes; the rest is asked for from the next step on.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from strobe.journal import value
from strobe.journal.entry import with_text_keys
from strobe.store.database import Cursor, Database
from strobe.store.lines import RunBook, read_book
from strobe.store.series_table import HISTORY

#: values of one answer, and bytes of them as they are stored
MAX_OBJECTS = 1000
MAX_BYTES = 8 << 20
_AT_ONCE = 32
_LOWEST, _HIGHEST = -(2**63), 2**63 - 1


class ObjectKey(msgspec.Struct, frozen=True, kw_only=True):
    """A key that has objects: of which types, and between which steps."""

    key: str
    types: list[str]
    first_step: int
    last_step: int


class LoggedValue(msgspec.Struct, frozen=True, kw_only=True):
    """One object."""

    key: str
    step: int
    time_ns: int
    attempt: int
    #: its `_type` (histogram, image-file, …), else the name of its plain type
    type: str
    value: Any


class ObjectPage(msgspec.Struct, frozen=True, kw_only=True):
    """Objects in the order of steps, and the step from which to go on; none at the end."""

    items: list[LoggedValue]
    next_step: int | None


class Objects:
    """Everything that runs logged besides numbers."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def keys(self, run_id: int) -> list[ObjectKey]:
        """Return the keys that have objects, in order."""
        return self._database.read(lambda cursor: _keys(cursor, read_book(cursor, run_id)))

    def of_key(
        self,
        run_id: int,
        key: str,
        *,
        first: int = _LOWEST,
        last: int = _HIGHEST,
        limit: int = 100,
        is_descending: bool = False,
        attempt: int | None = None,
    ) -> ObjectPage:
        """Return the objects of a key at the steps from `first` to `last`; with `attempt`, what that one logged."""

        def ask(cursor: Cursor) -> ObjectPage:
            spans = _spans(read_book(cursor, run_id, [key]), key, attempt)
            found = _merged([span.iterate(cursor, first, last, is_descending) for span in spans], is_descending)
            return _page(found, min(limit, MAX_OBJECTS))

        return self._database.read(ask)

    def steps(self, run_id: int, keys: Sequence[str]) -> dict[str, list[int]]:
        """Return for each key the steps that it has objects at, in order, without the objects."""

        def ask(cursor: Cursor) -> dict[str, list[int]]:
            book = read_book(cursor, run_id, keys)
            return {key: sorted({step for span in _spans(book, key) for step in span.steps(cursor)}) for key in keys}

        return self._database.read(ask)

    def nearest(self, run_id: int, keys: Sequence[str], step: int) -> dict[str, LoggedValue]:
        """Return for each key the object at that step, or at the last one before it; keys without one are left out."""

        def ask(cursor: Cursor) -> dict[str, LoggedValue]:
            book = read_book(cursor, run_id, keys)
            found = {}
            for key in keys:
                candidates = [next(span.iterate(cursor, _LOWEST, step, True), None) for span in _spans(book, key)]
                # Spans are in the order in which they win: of the same step, the last one counts.
                best = max((item for item in candidates if item), key=lambda item: item.step, default=None)
                if best is not None:
                    found[key] = next(item for item in reversed(candidates) if item and item.step == best.step).decode()
            return found

        return self._database.read(ask)


@dataclass(frozen=True, slots=True)
class _Stored:
    """A row of the table."""

    key: str
    step: int
    time_ns: int
    attempt: int
    type: str
    body: bytes

    def decode(self) -> LoggedValue:
        item = value.decode(self.body)
        return LoggedValue(
            key=self.key,
            step=self.step,
            time_ns=self.time_ns,
            attempt=self.attempt,
            type=self.type,
            value=with_text_keys(item) if item.__class__ is dict else item,
        )


@dataclass(frozen=True, slots=True)
class _Span:
    """The objects of a key that one attempt logged, up to where a later one superseded them."""

    run_id: int
    key: str
    attempt: int
    last: int

    def steps(self, cursor: Cursor) -> list[int]:
        """Return the steps of all of them."""
        rows = cursor.all(
            "SELECT step FROM object WHERE run_id = ? AND key = ? AND attempt = ? AND step <= ?",
            self.run_id,
            self.key,
            self.attempt,
            self.last,
        )
        return [row[0] for row in rows]

    def iterate(self, cursor: Cursor, first: int, last: int, is_descending: bool) -> Iterator[_Stored]:
        """Yield those between two steps, a few at a time: bodies may be large."""
        last = min(last, self.last)
        at_once = 1
        while first <= last:
            rows = cursor.all(
                "SELECT key, step, time_ns, attempt, type, body FROM object"
                " WHERE run_id = ? AND key = ? AND attempt = ? AND step BETWEEN ? AND ?"
                f" ORDER BY step {'DESC' if is_descending else 'ASC'} LIMIT ?",
                self.run_id,
                self.key,
                self.attempt,
                first,
                last,
                at_once,
            )
            for row in rows:
                yield _Stored(*row)
            if len(rows) < at_once:
                return
            first, last = (first, rows[-1][1] - 1) if is_descending else (rows[-1][1] + 1, last)
            at_once = _AT_ONCE


def _spans(book: RunBook, key: str, attempt: int | None = None) -> list[_Span]:
    """Return the spans of a key, those that win over others last: what was taken over, then attempt by attempt."""
    spans = []
    if book.parent is not None and attempt is None:
        for span in _spans(book.parent, key):
            spans.append(_Span(span.run_id, key, span.attempt, min(span.last, book.inherited_until)))
    for row in book.rows_of(key):
        if row.has_objects and attempt in (None, row.attempt):
            clip = None if attempt is not None else book.clip(row.attempt, row.top)
            spans.append(_Span(book.id, key, row.attempt, _HIGHEST if clip is None else clip - 1))
    return spans


def _merged(spans: Sequence[Iterator[_Stored]], is_descending: bool) -> Iterator[_Stored]:
    """Yield the objects of several spans in the order of steps, of one step the one of the last span."""
    sign = -1 if is_descending else 1
    placed = (_with_place(span, sign, -place) for place, span in enumerate(spans))
    latest: int | None = None
    for _, _, stored in heapq.merge(*placed, key=lambda entry: entry[:2]):
        if stored.step != latest:
            latest = stored.step
            yield stored


def _with_place(span: Iterator[_Stored], sign: int, place: int) -> Iterator[tuple[int, int, _Stored]]:
    return ((sign * stored.step, place, stored) for stored in span)


def _page(found: Iterable[_Stored], limit: int) -> ObjectPage:
    items: list[LoggedValue] = []
    size = 0
    for stored in found:
        if len(items) >= limit or (items and size + len(stored.body) > MAX_BYTES):
            return ObjectPage(items=items, next_step=stored.step)
        size += len(stored.body)
        items.append(stored.decode())
    return ObjectPage(items=items, next_step=None)


def _keys(cursor: Cursor, book: RunBook) -> list[ObjectKey]:
    bounds: dict[str, list[int]] = {}
    types: dict[str, set[str]] = {}
    for key in sorted(_object_keys(book)):
        for span in _spans(book, key):
            row = cursor.one(
                "SELECT min(step), max(step) FROM object WHERE run_id = ? AND key = ? AND attempt = ? AND step <= ?",
                span.run_id,
                key,
                span.attempt,
                span.last,
            )
            if row is not None and row[0] is not None:
                bounds.setdefault(key, []).extend(row)
    owner: RunBook | None = book
    while owner is not None:
        for key, kind in cursor.all("SELECT key, type FROM object WHERE run_id = ? GROUP BY key, type", owner.id):
            types.setdefault(key, set()).add(kind)
        owner = owner.parent
    return [
        ObjectKey(key=key, types=sorted(types[key]), first_step=min(steps), last_step=max(steps))
        for key, steps in bounds.items()
    ]


def _object_keys(book: RunBook) -> set[str]:
    own = {row.key for row in book.rows if row.has_objects and row.lane == HISTORY}
    return own | (_object_keys(book.parent) if book.parent is not None else set())
