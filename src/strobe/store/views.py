"""Saved views: a name for how the runs of a project are shown (columns, filter, order, panels), for everybody in it.

The document is the dashboard's own; the store only keeps it. Two people may have the same view open: a change names the
version that it was made from, and is refused if somebody was quicker.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec

from strobe.errors import NotInStore, StoreConflict, StoreFull, UsageError
from strobe.store.database import Cursor, Database, Row

_COLUMNS = "id, name, owner, document, version, created_ns, changed_ns, changed_by"
_MAX_NAME = 128
_MAX_BYTES = 1 << 20
_MAX_VIEWS = 1000


@dataclass(frozen=True, slots=True)
class View:
    """A saved view."""

    id: int
    name: str
    owner: str
    document: dict[str, Any]
    version: int
    created_ns: int
    changed_ns: int
    changed_by: str


class Views:
    """The saved views of a store."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def all(self, entity: str, project: str) -> list[View]:
        """Return the views of a project by name."""

        def ask(cursor: Cursor) -> list[Row]:
            sql = f"SELECT {_COLUMNS} FROM saved_view WHERE project_id = ? ORDER BY name"
            return cursor.all(sql, _project_id(cursor, entity, project))

        return [_view(row) for row in self._database.read(ask)]

    def get(self, entity: str, project: str, name: str) -> View:
        """Return a view; raise NotInStore if there is none of that name."""
        return self._database.read(lambda cursor: _find(cursor, entity, project, name))

    def create(
        self, entity: str, project: str, name: str, document: dict[str, Any], *, owner: str, now_ns: int
    ) -> View:
        """Keep a view under a name that is still free."""
        text = _encode(document)
        _check_name(name)

        def change(cursor: Cursor) -> View:
            project_id = _project_id(cursor, entity, project)
            count = cursor.one("SELECT count(*) FROM saved_view WHERE project_id = ?", project_id)
            if count is not None and count[0] >= _MAX_VIEWS:
                raise StoreFull(f"{entity}/{project} has {_MAX_VIEWS} views, which is the most; delete some")
            row = cursor.one(
                "INSERT INTO saved_view (project_id, name, owner, document, created_ns, changed_ns, changed_by)"
                f" VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (project_id, name) DO NOTHING RETURNING {_COLUMNS}",
                project_id,
                name,
                owner,
                text,
                now_ns,
                now_ns,
                owner,
            )
            if row is None:
                raise StoreConflict(
                    f"{entity}/{project} has a view {name!r} already; choose another name, or change it"
                )
            return _view(row)

        return self._database.write(change)

    def change(
        self,
        entity: str,
        project: str,
        name: str,
        *,
        version: int,
        by: str,
        now_ns: int,
        document: dict[str, Any] | None = None,
        rename: str | None = None,
    ) -> View:
        """Change a view of which `version` was seen; raise StoreConflict if it is another one by now."""
        text = None if document is None else _encode(document)
        if rename is not None:
            _check_name(rename)

        def change(cursor: Cursor) -> View:
            found = _find(cursor, entity, project, name, version)
            if rename not in (None, name) and _has(cursor, entity, project, str(rename)):
                raise StoreConflict(f"{entity}/{project} has a view {rename!r} already; choose another name")
            cursor.run(
                "UPDATE saved_view SET name = ?, document = COALESCE(?, document), version = version + 1,"
                " changed_ns = ?, changed_by = ? WHERE id = ?",
                rename or name,
                text,
                now_ns,
                by,
                found.id,
            )
            return _find(cursor, entity, project, rename or name)

        return self._database.write(change)

    def delete(self, entity: str, project: str, name: str, *, version: int | None = None) -> None:
        """Forget a view; with `version`, only if it is still that one."""

        def change(cursor: Cursor) -> None:
            cursor.run("DELETE FROM saved_view WHERE id = ?", _find(cursor, entity, project, name, version).id)

        self._database.write(change)


def _find(cursor: Cursor, entity: str, project: str, name: str, version: int | None = None) -> View:
    row = cursor.one(
        f"SELECT {_COLUMNS} FROM saved_view WHERE project_id = ? AND name = ?"
        + ("" if version is None else cursor.dialect.for_update),
        _project_id(cursor, entity, project),
        name.replace("\0", "\ufffd"),  # no name holds one, and PostgreSQL refuses to look for it
    )
    if row is None:
        raise NotInStore(f"{entity}/{project} has no view {name!r}")
    found = _view(row)
    if version is not None and found.version != version:
        raise StoreConflict(
            f"view {name!r} is at version {found.version}, changed by {found.changed_by}, and not at {version};"
            " load it again and repeat the change"
        )
    return found


def _has(cursor: Cursor, entity: str, project: str, name: str) -> bool:
    sql = "SELECT 1 FROM saved_view WHERE project_id = ? AND name = ?"
    return cursor.one(sql, _project_id(cursor, entity, project), name) is not None


def _project_id(cursor: Cursor, entity: str, project: str) -> int:
    row = cursor.one("SELECT id FROM project WHERE entity = ? AND name = ?", entity, project)
    if row is None:
        raise NotInStore(f"there is no project {entity}/{project}")
    return int(row[0])


def _view(row: Row) -> View:
    return View(row[0], row[1], row[2], msgspec.json.decode(row[3]), *row[4:])


def _encode(document: dict[str, Any]) -> str:
    # JSON writes a NUL as \\u0000, which every database takes.
    body = msgspec.json.encode(document)
    if len(body) > _MAX_BYTES:
        raise UsageError(f"the view has {len(body)} bytes, at most {_MAX_BYTES} are kept")
    return body.decode()


def _check_name(name: str) -> None:
    if not name.strip() or len(name) > _MAX_NAME or any(ord(character) < 32 for character in name):
        raise UsageError(f"a view's name has 1 to {_MAX_NAME} characters and no control characters, got {name[:40]!r}")
