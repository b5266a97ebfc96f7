"""Runs are removed for good in small steps; what a kill leaves half done is finished by whoever comes next."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path

import pytest

from strobe.errors import NotInStore
from strobe.home import RunPath
from strobe.journal import event as ev
from strobe.journal.entry import Noted, Row
from strobe.journal.segment import Header
from strobe.store import purge
from strobe.store.blobs import open_blobs
from strobe.store.database import Database
from strobe.store.purge import purge_runs
from strobe.store.store import Store
from strobe.store.upkeep import keep_up
from strobe.store.values import Question
from strobe.wire.pack import pack

PATH = RunPath("ann", "p", "big")
NOW_NS = 1_700_000_000 * 10**9
STEPS = 34
TABLES = ("page", "series", "tail", "object", "value", "run_file", "console", "console_page", "writer")


class Killed(BaseException):
    """As if the process had ended here: what was committed is, nothing else."""


@pytest.fixture
def store(database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    monkeypatch.setattr("strobe.store.tail.MAX_ROWS", 10)  # so that there are pages, not one long tail
    monkeypatch.setattr(purge, "ROWS_AT_ONCE", 7)
    store = Store(database, open_blobs(tmp_path / "blobs"), lambda: NOW_NS)
    for run in ("big", "other"):
        log(store, run)
    store.runs.delete(PATH, now_ns=NOW_NS)
    return store


def log(store: Store, run: str) -> None:
    header = Header(entity="ann", project="p", run=run, writer="w")
    sequences = itertools.count()
    for step in range(STEPS):
        row = {f"k{key}": float(step) for key in range(5)} | {"word": f"w{step}"}
        entries: list[Row | Noted] = []
        for _ in range(2):
            place = next(sequences)
            now = NOW_NS + place
            if place % 2:
                text = f"line {step}\n" * 50
                entries.append(Noted(place, ev.Console(time_ns=now, stream="stdout", text=text), now))
            else:
                entries.append(Row(place, step, now, tuple(row), list(row.values()), False, now, place))
        store.ingest.take(pack(header, entries, first=2 * step, until=2 * step + 2), now_ns=NOW_NS)
    store.settler.settle()
    for number in range(20):
        with store.contents.incoming() as incoming:
            incoming.write(b"content")
            store.files.put(store.runs.find(RunPath("ann", "p", run)).id, f"f{number}", incoming)


def count(store: Store) -> dict[str, int]:
    """Return how many rows there are in each table."""

    return store.database.read(
        lambda cursor: {name: cursor.all(f"SELECT count(*) FROM {name}")[0][0] for name in TABLES}
    )


def test_a_run_goes_in_small_steps_and_nothing_else_does(store: Store) -> None:
    before = count(store)
    half = {name: found // 2 for name, found in before.items()}
    assert min(half.values()) > 0, before
    seen = [before]

    def look(seconds: float) -> None:
        seen.append(count(store))

    assert purge_runs(store.database, deleted_before_ns=NOW_NS + 1, pause=look) == 1
    assert count(store) == half
    for earlier, later in itertools.pairwise(seen):
        gone = {name: earlier[name] - later[name] for name in TABLES}
        assert sum(gone[name] for name in TABLES if name not in ("console", "writer")) <= 7, gone
    assert len(seen) > 10
    assert store.runs.get(RunPath("ann", "p", "other")).summary["k0"] == STEPS - 1


def kill_after(steps: int) -> Callable[[float], None]:
    numbers = itertools.count(1)

    def pause(seconds: float) -> None:
        if next(numbers) == steps:
            raise Killed

    return pause


@pytest.mark.parametrize("steps", [1, 5, 12])
def test_what_a_kill_left_is_finished_and_nobody_sees_it_meanwhile(store: Store, steps: int) -> None:
    half = {name: found // 2 for name, found in count(store).items()}
    with pytest.raises(Killed):
        purge_runs(store.database, deleted_before_ns=NOW_NS + 1, pause=kill_after(steps))
    for ask in (
        lambda: store.runs.undelete(PATH, now_ns=NOW_NS),
        lambda: store.runs.find(PATH, with_deleted=True),
    ):
        with pytest.raises(NotInStore):
            ask()
    store.settler.settle()
    assert store.runs.bury(silent_for_ns=0, now_ns=NOW_NS + 10**9) != []  # the other one
    for question, expected in ((Question(deleted="only"), []), (Question(deleted="with"), ["other"])):
        found = store.values.page("ann", "p", question, now_ns=NOW_NS).run_ids
        assert [item.path.id for item in store.values.items(found)] == expected
    log(store, "big")  # the name is free
    kept = keep_up(store, undo_s=0, grace_s=-1)
    assert kept.purged_runs == 1
    assert count(store) == {name: 2 * found for name, found in half.items()}
    assert store.runs.get(PATH).summary["k0"] == STEPS - 1
