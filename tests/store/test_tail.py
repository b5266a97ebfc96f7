"""What was taken in and is not in pages yet: only what charts need, read some at a time."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from strobe.home import RunPath
from strobe.journal.entry import Row
from strobe.journal.segment import Header
from strobe.store.blobs import open_blobs
from strobe.store.charts import Ask
from strobe.store.database import Database
from strobe.store.store import Store
from strobe.wire.pack import pack

HEADER = Header(entity="ann", project="p", run="r", writer="w")
PATH = RunPath("ann", "p", "r")
LONG = "long " * 100_000


@pytest.fixture
def store(database: Database, tmp_path: Path) -> Store:
    return Store(database, open_blobs(tmp_path / "blobs"))


def log(store: Store, keys: tuple[str, ...], *rows: Sequence[Any]) -> int:
    """Log rows from step 0 on, each in a batch of its own; return the run's number."""
    for number, values in enumerate(rows):
        row = Row(number, number, 10**18 + number, keys, list(values), order_ns=10**18 + number, record=number)
        batch = pack(HEADER, [row], first=number, until=number + 1)
        assert store.ingest.take(batch, now_ns=10**18).ack.status == "stored"
    return store.runs.find(PATH).id


def tail_sizes(store: Store) -> list[int]:
    return [row[0] for row in store.database.read(lambda cursor: cursor.all("SELECT length(body) FROM tail"))]


def test_a_chart_does_not_read_the_texts_that_were_logged_beside_it(store: Store) -> None:
    nested = [{"acc": 0.5, "why": LONG}, LONG, 0.75, {"_type": "table", "rows": LONG, "count": 3}]
    run_id = log(store, ("loss", "text", "nested"), *((step / 8, LONG, item) for step, item in enumerate(nested)))
    assert len(tail_sizes(store)) == 4
    assert max(tail_sizes(store)) < 500
    charts = store.series.query([Ask(run_id, key) for key in ("loss", "nested", "nested.acc")])
    assert [chart.buckets.first.tolist() for chart in charts] == [[0, 0.125, 0.25, 0.375], [0.75], [0.5]]
    rows, _ = store.history.page(run_id)
    assert [(row["text"], row["nested"]) for row in rows] == [(LONG, item) for item in nested]
    assert store.runs.get(PATH).summary == {"loss": 0.375, "text": LONG, "nested": nested[-1]}


def test_what_has_no_numbers_is_not_in_the_tail_at_all(store: Store) -> None:
    run_id = log(store, ("text",), ("a",), ("b",))
    assert tail_sizes(store) == []
    assert [row["text"] for row in store.history.page(run_id)[0]] == ["a", "b"]
    assert store.runs.find(PATH).num_rows == 2
