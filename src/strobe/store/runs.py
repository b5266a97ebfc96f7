"""Runs as rows: finding them, what they are, their state, deletion with undo.

What a run logged is read through `lines`, `charts` and `history`; what was taken in but not yet added up into its
summary is brought up to date by `settle`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from strobe.errors import NotInStore, StoreConflict
from strobe.home import RunPath
from strobe.journal.attempt import Attempt
from strobe.store.database import Cursor, Database
from strobe.store.lines import read_book
from strobe.store.purge import purge_runs
from strobe.store.run_facts import read_facts
from strobe.store.state import Facts, values
from strobe.store.summary import summarize

_COLUMNS = (
    "run.id, project.entity, project.name, run.name, run.project_id, run.state, run.created_ns, run.started_ns,"
    " run.ended_ns, run.heartbeat_ns, run.changed_ns, run.version, run.deleted_ns, run.stop_by, run.num_rows"
)
#: states of a run whose process may still be there; one that is called crashed may only be out of reach
_MAY_LIVE = ("running", "crashed")
_DAY_NS = 24 * 3600 * 10**9
_FROM = "FROM run JOIN project ON project.id = run.project_id"


@dataclass(frozen=True, slots=True)
class RunRow:
    """A run's own row, without its document."""

    id: int
    entity: str
    project: str
    name: str
    project_id: int
    state: str
    created_ns: int
    started_ns: int
    ended_ns: int | None
    heartbeat_ns: int
    changed_ns: int
    version: int
    deleted_ns: int | None
    stop_by: str | None
    num_rows: int

    @property
    def path(self) -> RunPath:
        return RunPath(self.entity, self.project, self.name)


@dataclass(frozen=True, slots=True)
class RunView:
    """Everything about a run but its rows."""

    row: RunRow
    facts: Facts
    summary: dict[str, Any]
    #: the keys that it logged
    keys: list[str]
    last_step: int | None

    @property
    def config(self) -> dict[str, Any]:
        return values(self.facts.config)

    @property
    def attributes(self) -> dict[str, Any]:
        return values(self.facts.attributes)

    @property
    def attempts(self) -> list[Attempt]:
        return self.facts.attempts


class Runs:
    """The runs of a store."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def find(self, path: RunPath, *, with_deleted: bool = False) -> RunRow:
        """Return a run's row; raise NotInStore if there is none."""
        return self._database.read(lambda cursor: find_run(cursor, path, with_deleted=with_deleted))

    def find_all(self, paths: Sequence[RunPath]) -> list[RunRow]:
        """Return the rows of several runs, in their order."""
        return self._database.read(lambda cursor: [find_run(cursor, path) for path in paths])

    def get(self, path: RunPath, *, with_deleted: bool = False) -> RunView:
        """Return a run as it is now."""

        def ask(cursor: Cursor) -> RunView:
            row = find_run(cursor, path, with_deleted=with_deleted)
            facts = read_facts(cursor, row.id)
            book = read_book(cursor, row.id)
            return RunView(row, facts, summarize(cursor, facts, book), book.keys, book.last_step)

        return self._database.read(ask)

    def facts(self, run_id: int) -> Facts:
        """Return what a run's events add up to."""
        return self._database.read(lambda cursor: read_facts(cursor, run_id))

    def names(self, rows: Sequence[RunRow]) -> list[str]:
        """Return what people call these runs: the name, or the id of one that has none."""

        def ask(cursor: Cursor) -> list[str]:
            return [str(values(read_facts(cursor, row.id).attributes).get("name") or row.name) for row in rows]

        return self._database.read(ask)

    def asked_to_stop(self, paths: Sequence[RunPath]) -> list[RunPath]:
        """Return the runs among these that somebody wants to stop and that have not ended."""

        def ask(cursor: Cursor) -> list[RunPath]:
            stop = []
            for path in paths:
                try:
                    row = find_run(cursor, path, with_deleted=True)
                except NotInStore:
                    continue  # removed for good since it was taken in: nothing to stop
                if row.stop_by is not None and row.state in _MAY_LIVE:
                    stop.append(row.path)
            return stop

        return self._database.read(ask)

    # --- life and death

    def note_alive(self, paths: Sequence[RunPath], *, now_ns: int) -> list[RunPath]:
        """Note that the processes of these runs live; return those among them that somebody wants to stop."""

        def change(cursor: Cursor) -> list[RunPath]:
            stop = []
            for path in sorted(paths, key=str):  # locked in one order by all who do this
                try:
                    row = find_run(cursor, path)
                except NotInStore:
                    continue
                cursor.run("UPDATE run SET heartbeat_ns = ? WHERE id = ?", now_ns, row.id)
                if row.state == "crashed":  # it was only out of reach
                    _set_state(cursor, row.id, read_facts(cursor, row.id).state, now_ns)
                if row.stop_by is not None and row.state in _MAY_LIVE:
                    stop.append(path)
            return stop

        return self._database.write(change)

    def bury(self, *, silent_for_ns: int, now_ns: int) -> list[RunRow]:
        """Call runs crashed that should be running but were silent for too long; return them."""

        def change(cursor: Cursor) -> list[RunRow]:
            # One statement: a run that ends, or is heard of, at this very moment is looked at once more under its lock.
            buried = cursor.all(
                "UPDATE run SET state = 'crashed', changed_ns = ?, version = version + 1, is_dirty = 1"
                " WHERE state = 'running' AND heartbeat_ns < ? RETURNING id",
                now_ns,
                now_ns - silent_for_ns,
            )
            sql = f"SELECT {_COLUMNS} {_FROM} WHERE run.id = ?"
            return [RunRow(*row) for (run_id,) in buried for row in cursor.all(sql, run_id)]

        return self._database.write(change)

    def in_state(self, state: str) -> list[RunRow]:
        """Return the runs that are in a state."""
        sql = f"SELECT {_COLUMNS} {_FROM} WHERE run.state = ? AND run.deleted_ns IS NULL"
        return self._database.read(lambda cursor: [RunRow(*row) for row in cursor.all(sql, state)])

    def judge(self, run_id: int, state: str, *, now_ns: int) -> None:
        """Set the state of a run whose process cannot say it itself."""
        self._database.write(lambda cursor: _set_state(cursor, run_id, state, now_ns))

    def request_stop(self, path: RunPath, *, by: str, now_ns: int) -> RunRow:
        """Ask the run's process to stop; its agent hears of it with its next sign of life.

        Raises StoreConflict if the run is over.
        """

        def change(cursor: Cursor) -> RunRow:
            row = find_run(cursor, path)
            if row.state not in _MAY_LIVE:
                raise StoreConflict(f"{path} is {row.state}: there is nothing left to stop")
            cursor.run("UPDATE run SET stop_by = ? WHERE id = ?", by, row.id)
            touch(cursor, row.id, now_ns)
            return find_run(cursor, path)

        return self._database.write(change)

    def delete(self, path: RunPath, *, now_ns: int) -> None:
        """Hide a run; it can be brought back until it is purged."""
        self._mark(path, now_ns, now_ns)

    def undelete(self, path: RunPath, *, now_ns: int) -> None:
        """Bring a deleted run back."""
        self._mark(path, None, now_ns)

    def _mark(self, path: RunPath, deleted_ns: int | None, now_ns: int) -> None:
        def change(cursor: Cursor) -> None:
            row = find_run(cursor, path, with_deleted=True)
            cursor.run("UPDATE run SET deleted_ns = ? WHERE id = ?", deleted_ns, row.id)
            touch(cursor, row.id, now_ns)

        self._database.write(change)

    def expire(self, *, now_ns: int) -> int:
        """Delete, so that it can be undone, runs that ended before what their project keeps; return how many."""

        def change(cursor: Cursor) -> int:
            found = cursor.all(
                f"SELECT run.id {_FROM} WHERE project.retention_days IS NOT NULL AND run.deleted_ns IS NULL"
                " AND run.state <> 'running'"
                " AND coalesce(run.ended_ns, run.heartbeat_ns) < ? - project.retention_days * ?",
                now_ns,
                _DAY_NS,
            )
            count = 0
            for (run_id,) in found:
                sql = "UPDATE run SET deleted_ns = ? WHERE id = ? AND deleted_ns IS NULL AND state <> 'running'"
                if cursor.run(sql, now_ns, run_id):  # it was not started again meanwhile
                    touch(cursor, run_id, now_ns)
                    count += 1
            return count

        return self._database.write(change)

    def remove(self, path: RunPath) -> None:
        """Remove a run for good at once."""

        def change(cursor: Cursor) -> None:
            cursor.run("DELETE FROM run WHERE id = ?", find_run(cursor, path, with_deleted=True).id)

        self._database.write(change)

    def purge(self, *, deleted_before_ns: int) -> int:
        """Remove runs for good that were deleted before a moment, in small steps; return how many."""
        return purge_runs(self._database, deleted_before_ns=deleted_before_ns)


def find_run(cursor: Cursor, path: RunPath, *, with_deleted: bool = False) -> RunRow:
    """Return a run's row; raise NotInStore if there is none."""
    found = cursor.one(
        f"SELECT {_COLUMNS} {_FROM} WHERE project.entity = ? AND project.name = ? AND run.name = ?",
        path.entity,
        path.project,
        path.id,
    )
    if found is None:
        raise NotInStore(f"there is no run {path}")
    row = RunRow(*found)
    if row.deleted_ns is not None and not with_deleted:
        raise NotInStore(f"run {path} was deleted; undo that to see it")
    return row


def touch(cursor: Cursor, run_id: int, now_ns: int) -> None:
    """Note that a run changed, for those who watch it and for its summary."""
    cursor.run("UPDATE run SET changed_ns = ?, version = version + 1, is_dirty = 1 WHERE id = ?", now_ns, run_id)


def _set_state(cursor: Cursor, run_id: int, state: str, now_ns: int) -> None:
    cursor.run("UPDATE run SET state = ? WHERE id = ?", state, run_id)
    touch(cursor, run_id, now_ns)
