"""Rows that tests of the store's parts need before they can begin: a project and runs in it."""

from __future__ import annotations

import itertools

from strobe.store.database import Cursor, Database

_numbers = itertools.count(1)


def make_project(database: Database, entity: str = "local", name: str = "") -> int:
    """Make a project and return its id."""
    name = name or f"project-{next(_numbers)}"

    def change(cursor: Cursor) -> int:
        row = cursor.one(
            "INSERT INTO project (entity, name, created_ns) VALUES (?, ?, 1) RETURNING id",
            entity,
            name,
        )
        assert row is not None
        return int(row[0])

    return database.write(change)


def make_run(database: Database, project_id: int | None = None, *, name: str = "", now_ns: int = 1) -> int:
    """Make a run (and a project, if none is given) and return its id."""
    project = make_project(database) if project_id is None else project_id
    name = name or f"run-{next(_numbers)}"

    def change(cursor: Cursor) -> int:
        row = cursor.one(
            "INSERT INTO run (project_id, name, created_ns, heartbeat_ns, changed_ns, facts)"
            " VALUES (?, ?, ?, ?, ?, ?) RETURNING id",
            project,
            name,
            now_ns,
            now_ns,
            now_ns,
            b"",
        )
        assert row is not None
        return int(row[0])

    return database.write(change)
