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
        return self._database.read(lambda cursor: _read(cursor, " AND ".join(where), [*parameters, limit]))

    def get(self, entity: str, name: str) -> Overview | None:
        """Return one project, or None."""
        found = self._database.read(lambda cursor: _read(cursor, "entity = ? AND name = ?", [entity, name, 1]))
        return found[0] if found else None


def _given(entities: Sequence[str], accesses: Sequence[str]) -> list[tuple[str, Sequence[str]]]:
    return [(column, some) for column, some in (("entity", entities), ("access", accesses)) if some]


def _read(cursor: Cursor, where: str, parameters: list[Any]) -> list[Overview]:
    columns = "id, entity, name, access, description, created_ns, retention_days, quota_bytes"
    projects = cursor.all(f"SELECT {columns} FROM project WHERE {where} ORDER BY entity, name LIMIT ?", *parameters)
    return [_with_figures(cursor, *row) for row in projects]


def _with_figures(cursor: Cursor, project_id: int, *columns: Any) -> Overview:
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
    return Overview(*(*columns, *figures))
