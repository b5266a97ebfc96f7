"""Edits of runs by people: names, tags, notes, config and summary values, after the fact.

An edit is one more writer of the run, of kind "edit", as it is in a home's journals: it merges like everything else, by
its place in time, and may be made while the run is still going.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Protocol

from strobe.home import RunPath
from strobe.journal import value
from strobe.journal.event import Event
from strobe.store.database import Cursor, Database
from strobe.store.ingest import Ingest
from strobe.store.runs import find_run
from strobe.wire.batch import Batch, Note


class Editor(Protocol):
    """What writes edits down."""

    def write(self, path: RunPath, events: Sequence[Event], *, now_ns: int) -> None:
        """Make the changes that the events say; raise NotInStore if there is no such run."""


class Edits:
    """Edits of a store's runs."""

    def __init__(self, database: Database, ingest: Ingest) -> None:
        self._database = database
        self._ingest = ingest

    def write(self, path: RunPath, events: Sequence[Event], *, now_ns: int) -> None:
        """Make the changes that the events say; raise NotInStore if there is no such run."""
        batch = Batch(
            entity=path.entity,
            project=path.project,
            run=path.id,
            writer=os.urandom(8).hex(),
            attempt=self._database.read(lambda cursor: _last_attempt(cursor, path)),
            kind="edit",
            first=0,
            until=len(events),
            notes=[Note(number, now_ns, value.encode_decoded(event)) for number, event in enumerate(events)],
        )
        self._ingest.take(batch, now_ns=now_ns)


def _last_attempt(cursor: Cursor, path: RunPath) -> int:
    found = cursor.one("SELECT max(attempt) FROM writer WHERE run_id = ?", find_run(cursor, path).id)
    return int(found[0]) if found and found[0] is not None else 1
