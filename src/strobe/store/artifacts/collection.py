"""Collections: names of artifacts in a project, each with one type and any number of versions."""

from __future__ import annotations

from strobe.artifact.name import check_artifact_name, check_type
from strobe.errors import NotInStore, UsageError
from strobe.store.artifacts.record import Collection, TypeCount
from strobe.store.database import Cursor, Database, Row

_SELECT = """
SELECT p.entity, p.name, c.name, c.type, c.description, c.created_ns, count(v.id), max(v.number),
       CAST(coalesce(sum(v.size), 0) AS BIGINT)
FROM artifact_collection c JOIN project p ON p.id = c.project_id
LEFT JOIN artifact_version v ON v.collection_id = c.id AND v.number IS NOT NULL AND v.deleted_ns IS NULL
"""
_GROUP = "GROUP BY p.entity, p.name, c.id, c.name, c.type, c.description, c.created_ns"
#: a name under which nothing was committed, or all was deleted, is not shown
_SHOWN = "HAVING count(v.id) > 0"


class Collections:
    """The collections of all projects."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def get(self, project_id: int, name: str) -> Collection:
        """Return a collection; NotInStore if nothing is there."""
        sql = f"{_SELECT} WHERE c.project_id = ? AND c.name = ? {_GROUP} {_SHOWN}"
        row = self._database.read(lambda cursor: cursor.one(sql, project_id, name))
        if row is None:
            raise unknown_artifact(name)
        return _collection(row)

    def page(self, project_id: int, *, type: str | None = None, after: str = "", limit: int = 100) -> list[Collection]:
        """Return the collections of a project (of a type) whose name sorts after `after`, by name."""
        chosen, values = ("AND c.type = ?", [type]) if type is not None else ("", [])
        sql = f"{_SELECT} WHERE c.project_id = ? AND c.name > ? {chosen} {_GROUP} {_SHOWN} ORDER BY c.name LIMIT ?"
        rows = self._database.read(lambda cursor: cursor.all(sql, project_id, after, *values, limit))
        return [_collection(row) for row in rows]

    def types(self, project_id: int) -> list[TypeCount]:
        """Return the types of a project's artifacts, by name."""
        rows = self._database.read(
            lambda cursor: cursor.all(
                "SELECT c.type, count(*) FROM artifact_collection c WHERE c.project_id = ? AND EXISTS ("
                "SELECT 1 FROM artifact_version v WHERE v.collection_id = c.id AND v.number IS NOT NULL "
                "AND v.deleted_ns IS NULL) GROUP BY c.type ORDER BY c.type",
                project_id,
            )
        )
        return [TypeCount(*row) for row in rows]

    def describe(self, project_id: int, name: str, description: str) -> None:
        """Change what is said about all versions."""
        sql = "UPDATE artifact_collection SET description = ? WHERE project_id = ? AND name = ?"
        if not self._database.write(lambda cursor: cursor.run(sql, description, project_id, name)):
            raise unknown_artifact(name)


def find(cursor: Cursor, project_id: int, name: str) -> int:
    """Return the row id of a collection; NotInStore if there is none."""
    row = cursor.one("SELECT id FROM artifact_collection WHERE project_id = ? AND name = ?", project_id, name)
    if row is None:
        raise unknown_artifact(name)
    return int(row[0])


def ensure(cursor: Cursor, project_id: int, name: str, type: str, now_ns: int) -> int:
    """Return the row id of a collection, made if it is not there; UsageError if its type is another."""
    check_artifact_name(name)
    check_type(type)
    cursor.run(
        "INSERT INTO artifact_collection (project_id, name, type, created_ns) VALUES (?, ?, ?, ?) "
        "ON CONFLICT (project_id, name) DO NOTHING",
        *(project_id, name, type, now_ns),
    )
    row = cursor.one("SELECT id, type FROM artifact_collection WHERE project_id = ? AND name = ?", project_id, name)
    assert row is not None
    if row[1] != type:
        raise UsageError(
            f"artifact {name!r} has type {row[1]!r} already and can't get {type!r}; choose another name or that type"
        )
    return int(row[0])


def _collection(row: Row) -> Collection:
    entity, project, name, kind, description, created_ns, count, latest, size = row
    return Collection(
        entity=entity,
        project=project,
        name=name,
        type=kind,
        description=description,
        created_ns=created_ns,
        num_versions=count,
        latest=latest,
        size=size,
    )


def unknown_artifact(name: str) -> NotInStore:
    """Return what is raised for an artifact that is not there."""
    return NotInStore(f"the project has no artifact {name[:200]!r}")
