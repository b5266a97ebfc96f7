"""What a filter is about: the runs of one project, in one transaction, at one time."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from strobe.store.database import Cursor, Dialect
from strobe.store.values.field import Column, Indexed
from strobe.store.values.sql import Sql
from strobe.store.values.writing import path_ids

_ISO = {
    "sqlite": "strftime('%Y-%m-%dT%H:%M:%SZ', r.created_ns / 1000000000, 'unixepoch')",
    "postgres": "to_char(to_timestamp(r.created_ns / 1000000000) AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"')",
}


@dataclass(frozen=True, slots=True)
class Scope:
    """What a filter is about: the runs of a project, and what is the same for all of them."""

    cursor: Cursor
    project_id: int
    entity: str
    project: str
    #: the time by which runs that are still running are measured
    now_ns: int
    _ids: dict[str, int | None] = field(default_factory=dict)

    @property
    def dialect(self) -> Dialect:
        return self.cursor.dialect

    def at(self, now_ns: int) -> Scope:
        """Return the same at another time."""
        return replace(self, now_ns=now_ns)

    def path_id(self, path: Indexed) -> int | None:
        """Return the path's number; None if no run of the project ever had it."""
        for name in (path.path, path.otherwise):
            if name is not None and name not in self._ids:
                self._ids[name] = path_ids(self.cursor, self.project_id, [name]).get(name)
            if name is not None and self._ids[name] is not None:
                return self._ids[name]
        return None

    def column(self, column: Column) -> Sql:
        """Return a field of the run's row."""
        text = _ISO[self.dialect.name] if column.sql == "{iso}" else column.sql
        return Sql(text, tuple(getattr(self, name) for name in column.parameters))
