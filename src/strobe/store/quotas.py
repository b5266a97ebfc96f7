"""Quotas: how much a project may keep, and what it keeps.

Counted by what came in: the bytes of batches, and the sizes of files. That is close to what it takes on the disk, costs
nothing to know, and no one can be surprised by it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from strobe.errors import StoreFull
from strobe.store.database import Cursor, Database

#: how long a sum is believed
_REMEMBERED_S = 5.0
_MAX_REMEMBERED = 10_000


class Quotas:
    """What the projects of a store use and may use."""

    def __init__(self, database: Database, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._database = database
        self._monotonic = monotonic
        self._used: dict[int, tuple[float, int]] = {}

    def used_bytes(self, project_id: int) -> int:
        """Return how much a project keeps."""
        return self._database.read(lambda cursor: used_bytes(cursor, project_id))

    def refusal(self, cursor: Cursor, project_id: int, quota_bytes: int | None) -> str:
        """Return why nothing more is taken for a project, or nothing."""
        if quota_bytes is None:
            return ""
        now = self._monotonic()
        until, used = self._used.get(project_id, (-math.inf, 0))
        if until < now:
            if len(self._used) >= _MAX_REMEMBERED:
                self._used.clear()
            used = used_bytes(cursor, project_id)
            self._used[project_id] = (now + _REMEMBERED_S, used)
        if used < quota_bytes:
            return ""
        return f"the project keeps {used} bytes, its quota is {quota_bytes}; delete runs or files, or raise the quota"

    def check(self, entity: str, project: str) -> None:
        """Raise StoreFull if a project has used up its quota."""

        def ask(cursor: Cursor) -> str:
            row = cursor.one("SELECT id, quota_bytes FROM project WHERE entity = ? AND name = ?", entity, project)
            return self.refusal(cursor, row[0], row[1]) if row is not None else ""

        if reason := self._database.read(ask):
            raise StoreFull(reason)


def used_bytes(cursor: Cursor, project_id: int) -> int:
    """Return how much a project keeps: what its runs logged, their files, and its artifacts, each content once."""
    logged = cursor.one("SELECT coalesce(sum(num_bytes), 0) FROM run WHERE project_id = ?", project_id)
    files = cursor.one(
        "SELECT coalesce(sum(size), 0) FROM (SELECT DISTINCT run_file.sha256, run_file.size FROM run_file"
        " JOIN run ON run.id = run_file.run_id WHERE run.project_id = ?) AS kept",
        project_id,
    )
    entries = cursor.one(
        "SELECT coalesce(sum(size), 0) FROM (SELECT DISTINCT blob.sha256, blob.size FROM artifact_entry"
        " JOIN artifact_version ON artifact_version.id = artifact_entry.version_id"
        " JOIN artifact_collection ON artifact_collection.id = artifact_version.collection_id"
        " JOIN blob ON blob.sha256 = artifact_entry.sha256 WHERE artifact_collection.project_id = ?) AS kept",
        project_id,
    )
    return sum(int(found[0]) for found in (logged, files, entries) if found is not None)
