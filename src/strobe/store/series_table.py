"""The series table: one row for each key of each attempt of a run, with where it began and what it was last.

Rows are changed while the run's own row is locked, so that reading, comparing and writing them is one step.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

from strobe.journal import value
from strobe.store.columns import KeyNews
from strobe.store.database import Cursor, in_parts, marks

#: the lane of what users log; samples of the system have their writer's
HISTORY = ""
#: more keys than this are not named one by one: all rows are read
_MOST_NAMED = 500
_NAMES = ("run_id", "lane", "key", "attempt")
_CHANGING = (
    "top", "first_order", "first_writer", "first_sequence", "first_step", "last_order", "last_writer", "last_sequence",
    "last_step", "last_time", "last_value", "max_step", "has_points", "has_objects",
)  # fmt: skip
_UPDATE = f"UPDATE series SET {', '.join(f'{name} = ?' for name in _CHANGING)} WHERE id = ?"
_changed = attrgetter(*_CHANGING, "id")
_COLUMNS = ", ".join(("id", *_NAMES, *_CHANGING, "folded_count", "folded_last"))


@dataclass(slots=True)
class SeriesRow:
    """One row of the table."""

    id: int
    run_id: int
    lane: str
    key: str
    attempt: int
    top: str
    first_order: int
    first_writer: str
    first_sequence: int
    first_step: int
    last_order: int
    last_writer: str
    last_sequence: int
    last_step: int
    last_time: int
    #: msgpack; None while there are only values still being computed
    last_value: bytes | None
    max_step: int
    has_points: int
    has_objects: int
    folded_count: int = 0
    folded_last: int | None = None

    @property
    def first_place(self) -> tuple[int, str, int]:
        return self.first_order, self.first_writer, self.first_sequence

    @property
    def last_place(self) -> tuple[int, str, int]:
        return self.last_order, self.last_writer, self.last_sequence

    @property
    def is_top(self) -> bool:
        """Whether it was logged under this name, not found inside of a nested value."""
        return self.key == self.top

    def take(self, news: KeyNews, writer: str) -> None:
        """Take in what a batch says about the key."""
        self.has_points |= bool(news.points)
        if self.is_top and news.top != self.key:
            return  # numbers of the same name inside of another key: they are charted, and that is all
        becomes_top = self.top != news.top == self.key
        if becomes_top:
            self.top, self.max_step = news.top, news.max_step
        if becomes_top or (news.first[0], writer, news.first[1]) < self.first_place:
            self.first_order, self.first_writer, self.first_sequence = news.first[0], writer, news.first[1]
            self.first_step = news.first_step
        place = (news.last[0], writer, news.last[1])
        if news.has_value and (self.last_value is None or place >= self.last_place):
            self.last_order, self.last_writer, self.last_sequence = place
            self.last_step, self.last_time = news.last_step, news.last_time
            self.last_value = value.encode_decoded(news.last_value)
        self.max_step = max(self.max_step, news.max_step)
        self.has_objects |= news.has_objects


def read_series(
    cursor: Cursor,
    run_ids: Iterable[int],
    *,
    lane: str | None = HISTORY,
    attempt: int | None = None,
    keys: Collection[str] | None = None,
) -> dict[int, list[SeriesRow]]:
    """Return the rows of runs; of all lanes, if `lane` is None."""
    found: dict[int, list[SeriesRow]] = {}
    for part in in_parts(sorted(run_ids)):
        sql, parameters = f"SELECT {_COLUMNS} FROM series WHERE run_id IN ({marks(len(part))})", list[Any](part)
        for column, wanted in (("lane", lane), ("attempt", attempt)):
            if wanted is not None:
                sql += f" AND {column} = ?"
                parameters.append(wanted)
        if keys is not None and len(keys) <= _MOST_NAMED:
            sql += f" AND key IN ({marks(len(keys))})"
            parameters += keys
        for row in cursor.all(sql, *parameters):
            found.setdefault(row[1], []).append(SeriesRow(*row))
    return found


def write_series(
    cursor: Cursor, run_id: int, lane: str, attempt: int, writer: str, news: Mapping[str, KeyNews]
) -> dict[str, SeriesRow]:
    """Take in what a batch says about its keys; return their rows."""
    known = read_series(cursor, [run_id], lane=lane, attempt=attempt, keys=news)
    rows = {row.key: row for row in known.get(run_id, ())}
    changed = []
    for key, found in news.items():
        row = rows.get(key)
        if row is None:
            rows[key] = _insert(cursor, run_id, lane, attempt, writer, key, found)
        else:
            row.take(found, writer)
            changed.append(_changed(row))
    if changed:
        cursor.many(_UPDATE, changed)
    return rows


def _insert(cursor: Cursor, run_id: int, lane: str, attempt: int, writer: str, key: str, news: KeyNews) -> SeriesRow:
    row = SeriesRow(
        0, run_id, lane, key, attempt, news.top, news.first[0], writer, news.first[1], news.first_step,
        -(2**63), writer, -1, news.first_step, 0, None, news.max_step, 0, 0,
    )  # fmt: skip
    row.take(news, writer)
    names = (*_NAMES, *_CHANGING)
    inserted = cursor.one(
        f"INSERT INTO series ({', '.join(names)}) VALUES ({marks(len(names))}) RETURNING id",
        *(getattr(row, name) for name in names),
    )
    assert inserted is not None
    row.id = inserted[0]
    return row
