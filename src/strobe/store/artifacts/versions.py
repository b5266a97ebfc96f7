"""Versions that were committed: found by name, listed, edited, deleted and brought back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from strobe.artifact.manifest import Manifest
from strobe.artifact.name import check_tag
from strobe.errors import NotInStore, UsageError
from strobe.store.artifacts import aliases, collection, entries
from strobe.store.artifacts.loading import load, load_all
from strobe.store.artifacts.record import EntryFacts, Version
from strobe.store.contents import Contents
from strobe.store.database import Cursor
from strobe.store.purge import DOOMED, purge_versions

_NO_ALIASES = (
    "NOT EXISTS (SELECT 1 FROM artifact_alias a WHERE a.version_id = artifact_version.id) "
    "AND deleted_ns IS NULL AND number IS NOT NULL"
)


class Edits(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a person may change; what is not given stays."""

    description: str | msgspec.UnsetType = msgspec.UNSET
    metadata: dict[str, Any] | msgspec.UnsetType = msgspec.UNSET
    tags: list[str] | msgspec.UnsetType = msgspec.UNSET
    ttl_s: int | msgspec.UnsetType | None = msgspec.UNSET
    add_aliases: list[str] = []
    remove_aliases: list[str] = []


class Versions:
    """The versions of all collections."""

    def __init__(self, contents: Contents) -> None:
        self._contents = contents
        self._database = contents.database

    def get(self, project_id: int, name: str, reference: str = "latest") -> Version:
        """Return the version that `v3`, `latest` or an alias stands for; NotInStore if none does."""

        def ask(cursor: Cursor) -> Version:
            found = aliases.resolve(cursor, collection.find(cursor, project_id, name), reference)
            if found is None:
                raise NotInStore(f"artifact {name!r} has no {reference[:200]!r}; it may have been deleted")
            return load(cursor, found)

        return self._database.read(ask)

    def by_id(self, version_id: str) -> Version:
        """Return a version by its public id, even if it was deleted."""
        return self._database.read(lambda cursor: load(cursor, _find(cursor, version_id)))

    def page(
        self,
        project_id: int,
        name: str,
        *,
        before: int | None = None,
        limit: int = 100,
        tag: str | None = None,
        deleted: bool = False,
    ) -> list[Version]:
        """Return the versions of a name that are (or were) there, newest first, from before a number on."""
        conditions = ["number IS NOT NULL", f"deleted_ns > {DOOMED}" if deleted else "deleted_ns IS NULL"]
        values: list[int | str] = []
        if before is not None:
            conditions.append("number < ?")
            values.append(before)
        if tag is not None:
            sql = "EXISTS (SELECT 1 FROM artifact_tag t WHERE t.version_id = artifact_version.id AND t.name = ?)"
            conditions.append(sql)
            values.append(tag)

        def ask(cursor: Cursor) -> list[Version]:
            rows = cursor.all(
                f"SELECT id FROM artifact_version WHERE collection_id = ? AND {' AND '.join(conditions)} "
                "ORDER BY number DESC LIMIT ?",
                *(collection.find(cursor, project_id, name), *values, limit),
            )
            return load_all(cursor, [row[0] for row in rows])

        return self._database.read(ask)

    def manifest(self, version: Version) -> Manifest:
        """Return what a version holds."""
        return self._database.read(lambda cursor: entries.load(cursor, _find(cursor, version.id), version.algorithm))

    def entry(self, version: Version, path: str) -> EntryFacts:
        """Return one entry; NotInStore if the version has none there."""
        return self._database.read(lambda cursor: entries.find(cursor, _find(cursor, version.id), path))

    def entries(self, version: Version, *, prefix: str = "", after: str = "", limit: int = 1000) -> list[EntryFacts]:
        """Return entries by path, from after one on."""
        return self._database.read(lambda cursor: entries.page(cursor, _find(cursor, version.id), prefix, after, limit))

    def read(self, entry: EntryFacts, start: int = 0, stop: int | None = None) -> Iterator[bytes]:
        """Yield an entry's bytes; UsageError if it only refers to something outside."""
        if entry.sha256 is None:
            raise UsageError(f"{entry.path!r} is a reference to {entry.ref!r}; fetch it from there")
        return self._contents.read(entry.sha256, start, stop)

    def edit(self, version_id: str, edits: Edits) -> Version:
        """Change what is said about a version, and its aliases."""
        added, removed = aliases.check_aliases(edits.add_aliases), aliases.check_aliases(edits.remove_aliases)
        columns = _columns(edits)

        def change(cursor: Cursor) -> Version:
            found = _find_there(cursor, version_id)
            sql = ", ".join(f"{column} = ?" for column in ("updated_ns", *columns))
            cursor.run(
                f"UPDATE artifact_version SET {sql} WHERE id = ?", self._contents.clock(), *columns.values(), found
            )
            if edits.tags is not msgspec.UNSET:
                cursor.run("DELETE FROM artifact_tag WHERE version_id = ?", found)
                tags = [(found, check_tag(tag)) for tag in dict.fromkeys(edits.tags)]
                cursor.many("INSERT INTO artifact_tag (version_id, name) VALUES (?, ?)", tags)
            row = cursor.one("SELECT collection_id FROM artifact_version WHERE id = ?", found)
            assert row is not None
            aliases.remove(cursor, removed, found)
            aliases.point(cursor, row[0], added, found)
            return load(cursor, found)

        return self._database.write(change)

    def delete(self, version_id: str, *, with_aliases: bool = False) -> None:
        """Take a version away until `restore`, or for good once gc has come by.

        One that has aliases besides `latest` only if that is wanted, because somebody goes by them.
        """

        def change(cursor: Cursor) -> None:
            found = _find_there(cursor, version_id)
            names = [row[0] for row in cursor.all("SELECT name FROM artifact_alias WHERE version_id = ?", found)]
            if names and not with_aliases:
                raise UsageError(f"the version has the aliases {sorted(names)}; say that they are to go with it")
            cursor.run("UPDATE artifact_version SET deleted_ns = ? WHERE id = ?", self._contents.clock(), found)

        self._database.write(change)

    def restore(self, version_id: str) -> Version:
        """Undo a deletion, with the aliases that have not moved on."""

        def change(cursor: Cursor) -> Version:
            found = _find(cursor, version_id)
            cursor.run("UPDATE artifact_version SET deleted_ns = NULL WHERE id = ?", found)
            return load(cursor, found)

        return self._database.write(change)

    def expire(self, now_ns: int) -> int:
        """Delete the versions whose time to live is over and that no alias keeps; return how many."""
        sql = (
            "UPDATE artifact_version SET deleted_ns = ? WHERE ttl_s IS NOT NULL "
            f"AND (? - created_ns) / 1000000000 >= ttl_s AND {_NO_ALIASES}"
        )
        return self._database.write(lambda cursor: cursor.run(sql, now_ns, now_ns))

    def purge(self, before_ns: int) -> int:
        """Forget the versions that were deleted before then; return how many. Their numbers stay taken."""
        return purge_versions(self._database, deleted_before_ns=before_ns)


def _find(cursor: Cursor, token: str) -> int:
    row = cursor.one("SELECT id FROM artifact_version WHERE token = ? AND number IS NOT NULL", token)
    if row is None:
        raise unknown_version(token)
    return int(row[0])


def unknown_version(token: str) -> NotInStore:
    """Return what is raised for a version that is not there."""
    return NotInStore(f"there is no artifact version {token[:64]!r}")


def _find_there(cursor: Cursor, token: str) -> int:
    """Return the row id of a version that is not deleted, and lock it."""
    found = _find(cursor, token)
    sql = f"SELECT deleted_ns FROM artifact_version WHERE id = ?{cursor.dialect.for_update}"
    if cursor.one(sql, found) != (None,):
        raise NotInStore("the artifact version was deleted; restore it first")
    return found


def _columns(edits: Edits) -> dict[str, object]:
    columns: dict[str, object] = {}
    if edits.description is not msgspec.UNSET:
        columns["description"] = edits.description
    if edits.metadata is not msgspec.UNSET:
        columns["metadata"] = msgspec.json.encode(edits.metadata).decode()
    if edits.ttl_s is not msgspec.UNSET:
        columns["ttl_s"] = check_ttl(edits)
    return columns


def check_ttl(edits: Edits) -> int | None:
    """Return the time to live that is wanted, if any; UsageError if nothing can live so long."""
    ttl_s = None if edits.ttl_s is msgspec.UNSET else edits.ttl_s
    if ttl_s is not None and ttl_s <= 0:
        raise UsageError(f"ttl_s is {ttl_s}; give the seconds that the version is to live, or null")
    return ttl_s
