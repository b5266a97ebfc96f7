"""Retention, deletion with undo, purging and quotas."""

from __future__ import annotations

from pathlib import Path

import pytest

from strobe.errors import NotInStore, StoreFull
from strobe.home import RunPath
from strobe.journal import event as ev
from strobe.journal.entry import Noted, Row
from strobe.journal.segment import Header
from strobe.store.blobs import open_blobs
from strobe.store.database import Database
from strobe.store.quotas import Quotas
from strobe.store.store import Store
from strobe.store.upkeep import keep_up
from strobe.wire.batch import Ack
from strobe.wire.pack import pack

DAY_NS = 24 * 3600 * 10**9


class Clock:
    def __init__(self) -> None:
        self.now_ns = 100 * DAY_NS

    def __call__(self) -> int:
        return self.now_ns


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(database: Database, tmp_path: Path, clock: Clock) -> Store:
    return Store(database, open_blobs(tmp_path / "blobs"), clock)


def log(store: Store, run: str, clock: Clock, *, first: int = 0, ended: bool = False) -> Ack:
    header = Header(entity="ann", project="p", run=run, writer="w")
    now = clock()
    row = Row(first, first, now, ("loss",), [1.0], False, now, first)
    entries: list[Row | Noted] = [row]
    if ended:
        entries.append(Noted(first + 1, ev.Ended(time_ns=now, state="finished"), now))
        entries.insert(0, Noted(first, ev.Started(time_ns=now), now))
    return store.ingest.take(pack(header, entries, first=first, until=first + 2), now_ns=now).ack


def put_file(store: Store, run: str, content: bytes) -> None:
    with store.contents.incoming() as incoming:
        incoming.write(content)
        store.files.put(store.runs.find(RunPath("ann", "p", run)).id, "f", incoming)


def blobs(store: Store) -> int:
    return len(list(store.contents.blobs.list("sha256/")))


def test_a_deletion_can_be_undone_until_it_is_purged(store: Store, clock: Clock) -> None:
    path = RunPath("ann", "p", "a")
    log(store, "a", clock)
    put_file(store, "a", b"content")
    store.runs.delete(path, now_ns=clock())
    clock.now_ns += 6 * DAY_NS
    assert keep_up(store).purged_runs == 0
    store.runs.undelete(path, now_ns=clock())
    assert store.runs.find(path).num_rows == 1
    store.runs.delete(path, now_ns=clock())
    clock.now_ns += 8 * DAY_NS
    kept = keep_up(store)
    assert (kept.purged_runs, kept.swept.contents) == (1, 1)
    assert blobs(store) == 0
    with pytest.raises(NotInStore):
        store.runs.undelete(path, now_ns=clock())
    left = store.database.read(
        lambda cursor: [cursor.one(f"SELECT count(*) FROM {name}") for name in ("series", "tail")]
    )
    assert left == [(0,), (0,)]


def test_runs_past_their_time_are_deleted(store: Store, clock: Clock) -> None:
    log(store, "old", clock, ended=True)
    log(store, "running", clock)
    store.projects.change("ann", "p", retention_days=30)
    clock.now_ns += 20 * DAY_NS
    log(store, "new", clock, ended=True)
    assert keep_up(store).expired_runs == 0
    clock.now_ns += 15 * DAY_NS
    assert keep_up(store).expired_runs == 1
    with pytest.raises(NotInStore, match="deleted"):
        store.runs.find(RunPath("ann", "p", "old"))
    for kept in ("running", "new"):
        store.runs.find(RunPath("ann", "p", kept))


def test_a_project_over_its_quota_takes_nothing_more_and_loses_nothing(store: Store, clock: Clock) -> None:
    seconds = iter(range(0, 10_000, 10))
    store.ingest._quotas = Quotas(store.database, lambda: float(next(seconds)))
    assert log(store, "a", clock).status == "stored"
    put_file(store, "a", b"x" * 1000)
    project = store.projects.get("ann", "p")
    assert project is not None
    used = store.quotas.used_bytes(project.id)
    assert used > 1000
    store.projects.change("ann", "p", quota_bytes=used)
    ack = log(store, "a", clock, first=2)
    assert ack.status == "refused"
    assert f"its quota is {used}" in ack.reason
    with pytest.raises(StoreFull, match="quota"):
        store.quotas.check("ann", "p")
    store.projects.change("ann", "p", quota_bytes=10 * used)
    assert log(store, "a", clock, first=2).status == "stored"
