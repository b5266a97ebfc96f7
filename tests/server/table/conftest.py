"""A server with runs in it, which came in the way that runs do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from strobe.journal import event as ev
from strobe.journal.entry import Noted, Row
from strobe.journal.segment import Header
from strobe.wire.pack import pack
from tests.server.conftest import Stage

SECOND = 10**9


@dataclass
class Table:
    """A server and the keys of those who ask."""

    stage: Stage
    key: str

    def add(
        self, run: str, *, rows: list[dict[str, Any]] | None = None, ended: str | None = "finished", **facts: Any
    ) -> None:
        """Take in a run of project ann/p: `config`, `attributes`, `summary` and rows."""
        now_ns = self.stage.clock()
        header = Header(entity="ann", project=facts.pop("project", "p"), run=run, writer="w1", host="node")
        events: list[ev.Event] = [
            ev.Started(
                time_ns=now_ns,
                attributes=facts.get("attributes", {}),
                forked_from=facts.get("forked_from"),
                fork_step=facts.get("fork_step"),
            ),
            ev.Config(time_ns=now_ns, changes=facts.get("config", {})),
            ev.Summary(time_ns=now_ns, changes=facts.get("summary", {})),
        ]
        if ended is not None:
            events.append(ev.Ended(time_ns=now_ns + SECOND, state=ended))
        entries: list[Any] = [Noted(number, event, now_ns + number) for number, event in enumerate(events)]
        for step, row in enumerate(rows or []):
            number, time_ns = len(entries), now_ns + step * SECOND
            entries.append(Row(number, step, time_ns, tuple(row), list(row.values()), False, time_ns, number))
        batch = pack(header, entries, first=0, until=len(entries))
        self.stage.store.ingest.take(batch, now_ns=now_ns)
        self.stage.store.settler.settle()

    def ask(self, method: str, path: str, *, key: str | None = None, **keywords: Any) -> Any:
        return self.stage.ask(method, f"/api/v1{path}", key=key or self.key, **keywords)

    def get(self, path: str, **params: Any) -> Any:
        """Return the JSON of an answer that must be one."""
        answer = self.ask("GET", path, params=params)
        assert answer.status_code == 200, answer.text
        return answer.json()


@pytest.fixture
def table(stage: Stage) -> Table:
    return Table(stage, stage.key("ann", "admin"))
