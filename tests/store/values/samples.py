"""Runs for tests of the runs table: written with their documents, read back by a plain reference in Python."""

from __future__ import annotations

import math
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from strobe.api.facts import iso_time
from strobe.api.filter import ABSENT, dig
from strobe.store.database import Cursor, Database
from strobe.store.values import Values, document

NOW_NS = 2_000_000_000_000_000_000


@dataclass(kw_only=True)
class Sample:
    """A run as a test says it."""

    config: dict[str, Any] = field(default_factory=dict)
    summary: dict[str, Any] = field(default_factory=dict)
    attributes: dict[str, Any] = field(default_factory=dict)
    state: str = "finished"
    created_ns: int = 1_700_000_000_000_000_000
    ended_ns: int | None = None
    deleted_ns: int | None = None
    id: str = ""
    row: int = 0

    def document(self, entity: str = "team") -> dict[str, Any]:
        return document(
            run=self.id, entity=entity, attributes=self.attributes, config=self.config, summary=self.summary
        )

    def lookup(self, name: str) -> Any:
        """Return a field, or ABSENT: what the index must agree with."""
        own = {
            "id": self.id,
            "state": self.state,
            "entity": "team",
            "created_ns": self.created_ns,
            "created_at": iso_time(self.created_ns),
            "ended_ns": self.ended_ns,
            "runtime": self._runtime(),
        }
        found = own[name] if name in own else dig(self.document(), name)
        return ABSENT if found is None and name in own else found

    def _runtime(self) -> float | None:
        ended = self.ended_ns if self.ended_ns is not None else NOW_NS if self.state == "running" else None
        return None if ended is None else (ended - self.created_ns) / 1e9


def write(database: Database, samples: Sequence[Sample]) -> str:
    """Write the runs to a project of their own; return its name. Their ids and rows are filled in."""
    project = uuid.uuid4().hex
    values = Values(database)

    def change(cursor: Cursor) -> None:
        project_id = _one(
            cursor, "INSERT INTO project (entity, name, created_ns) VALUES ('team', ?, 0) RETURNING id", project
        )
        for number, sample in enumerate(samples):
            sample.id = sample.id or f"run{number}"
            sample.row = _one(
                cursor,
                "INSERT INTO run (project_id, name, state, created_ns, ended_ns, heartbeat_ns, changed_ns, deleted_ns,"
                " facts) VALUES (?, ?, ?, ?, ?, 0, 0, ?, ?) RETURNING id",
                project_id,
                sample.id,
                sample.state,
                sample.created_ns,
                sample.ended_ns,
                sample.deleted_ns,
                b"",
            )
            values.replace(cursor, project_id, sample.row, {}, sample.document())

    database.write(change)
    return project


def in_order(samples: Sequence[Sample], sort: str) -> list[int]:
    """Return the rows of the runs in the order that the runs table promises."""
    is_descending, name = sort.startswith("-"), sort.lstrip("+-").replace("created_at", "created_ns")

    def kind(sample: Sample) -> int:
        found = sample.lookup(name)
        if isinstance(found, bool):
            return 2
        if isinstance(found, (int, float)):
            return 4 if found != found else 1
        return 3 if isinstance(found, str) else 5

    placed = []
    for number in (3, 2, 1) if is_descending else (1, 2, 3):
        some = [sample for sample in samples if kind(sample) == number]
        placed += sorted(some, key=lambda one: (_key(one.lookup(name)), one.row), reverse=is_descending)
    nans = sorted((one for one in samples if kind(one) == 4), key=lambda one: one.row, reverse=is_descending)
    rest = [sample for sample in samples if kind(sample) == 5]
    rest.sort(key=lambda one: (one.created_ns, one.row), reverse=is_descending)
    return [sample.row for sample in (*placed, *nans, *rest)]


def _key(value: Any) -> Any:
    """Return what is compared: integers as doubles, texts by their beginnings."""
    if isinstance(value, str):
        return value[:500]
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _one(cursor: Cursor, sql: str, *parameters: Any) -> int:
    row = cursor.one(sql, *parameters)
    assert row is not None
    return int(row[0])
