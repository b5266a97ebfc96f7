"""Lineage: which runs logged a version, which used it, and what a run has of both."""

from __future__ import annotations

from collections.abc import Callable

from strobe.errors import NotInStore
from strobe.store.artifacts.loading import load_all
from strobe.store.artifacts.record import Role, Use, Version
from strobe.store.database import Cursor, Database

#: whether the one who asks may see a project, by its entity and its access
Sees = Callable[[str, str], bool]


def everybody(entity: str, access: str) -> bool:
    """See everything."""
    return True


class Lineage:
    """The ways between runs and versions."""

    def __init__(self, database: Database, clock: Callable[[], int]) -> None:
        self._database = database
        self._clock = clock

    def note_use(self, version_id: str, run_id: int, use_as: str | None = None) -> None:
        """Remember that a run used a version, which is given by its public id."""

        def change(cursor: Cursor) -> None:
            row = cursor.one("SELECT id FROM artifact_version WHERE token = ? AND number IS NOT NULL", version_id)
            if row is None:
                raise NotInStore(f"there is no artifact version {version_id[:64]!r}")
            note(cursor, row[0], run_id, "used", use_as, self._clock())

        self._database.write(change)

    def runs(self, version_id: str, sees: Sees = everybody) -> list[Use]:
        """Return the runs that logged or used a version, in order of time; deleted and unseen ones are left out."""
        rows = self._database.read(
            lambda cursor: cursor.all(
                "SELECT p.entity, p.name, r.name, u.role, u.use_as, u.time_ns, p.access "
                "FROM artifact_run u JOIN artifact_version v ON v.id = u.version_id "
                "JOIN run r ON r.id = u.run_id JOIN project p ON p.id = r.project_id "
                "WHERE v.token = ? AND r.deleted_ns IS NULL ORDER BY u.time_ns, u.role, r.id",
                version_id,
            )
        )
        return [
            Use(run="/".join(row[:3]), role=row[3], use_as=row[4], time_ns=row[5])
            for row in rows
            if sees(row[0], row[6])
        ]

    def of_run(self, run_id: int, role: Role, sees: Sees = everybody) -> list[Version]:
        """Return the versions that a run logged or used, in order of time; those of unseen projects are left out."""

        def ask(cursor: Cursor) -> list[Version]:
            rows = cursor.all(
                "SELECT u.version_id, p.entity, p.access FROM artifact_run u "
                "JOIN artifact_version v ON v.id = u.version_id JOIN artifact_collection c ON c.id = v.collection_id "
                "JOIN project p ON p.id = c.project_id "
                "WHERE u.run_id = ? AND u.role = ? AND v.deleted_ns IS NULL ORDER BY u.time_ns, u.version_id",
                *(run_id, role),
            )
            return load_all(cursor, [row[0] for row in rows if sees(row[1], row[2])])

        return self._database.read(ask)


def note(cursor: Cursor, version_id: int, run_id: int, role: Role, use_as: str | None, now_ns: int) -> None:
    """Remember a run's role; the first time counts."""
    cursor.run(
        "INSERT INTO artifact_run (version_id, run_id, role, use_as, time_ns) VALUES (?, ?, ?, ?, ?) "
        "ON CONFLICT (version_id, run_id, role) DO NOTHING",
        *(version_id, run_id, role, use_as, now_ns),
    )
