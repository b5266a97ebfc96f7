"""Samples of the system in pages: each once, in the order of time, whatever the size of a page."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from strobe.journal import Header, Writer
from strobe.store.alerts import Alerts
from strobe.store.database import Database
from strobe.store.history import Histories
from strobe.store.ingest import Ingest
from strobe.store.quotas import Quotas
from strobe.store.runs import Runs
from strobe.store.series import Window

from .stories import PATH, Clock, Story, batches, take


@pytest.mark.parametrize("limit", [1, 2, 3, 7, 1000])
def test_every_sample_once(database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: int) -> None:
    clock = Clock()
    story = Story(tmp_path, clock)
    story.start().close()
    for number, offset_ns in enumerate((0, 0, 500)):  # two samplers in step with each other, one beside them
        header = Header(entity=PATH.entity, project=PATH.project, run=PATH.id, writer=f"s{number}", kind="system")
        writer = Writer(story.run_dir.journal, header)
        for step in range(8):
            moment_ns = 2 * 10**18 + step * 1_000_000_007 + offset_ns
            monkeypatch.setattr("strobe.journal.writer.time_ns", lambda moment_ns=moment_ns: moment_ns)
            writer.row({f"cpu{number}": float(step)}, step)
        writer.close()
    ingest = Ingest(database, alerts=Alerts(database), quotas=Quotas(database))
    for found in batches(story.run_dir, random.Random(0)):
        for batch in found:
            assert take(ingest, batch, clock).status == "stored"
    run = Runs(database).find(PATH)
    rows: list[dict[str, Any]] = []
    first: int | None = 0
    while first is not None:
        page, first = Histories(database).system_page(run.id, window=Window(first_time=first), limit=limit)
        assert page
        rows += page
    expected = list(story.replay().system_rows())
    assert len(rows) == len(expected) == 24
    assert [row["_timestamp"] for row in rows] == [row["_timestamp"] for row in expected]
    assert sorted(map(repr, rows)) == sorted(map(repr, expected))
