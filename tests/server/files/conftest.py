"""A server with two people, a run of each, and what is needed to send files to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from strobe.store.database import Cursor
from tests.server.conftest import Stage


@dataclass
class House:
    """A server where ada has a private project `lab` with the run `r1`, and bob has nothing to do with it."""

    stage: Stage
    ada: str
    reader: str
    bob: str

    def ask(self, method: str, path: str, *, key: str | None = "", **keywords: Any) -> httpx.Response:
        """Send a request, as ada unless said otherwise; None: as a stranger."""
        return self.stage.ask(method, path, key=self.ada if key == "" else key, **keywords)

    def new_run(self, name: str, project: str = "lab", entity: str = "ada") -> None:
        def change(cursor: Cursor) -> None:
            row = cursor.one("SELECT id FROM project WHERE entity = ? AND name = ?", entity, project)
            assert row is not None
            cursor.run(
                "INSERT INTO run (project_id, name, created_ns, heartbeat_ns, changed_ns, facts) "
                "VALUES (?, ?, 0, 0, 0, ?)",
                *(row[0], name, b""),
            )

        self.stage.store.database.write(change)


@pytest.fixture
def house(stage: Stage) -> House:
    ada, bob = stage.key("ada"), stage.key("bob")
    stage.project("ada", "lab", "private")
    made = House(stage, ada, stage.key("ada", "read"), bob)
    made.new_run("r1")
    return made
