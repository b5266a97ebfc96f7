"""Projects at a glance: how many runs each has, how many are running, and when something last happened there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from strobe.store.database import Cursor, Database, marks
from strobe.store.projects import Access


@dataclass(frozen=True, slots=True)
class Overview:
    """A project and its runs in figures."""

    entity: str
    name: str
    access: Access
    description: str
    created_ns: int
    retention_days: int | None
    quota_bytes: int | None
    num_runs: int
    num_running: int
    #: when a run was made, ended, or gave a sign of life; the project's own time if it has none
    active_ns: int
    #: how many runs were made on each of the last days (UTC), today last
    activity: list[int]


DAYS = 28
_DAY_NS = 86_400 * 10**9


class Overviews:
    """Lists of projects."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def page(
        self,
        *,
        entities: Sequence[str] | None = None,
        accesses: Sequence[str] = (),
        entity: str | None = None,
        after: tuple[str, str] = ("", ""),
        limit: int = 100,
        now_ns: int,
    ) -> list[Overview]:
        """Return projects by name: all (`entities` None), or those of some entities and those with some accesses."""
        where, parameters = ["(entity, name) > (?, ?)"], list[Any](after)
        if entities is not None:
            parts = [f"{column} IN ({marks(len(some))})" for column, some in _given(entities, accesses)]
            where.append(f"({' OR '.join(parts) or '1 = 0'})")
            parameters += [*entities, *accesses]
        if entity is not None:
            where.append("entity = ?")
            parameters.append(entity)
        return self._database.read(lambda cursor: _read(cursor, now_ns, " AND ".join(where), [*parameters, limit]))

    def get(self, entity: str, name: str, *, now_ns: int) -> Overview | None:
        """Return one project, or None."""
        where = "entity = ? AND name = ?"
        found = self._database.read(lambda cursor: _read(cursor, now_ns, where, [entity, name, 1]))
        return found[0] if found else None


def _given(entities: Sequence[str], accesses: Sequence[str]) -> list[tuple[str, Sequence[str]]]:
    return [(column, some) for column, some in (("entity", entities), ("access", accesses)) if some]


def _read(cursor: Cursor, now_ns: int, where: str, parameters: list[Any]) -> list[Overview]:
    columns = "id, entity, name, access, description, created_ns, retention_days, quota_bytes"
    projects = cursor.all(f"SELECT {columns} FROM project WHERE {where} ORDER BY entity, name LIMIT ?", *parameters)
    return [_with_figures(cursor, now_ns, *row) for row in projects]


def _with_figures(cursor: Cursor, now_ns: int, project_id: int, *columns: Any) -> Overview:
    # The first is answered by an index (run_listed) alone; few runs are running.
    counted = cursor.one(
        "SELECT count(*), max(created_ns), max(ended_ns) FROM run WHERE project_id = ? AND deleted_ns IS NULL",
        project_id,
    )
    running = cursor.one(
        "SELECT count(*), max(heartbeat_ns) FROM run WHERE project_id = ? AND state = 'running' AND deleted_ns IS NULL",
        project_id,
    )
    assert counted is not None
    assert running is not None
    moments = [columns[4], counted[1], counted[2], running[1]]
    figures = (counted[0], running[0], max(moment or 0 for moment in moments))
    return Overview(*(*columns, *figures, _activity(cursor, now_ns, project_id)))


def _activity(cursor: Cursor, now_ns: int, project_id: int) -> list[int]:
    since_ns = (now_ns // _DAY_NS - DAYS + 1) * _DAY_NS
    per_day: dict[int, int] = dict(
        cursor.all(
            "SELECT (created_ns - ?) / ?, count(*) FROM run"
            " WHERE project_id = ? AND created_ns >= ? AND deleted_ns IS NULL GROUP BY 1",
            since_ns,
            _DAY_NS,
            project_id,
            since_ns,
        )
    )
    return [per_day.get(day, 0) for day in range(DAYS)]
