"""Projects: where runs belong, who may see them, how long they are kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from strobe.errors import NotInStore, UsageError
from strobe.home import check_name
from strobe.store.database import Cursor, Database, Row

Access = Literal["private", "team", "public"]
ACCESS: tuple[Access, ...] = ("private", "team", "public")
_COLUMNS = "id, entity, name, access, description, created_ns, retention_days, quota_bytes"
_CHANGEABLE = ("access", "description", "retention_days", "quota_bytes")


@dataclass(frozen=True, slots=True)
class Project:
    """A project's own row."""

    id: int
    entity: str
    name: str
    #: private: its entity's members; team: everybody with an account; public: everybody, for reading
    access: Access
    description: str
    created_ns: int
    #: runs that ended longer ago are deleted; None keeps them
    retention_days: int | None
    #: how much it may keep; None for as much as there is room for
    quota_bytes: int | None


class Projects:
    """All projects of a store."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def get(self, entity: str, name: str) -> Project | None:
        """Return the project, or None."""
        sql = f"SELECT {_COLUMNS} FROM project WHERE entity = ? AND name = ?"
        row = self._database.read(lambda cursor: cursor.one(sql, entity, name))
        return Project(*row) if row else None

    def ensure(self, entity: str, name: str, *, now_ns: int, access: Access = "team") -> Project:
        """Return the project; make it if it is not there."""
        return self._database.write(lambda cursor: ensure_project(cursor, entity, name, now_ns=now_ns, access=access))

    def change(self, entity: str, name: str, **changes: Any) -> Project:
        """Change access, description, retention_days or quota_bytes."""
        unknown = changes.keys() - set(_CHANGEABLE)
        if unknown:
            raise UsageError(f"a project has no {', '.join(sorted(unknown))}; change {', '.join(_CHANGEABLE)}")
        if changes.get("access", "team") not in ACCESS:
            raise UsageError(f"access is one of {', '.join(ACCESS)}, got {changes['access']!r}")

        def change(cursor: Cursor) -> Row | None:
            for field, item in changes.items():
                cursor.run(f"UPDATE project SET {field} = ? WHERE entity = ? AND name = ?", item, entity, name)
            return cursor.one(f"SELECT {_COLUMNS} FROM project WHERE entity = ? AND name = ?", entity, name)

        row = self._database.write(change)
        if row is None:
            raise NotInStore(f"there is no project {entity}/{name}")
        return Project(*row)


def ensure_project(cursor: Cursor, entity: str, name: str, *, now_ns: int, access: Access = "team") -> Project:
    """Return the project inside of a transaction; make it if it is not there."""
    sql = f"SELECT {_COLUMNS} FROM project WHERE entity = ? AND name = ?"
    row = cursor.one(sql, entity, name)
    if row is None:
        check_name("entity", entity)
        check_name("project", name)
        cursor.run(
            "INSERT INTO project (entity, name, access, created_ns) VALUES (?, ?, ?, ?)"
            " ON CONFLICT (entity, name) DO NOTHING",
            entity,
            name,
            access,
            now_ns,
        )
        row = cursor.one(sql, entity, name)
        assert row is not None
    return Project(*row)
