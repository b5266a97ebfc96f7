"""Which points of a run count: superseded tails left out, a fork's parent taken over, the unfolded tail added.

A later attempt supersedes an earlier one per key, from the first step that it logged of that key, and for all keys from
the step that it was rewound to. A `RunBook` knows this for one run inside of one transaction.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import msgspec

from strobe.errors import NotInStore, UsageError
from strobe.home import LOCAL_ENTITY, RunPath
from strobe.store.database import Cursor, in_parts, marks
from strobe.store.series import EVERYTHING, Line, Part, Points, Window
from strobe.store.series_table import HISTORY, SeriesRow, read_series
from strobe.store.tail import tail_points

#: forks of forks are followed so far
_MAX_GENERATIONS = 50
_decode_rewinds = msgspec.json.Decoder(dict[int, int]).decode


class Unfolded:
    """Points of runs that are not in pages yet, of all wanted keys at once, read when the first is asked for."""

    def __init__(self, cursor: Cursor, run_ids: list[int], rows: list[SeriesRow]) -> None:
        self._cursor = cursor
        self._run_ids = run_ids
        self._rows = rows
        self._found: dict[int, dict[int, Points]] | None = None

    def points(self, run_id: int, series: int) -> Points | None:
        if self._found is None:
            self._found = tail_points(self._cursor, self._run_ids, self._rows)
        return self._found.get(run_id, {}).get(series)


@dataclass(slots=True)
class RunBook:
    """What a run logged under which keys in which attempts, and which steps of it count."""

    id: int
    started_ns: int
    version: int
    #: attempt → first step that it gave up on purpose
    rewinds: dict[int, int]
    rows: list[SeriesRow]
    parent: RunBook | None = None
    #: the last step taken over from the parent
    inherited_until: int = -1
    #: the points not folded yet, which are read when somebody draws a line; none if there are none
    unfolded: Unfolded | None = None

    def __post_init__(self) -> None:
        for row in sorted(self.rows, key=lambda row: row.attempt):
            self._by_key.setdefault((row.lane, row.key), []).append(row)
            if row.lane == HISTORY and row.is_top:
                self._firsts.setdefault(row.key, []).append((row.attempt, row.first_step))

    #: (lane, key) → the attempts' rows, in order
    _by_key: dict[tuple[str, str], list[SeriesRow]] = field(init=False, default_factory=dict)
    #: logged key → (attempt, first step)
    _firsts: dict[str, list[tuple[int, int]]] = field(init=False, default_factory=dict)

    def _tail(self, row: SeriesRow) -> Points | None:
        return None if self.unfolded is None else self.unfolded.points(self.id, row.id)

    @property
    def keys(self) -> list[str]:
        """The keys that were logged, also those taken over, in order."""
        own = {row.key for row in self.rows if row.lane == HISTORY and row.is_top}
        return sorted(own.union(self.parent.keys if self.parent else ()))

    @property
    def last_step(self) -> int | None:
        """The highest step that counts, as far as it can be told without reading points; None if nothing was logged."""
        found: list[int] = []
        if self.parent is not None and (inherited := self.parent.last_step) is not None:
            found.append(min(inherited, self.inherited_until))
        for row in self.rows:
            if row.lane == HISTORY and row.is_top:
                clip = self.clip(row.attempt, row.top)
                if clip is None or row.first_step < clip:
                    found.append(row.max_step if clip is None else min(row.max_step, clip - 1))
        return max(found, default=None)

    def clip(self, attempt: int, top: str) -> int | None:
        """Return the first step at which a logged key of an attempt is superseded, or None."""
        steps = [step for number, step in self.rewinds.items() if number > attempt]
        steps += [step for number, step in self._firsts.get(top, ()) if number > attempt]
        return min(steps, default=None)

    def rewound_to(self, attempt: int) -> int | None:
        """Return the first step that attempts after this one gave up on purpose, or None."""
        return min((step for number, step in self.rewinds.items() if number > attempt), default=None)

    def rows_of(self, key: str, lane: str = HISTORY) -> list[SeriesRow]:
        """Return the attempts' rows of a key, in order."""
        return self._by_key.get((lane, key), [])

    def line(self, key: str, window: Window = EVERYTHING, *, lane: str = HISTORY, attempt: int | None = None) -> Line:
        """Return the points of a key that count; with `attempt`, what that one logged, superseded or not."""
        if attempt is not None:
            rows = [row for row in self.rows_of(key, lane) if row.attempt == attempt]
            return Line(tuple(Part(row.id, None, self._tail(row)) for row in rows), window)
        return Line(self._parts(key, lane), window)

    def _parts(self, key: str, lane: str) -> tuple[Part, ...]:
        own = tuple(
            Part(row.id, self.clip(row.attempt, row.top) if lane == HISTORY else None, self._tail(row))
            for row in self.rows_of(key, lane)
            if row.has_points
        )
        if self.parent is None:
            return own
        bound = self.inherited_until + 1
        inherited = self.parent._parts(key, lane)
        return (*(replace(part, before=min(bound, _or(part.before, bound))) for part in inherited), *own)


def read_book(cursor: Cursor, run_id: int, keys: Iterable[str] | None = None, *, lane: str | None = HISTORY) -> RunBook:
    """Return the book of a run with the unfolded points of the given keys (None: of all)."""
    books = read_books(cursor, [run_id], keys, lane=lane)
    if run_id not in books:
        raise NotInStore(f"there is no run with the number {run_id}")
    return books[run_id]


def read_books(
    cursor: Cursor, run_ids: Iterable[int], keys: Iterable[str] | None = None, *, lane: str | None = HISTORY
) -> dict[int, RunBook]:
    """Return the books of many runs with few statements; runs that do not exist are left out."""
    wanted = None if keys is None else set(keys)
    return _read_books(cursor, set(run_ids), wanted, lane, _MAX_GENERATIONS)


def _read_books(
    cursor: Cursor, run_ids: set[int], keys: set[str] | None, lane: str | None, generations: int
) -> dict[int, RunBook]:
    if not run_ids:
        return {}
    books: dict[int, RunBook] = {}
    parents: dict[int, tuple[int, int | None]] = {}
    unfolded: list[int] = []
    rows = read_series(cursor, run_ids, lane=lane, keys=None if keys is None else _with_tops(keys))
    for part in in_parts(sorted(run_ids)):
        for run_id, started_ns, version, rewinds, parent, fork_step, entity, project, tail_batches in cursor.all(
            "SELECT run.id, run.started_ns, run.version, run.rewinds, run.parent, run.fork_step, project.entity,"
            " project.name, run.tail_batches FROM run JOIN project ON project.id = run.project_id"
            f" WHERE run.id IN ({marks(len(part))})",
            *part,
        ):
            books[run_id] = RunBook(run_id, started_ns, version, _decode_rewinds(rewinds), rows.get(run_id, []))
            if tail_batches:
                unfolded.append(run_id)
            if parent and generations:
                parent_id = _find_parent(cursor, parent, entity, project)
                if parent_id is not None and parent_id != run_id:
                    parents[run_id] = (parent_id, fork_step)
    chosen = [row for run_id in unfolded for row in books[run_id].rows if keys is None or row.key in keys]
    tails = Unfolded(cursor, unfolded, chosen)
    for run_id in unfolded:
        books[run_id].unfolded = tails
    elders = _read_books(cursor, {parent for parent, _ in parents.values()}, keys, lane, generations - 1)
    for run_id, (parent_id, fork_step) in parents.items():
        book = books[run_id]
        book.parent = elders.get(parent_id)
        until = -1 if fork_step is None else int(fork_step)
        book.inherited_until = min(until, _or(book.rewound_to(0), until + 1) - 1)
    return books


def _with_tops(keys: set[str]) -> set[str]:
    """Return the keys and those whose nested values they may be."""
    found = set(keys)
    for key in keys:
        top = key
        while "." in top:
            top = top.rpartition(".")[0]
            found.add(top)
    return found


def _find_parent(cursor: Cursor, path: str, entity: str, project: str) -> int | None:
    """Return the number of the run that a fork names; one named by its local path is looked for beside the fork."""
    try:
        run = RunPath.parse(path, entity=entity, project=project)
    except UsageError:
        return None
    owner = entity if run.entity == LOCAL_ENTITY else run.entity
    found = cursor.one(
        "SELECT run.id FROM run JOIN project ON project.id = run.project_id"
        " WHERE project.entity = ? AND project.name = ? AND run.name = ?",
        owner,
        run.project,
        run.id,
    )
    return int(found[0]) if found else None


def _or(step: int | None, other: int) -> int:
    return other if step is None else step
