"""Lineage in a home: what its journals say that runs logged and used, which is in the index as mentions.

A home's own numbers are exact, so nothing has to be matched: a mention is a version.
"""

from __future__ import annotations

from collections.abc import Callable

from strobe.artifact.collection import Collection
from strobe.artifact.record import Use as UseRecord
from strobe.errors import ArtifactError, NotInStore
from strobe.home import RunPath
from strobe.journal.event import ArtifactUse
from strobe.server.local.home_parts import HomeEdits
from strobe.server.local.shelf import Shelf, reading
from strobe.store.artifacts import Use, Version
from strobe.store.artifacts.lineage import Lineage, Sees, everybody
from strobe.store.artifacts.record import Role
from strobe.store.database import Database

_MENTION = "m.entity = ? AND m.project = ? AND m.name = ? AND m.number = ? AND m.digest = ?"


class HomeLineage(Lineage):
    """The ways between the runs and the versions of a home."""

    def __init__(self, database: Database, clock: Callable[[], int], shelf: Shelf, edits: HomeEdits) -> None:
        super().__init__(database, clock)
        self._shelf = shelf
        self._edits = edits

    def note_use(self, version_id: str, run_id: int, use_as: str | None = None) -> None:
        """Note it as the SDK does: beside the version, and in a journal of the run, which the index follows."""
        run, now_ns = self._run(run_id), self._clock()
        with reading():
            collection, number = self._shelf.find(version_id)
            version = self._shelf.describe(collection, number)
        is_near = (version.entity, version.project) == (run.entity, run.project)
        event = ArtifactUse(
            time_ns=now_ns,
            action="use",
            name=version.name if is_near else collection.qualified_name,
            kind=version.type,
            version=f"v{number}",
            digest=version.digest,
            aliases=version.aliases,
        )
        self._edits.write(run, [event], now_ns=now_ns)
        collection.note_use(number, UseRecord(by=str(run), time_ns=now_ns, use_as=use_as))

    def runs(self, version_id: str, sees: Sees = everybody) -> list[Use]:
        with reading():
            collection, number = self._shelf.find(version_id)
            if number not in collection.numbers():
                return []
            digest = collection.version(number).digest
            purposes = {use.by: use.use_as for use in collection.uses(number)}
        place = (collection.entity, collection.project, collection.name, number, digest)
        rows = self._database.read(
            lambda cursor: cursor.all(
                "SELECT p.entity, p.name, r.name, m.role, m.time_ns, p.access FROM artifact_mention m "
                f"JOIN run r ON r.id = m.run_id JOIN project p ON p.id = r.project_id WHERE {_MENTION} "
                "AND r.deleted_ns IS NULL ORDER BY m.time_ns, m.role, r.id",
                *place,
            )
        )
        return [
            Use(run=run, role=row[3], use_as=purposes.get(run) if row[3] == "used" else None, time_ns=row[4])
            for row in rows
            if sees(row[0], row[5])
            for run in ["/".join(row[:3])]
        ]

    def of_run(self, run_id: int, role: Role, sees: Sees = everybody) -> list[Version]:
        rows = self._database.read(
            lambda cursor: cursor.all(
                "SELECT m.entity, m.project, m.name, m.number, m.digest, coalesce(p.access, 'private') "
                "FROM artifact_mention m LEFT JOIN project p ON p.entity = m.entity AND p.name = m.project "
                "WHERE m.run_id = ? AND m.role = ? ORDER BY m.time_ns, m.id",
                *(run_id, role),
            )
        )
        found = [self._version(*row[:5]) for row in rows if sees(row[0], row[5])]
        return [version for version in found if version is not None]

    def _version(self, entity: str, project: str, name: str, number: int, digest: str) -> Version | None:
        collection = Collection(self._shelf.home, entity, project, name)
        try:
            if number in collection.numbers() and collection.version(number).digest == digest:
                return self._shelf.describe(collection, number)
        except ArtifactError:
            pass  # damaged, or deleted meanwhile: as if it were not there
        return None

    def _run(self, run_id: int) -> RunPath:
        sql = "SELECT p.entity, p.name, r.name FROM run r JOIN project p ON p.id = r.project_id WHERE r.id = ?"
        row = self._database.read(lambda cursor: cursor.one(sql, run_id))
        if row is None:
            raise NotInStore(f"there is no run with the number {run_id}")
        return RunPath(*row)
