"""Edits of runs by people: names, tags, notes, config and summary values, after the fact.

An edit is one more writer of the run, of kind "edit", as it is in a home's journals: it merges like everything else, by
its place in time, and may be made while the run is still going.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Protocol

from strobe.errors import StoreFull
from strobe.home import RunPath
from strobe.journal import value
from strobe.journal.event import Event
from strobe.store.database import Cursor, Database
from strobe.store.ingest import EDIT, Ingest
from strobe.store.run_facts import read_facts
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
        """Make the changes that the events say.

        Raises NotInStore if there is no such run, StoreFull if its project has used up its quota.
        """
        attempt, latest_ns = self._database.read(lambda cursor: _latest(cursor, path))
        # The machine that trains may be ahead of this one; who edits has seen what it wrote, and means to change it.
        order_ns = max(now_ns, latest_ns + 1)
        batch = Batch(
            entity=path.entity,
            project=path.project,
            run=path.id,
            writer=os.urandom(8).hex(),
            attempt=attempt,
            kind=EDIT,
            first=0,
            until=len(events),
            notes=[Note(number, order_ns, value.encode_decoded(event)) for number, event in enumerate(events)],
        )
        ack = self._ingest.take(batch, now_ns=now_ns).ack
        if ack.status == "refused":
            raise StoreFull(f"the edit was not made: {ack.reason}")


def _latest(cursor: Cursor, path: RunPath) -> tuple[int, int]:
    """Return the last attempt of a run, and the latest place in time of anything that can be edited."""
    run = find_run(cursor, path)
    facts = read_facts(cursor, run.id)
    stamps = [*facts.attributes.values(), *facts.config.values(), *facts.summary.values()]
    attempt = cursor.one("SELECT max(attempt) FROM writer WHERE run_id = ?", run.id)
    logged = cursor.one("SELECT max(last_order) FROM series WHERE run_id = ? AND lane = ''", run.id)
    latest_ns = [stamp.place[1] for stamp in stamps] + [row[0] for row in (logged,) if row and row[0] is not None]
    return int(attempt[0]) if attempt and attempt[0] is not None else 1, max(latest_ns, default=0)
