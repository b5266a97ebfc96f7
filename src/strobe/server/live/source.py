"""What changed in the store since the last look. Blocks; knows nothing of subscribers but what they watch.

A run has changed when its version has. Changes are found by time, with an overlap, because a transaction notes its time
before it is committed and clocks of several servers differ a little; versions tell what of it was seen before.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from strobe.journal import value
from strobe.store.database import Cursor, Database, in_parts, marks
from strobe.store.lines import RunBook, read_books
from strobe.store.pages import Pages
from strobe.store.series import Points, Window, read_points
from strobe.store.series.page import MIN_I64

#: parts of a run's document that are told when they change
TOLD = ("display_name", "notes", "tags", "group", "job_type", "summary")
OVERLAP_NS = 10 * 10**9
#: more new points of a key than this are not sent one by one: the chart is to be asked for again
MAX_POINTS = 2000
_LIMIT = 10_000

_COLUMNS = (
    "run.id, run.project_id, project.entity, project.name, run.name, run.state, run.version, run.is_dirty,"
    " run.changed_ns, run.started_ns, run.ended_ns, run.deleted_ns, run.stop_by, run.num_rows"
)
_FROM = "FROM run JOIN project ON project.id = run.project_id"


class Seen(msgspec.Struct, frozen=True, gc=False):
    """A run's row, as far as it is told."""

    id: int
    project_id: int
    entity: str
    project: str
    name: str
    state: str
    version: int
    #: whether (1) what it adds up to is behind
    is_dirty: int
    changed_ns: int
    started_ns: int
    ended_ns: int | None
    deleted_ns: int | None
    stop_by: str | None
    num_rows: int

    @property
    def path(self) -> str:
        return f"{self.entity}/{self.project}/{self.name}"


class Position(msgspec.Struct, frozen=True, gc=False):
    """Up to where the points of a key were sent."""

    attempt: int
    step: int


BEGINNING = Position(0, MIN_I64)


class Fresh(msgspec.Struct, frozen=True):
    """New points of a key and the position behind them."""

    position: Position
    points: Points | None
    #: points sent before from this step on no longer count: a later attempt has taken their place
    replaces_from: int | None = None


class StoreSource:
    """The store as a source of news."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def latest_ns(self) -> int:
        """Return when anything changed last."""
        row = self._database.read(lambda cursor: cursor.one("SELECT max(changed_ns) FROM run"))
        return 0 if row is None or row[0] is None else int(row[0])

    def changed_since(self, changed_ns: int) -> list[Seen]:
        """Return the runs that changed at that time or later, the earliest first."""

        def ask(cursor: Cursor) -> list[Seen]:
            found: list[Seen] = []
            # By the run as well: those that were silent are called crashed in one moment, however many they are.
            since, after = changed_ns, -1
            while True:
                rows = cursor.all(
                    f"SELECT {_COLUMNS} {_FROM} WHERE (run.changed_ns, run.id) > (?, ?)"
                    " ORDER BY run.changed_ns, run.id LIMIT ?",
                    *(since, after, _LIMIT),
                )
                found += [Seen(*row) for row in rows]
                if len(rows) < _LIMIT:
                    return found
                since, after = found[-1].changed_ns, found[-1].id

        return self._database.read(ask)

    def changed_among(
        self, changed_ns: int, run_ids: Iterable[int], project_ids: Iterable[int], limit: int
    ) -> list[str]:
        """Return the paths of some of these runs, and of runs of these projects, that changed since that time."""
        found: dict[str, None] = {}

        def ask(cursor: Cursor) -> None:
            found.clear()
            for column, numbers in (("run.id", sorted(run_ids)), ("run.project_id", sorted(project_ids))):
                for part in in_parts(numbers, 500):
                    rows = cursor.all(
                        f"SELECT project.entity, project.name, run.name {_FROM} WHERE {column} IN ({marks(len(part))})"
                        " AND run.changed_ns >= ? ORDER BY run.changed_ns LIMIT ?",
                        *part,
                        changed_ns,
                        limit,
                    )
                    found.update(dict.fromkeys("/".join(row) for row in rows))

        self._database.read(ask)
        return list(found)

    def documents(self, run_ids: Sequence[int]) -> dict[int, dict[str, Any]]:
        """Return what runs add up to, as far as that was done: summaries, names, tags."""
        found: dict[int, dict[str, Any]] = {}

        def ask(cursor: Cursor) -> None:
            found.clear()
            for part in in_parts(run_ids):
                for run_id, settled in cursor.all(
                    f"SELECT id, settled FROM run WHERE id IN ({marks(len(part))}) AND settled IS NOT NULL", *part
                ):
                    document = value.decode(settled)
                    found[run_id] = {name: document.get(name) for name in TOLD}

        self._database.read(ask)
        return found

    def positions(
        self, run_ids: Iterable[int], project_ids: Iterable[int], keys: Sequence[str]
    ) -> dict[tuple[int, str], Position]:
        """Return up to where the keys of runs, and of the running runs of projects, go now."""
        found: dict[tuple[int, str], Position] = {}

        def ask(cursor: Cursor) -> None:
            found.clear()
            for column, condition, numbers in (
                ("series.run_id", "", sorted(run_ids)),
                ("run.project_id", " AND run.state = 'running'", sorted(project_ids)),
            ):
                for part in in_parts(numbers, 500):
                    for some in in_parts(keys, 500):
                        rows = cursor.all(
                            "SELECT series.run_id, series.key, series.attempt, series.max_step"
                            " FROM series JOIN run ON run.id = series.run_id"
                            f" WHERE {column} IN ({marks(len(part))}) AND series.lane = '' AND series.has_points = 1"
                            f" AND series.key IN ({marks(len(some))}){condition} ORDER BY series.attempt",
                            *part,
                            *some,
                        )
                        found.update({(row[0], row[1]): Position(row[2], row[3]) for row in rows})

        if keys:
            self._database.read(ask)
        return found

    def fresh_points(self, after: Mapping[int, Mapping[str, Position]]) -> dict[tuple[int, str], Fresh]:
        """Return what is new of some keys of runs behind the given positions; keys without news are left out."""
        keys = set().union(*after.values())

        def ask(cursor: Cursor) -> dict[tuple[int, str], Fresh]:
            books = read_books(cursor, after, keys)
            found: dict[tuple[int, str], Fresh] = {}
            for run_id, book in books.items():
                for key, position in after[run_id].items():
                    fresh = _fresh(cursor, book, key, position)
                    if fresh is not None:
                        found[run_id, key] = fresh
            return found

        return self._database.read(ask)


def _fresh(cursor: Cursor, book: RunBook, key: str, position: Position) -> Fresh | None:
    rows = [row for row in book.rows_of(key) if row.has_points]
    if not rows:
        return None
    later = [row.first_step for row in rows if row.attempt > position.attempt]
    first = min(later) if later else position.step + 1
    parts = list(read_points(Pages(cursor), book.line(key, Window(first_step=first)), MAX_POINTS + 1))
    points = Points.concat(parts) if parts else Points.none()
    if not len(points):
        return None
    return Fresh(
        Position(rows[-1].attempt, rows[-1].max_step),
        None if len(points) > MAX_POINTS else points,
        first if later and position != BEGINNING else None,
    )
