"""Sinks: where the alerts of a project go, a webhook or e-mail addresses."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from typing import Literal

import msgspec

from strobe.errors import NotInStore, UsageError
from strobe.store.alerts.condition import Level
from strobe.store.database import Cursor, Database, Row

Kind = Literal["webhook", "email"]
Format = Literal["strobe", "slack", "discord"]
MOST = 50
_COLUMNS = "id, project_id, name, kind, address, format, secret, min_level, is_enabled, created_by, created_ns"


class Sink(msgspec.Struct, frozen=True, kw_only=True):
    """One place to which alerts are delivered. Its address and secret are for those who may write to the project."""

    id: int
    project_id: int
    name: str
    kind: Kind
    #: a URL, or e-mail addresses
    addresses: list[str]
    #: of a webhook: what its body looks like
    format: Format
    #: of a webhook: the key of its signature
    secret: str
    min_level: Level
    is_enabled: bool
    created_by: str
    created_ns: int


class Sinks:
    """Sinks of all projects."""

    def __init__(self, database: Database, clock: Callable[[], int] = time.time_ns) -> None:
        self._database = database
        self._clock = clock

    def of_project(self, project_id: int) -> list[Sink]:
        sql = f"SELECT {_COLUMNS} FROM alert_sink WHERE project_id = ? ORDER BY id"
        return self._database.read(lambda cursor: [sink_of(row) for row in cursor.all(sql, project_id)])

    def get(self, project_id: int, sink_id: int) -> Sink:
        return self._database.read(lambda cursor: _get(cursor, project_id, sink_id))

    def add(
        self,
        project_id: int,
        name: str,
        kind: Kind,
        addresses: list[str],
        *,
        format: Format = "strobe",  # the word that the API has for it
        min_level: Level = "INFO",
        is_enabled: bool = True,
        by: str = "",
    ) -> Sink:
        """Make a sink; a webhook gets a secret of its own for the signature."""

        def change(cursor: Cursor) -> Sink:
            found = cursor.one("SELECT count(*) FROM alert_sink WHERE project_id = ?", project_id)
            if found is not None and found[0] >= MOST:
                raise UsageError(f"the project has {found[0]} alert sinks, at most {MOST} can be; remove some")
            row = cursor.one(
                "INSERT INTO alert_sink"
                " (project_id, name, kind, address, format, secret, min_level, is_enabled, created_by, created_ns)"
                f" VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING {_COLUMNS}",
                project_id, name, kind, _encode(addresses), format,
                secrets.token_urlsafe(32) if kind == "webhook" else "", min_level, int(is_enabled), by, self._clock(),
            )  # fmt: skip
            assert row is not None
            return sink_of(row)

        return self._database.write(change)

    def change(
        self,
        project_id: int,
        sink_id: int,
        *,
        name: str | None = None,
        addresses: list[str] | None = None,
        format: Format | None = None,
        min_level: Level | None = None,
        is_enabled: bool | None = None,
    ) -> Sink:
        """Change what is given."""

        def change(cursor: Cursor) -> Sink:
            sink = _get(cursor, project_id, sink_id)
            cursor.run(
                "UPDATE alert_sink SET name = ?, address = ?, format = ?, min_level = ?, is_enabled = ? WHERE id = ?",
                sink.name if name is None else name,
                _encode(addresses or sink.addresses),
                format or sink.format,
                min_level or sink.min_level,
                int(sink.is_enabled if is_enabled is None else is_enabled),
                sink_id,
            )
            return _get(cursor, project_id, sink_id)

        return self._database.write(change)

    def remove(self, project_id: int, sink_id: int) -> None:
        """Remove a sink, and what was still to be delivered there."""

        def change(cursor: Cursor) -> None:
            _get(cursor, project_id, sink_id)
            cursor.run("DELETE FROM alert_sink WHERE id = ?", sink_id)

        self._database.write(change)


def sink_of(row: Row) -> Sink:
    sink_id, project_id, name, kind, address, shape, secret, min_level, is_enabled, created_by, created_ns = row
    return Sink(
        id=sink_id,
        project_id=project_id,
        name=name,
        kind=kind,
        addresses=msgspec.json.decode(address, type=list[str]),
        format=shape,
        secret=secret,
        min_level=min_level,
        is_enabled=bool(is_enabled),
        created_by=created_by,
        created_ns=created_ns,
    )


def _encode(addresses: list[str]) -> str:
    return msgspec.json.encode(addresses).decode()


def _get(cursor: Cursor, project_id: int, sink_id: int) -> Sink:
    row = cursor.one(f"SELECT {_COLUMNS} FROM alert_sink WHERE id = ? AND project_id = ?", sink_id, project_id)
    if row is None:
        raise NotInStore(f"the project has no alert sink {sink_id}")
    return sink_of(row)
