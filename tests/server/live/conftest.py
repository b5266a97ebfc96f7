"""Both databases, and runs that log into them."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

from strobe.home import RunPath
from strobe.journal import Header
from strobe.journal import event as ev
from strobe.journal.entry import Entry, Noted, Row
from strobe.store.blobs import open_blobs
from strobe.store.database import Database
from strobe.store.store import Store
from strobe.wire.pack import pack
from tests.store.conftest import database, empty_database

__all__ = ["Logger", "database", "empty_database", "store"]


@pytest.fixture
def store(database: Database, tmp_path: Any) -> Store:
    return Store(database, open_blobs(tmp_path / "blobs"))


class Logger:
    """A run whose batches come in at once, each through the store's own ingest."""

    def __init__(
        self,
        store: Store,
        name: str = "r",
        *,
        attempt: int = 1,
        clock: Callable[[], int] = time.time_ns,
        project: tuple[str, str] = ("team", "p"),
    ) -> None:
        self.path = RunPath(*project, name)
        self._store = store
        self._clock = clock
        self._attempt = attempt
        self._next = 0
        self._send([Noted(self._take(), ev.Started(time_ns=clock()), clock())])

    @property
    def id(self) -> int:
        return self._store.runs.find(self.path).id

    @property
    def project_id(self) -> int:
        return self._store.runs.find(self.path).project_id

    def log(self, step: int, **values: Any) -> None:
        self.log_many([(step, values)])

    def log_many(self, rows: list[tuple[int, dict[str, Any]]]) -> None:
        now = self._clock()
        entries: list[Entry] = []
        for step, values in rows:
            number = self._take()
            entries.append(Row(number, step, now, tuple(values), list(values.values()), order_ns=now, record=number))
        self._send(entries)

    def say(self, *events: ev.Event) -> None:
        self._send([Noted(self._take(), event, self._clock()) for event in events])

    def end(self, state: str = "finished") -> None:
        self.say(ev.Ended(time_ns=self._clock(), state=state))

    def _take(self) -> int:
        self._next += 1
        return self._next - 1

    def _send(self, entries: list[Entry]) -> None:
        header = Header(
            entity=self.path.entity,
            project=self.path.project,
            run=self.path.id,
            writer=f"w{self._attempt}",
            attempt=self._attempt,
        )
        first = self._next - len(entries)
        taken = self._store.ingest.take(pack(header, entries, first=first, until=self._next), now_ns=self._clock())
        assert taken.ack.status == "stored"
