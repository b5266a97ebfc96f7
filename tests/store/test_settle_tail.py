"""A run that has ended is folded, so that charts do not read its last batches one by one for ever."""

from __future__ import annotations

from pathlib import Path

import pytest

from strobe.journal import event as ev
from strobe.journal.entry import Noted, Row
from strobe.journal.segment import Header
from strobe.store.blobs import open_blobs
from strobe.store.charts import Ask
from strobe.store.database import Database
from strobe.store.series.page import POINTS_PER_PAGE
from strobe.store.store import Store
from strobe.wire.pack import pack

HEADER = Header(entity="ann", project="p", run="r", writer="w")


@pytest.fixture
def store(database: Database, tmp_path: Path) -> Store:
    return Store(database, open_blobs(tmp_path / "blobs"))


def take(store: Store, first: int, entries: list[Row | Noted]) -> None:
    batch = pack(HEADER, entries, first=first, until=first + len(entries))
    assert store.ingest.take(batch, now_ns=10**18).ack.status == "stored"


def tail_rows(store: Store) -> int:
    row = store.database.read(lambda cursor: cursor.one("SELECT tail_rows FROM run"))
    assert row is not None
    return int(row[0])


def test_the_tail_is_folded_at_the_end(store: Store) -> None:
    count = POINTS_PER_PAGE + 10
    take(store, 0, [Row(n, n, 10**18 + n, ("loss",), [n / 7], order_ns=10**18 + n, record=n) for n in range(count)])
    store.settler.settle()
    assert tail_rows(store) == count  # more may come
    (run_id,) = store.database.read(lambda cursor: cursor.all("SELECT id FROM run"))[0]
    (before,) = store.series.query([Ask(run_id, "loss")], pixels=count)
    take(store, count, [Noted(count, ev.Ended(time_ns=2 * 10**18, state="finished"), 2 * 10**18)])
    store.settler.settle()
    assert tail_rows(store) == 0
    (after,) = store.series.query([Ask(run_id, "loss")], pixels=count)
    assert (after.buckets.ints == before.buckets.ints).all()
    assert (after.buckets.floats == before.buckets.floats).all()
