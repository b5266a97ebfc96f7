"""The index of a home: it follows the journals, survives restarts, and holds nothing that they do not."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import strobe
from strobe.api import trash
from strobe.errors import CommError, NotInStore, StoreBusy
from strobe.home import Home, RunDir, RunPath
from strobe.journal import event as ev
from strobe.server.local import run_tail
from strobe.server.local.home_tail import HomeTail, forget_runs
from strobe.server.local.index import IndexPlace
from strobe.server.local.run_tail import RunTail
from strobe.server.local.store import LocalStore
from strobe.store.ingest import Taken
from strobe.wire.batch import Batch

PATH = RunPath("local", "p", "r")


class Moving:
    """A clock that is far on at each look, so that every poll is a full one."""

    def __init__(self) -> None:
        self.now_ns = time.time_ns()

    def __call__(self) -> int:
        self.now_ns += 60 * 10**9
        return self.now_ns


@pytest.fixture
def index(home: Home) -> Iterator[LocalStore]:
    store = LocalStore(home, IndexPlace(home).database)
    yield store
    store.close()


def tail_of(home: Home, store: LocalStore, warnings: list[str] | None = None) -> HomeTail:
    return HomeTail(home, store, Moving(), (warnings if warnings is not None else []).append)


def log_run(home: Home, *, steps: int = 10, run_id: str = "r", finish: bool = True) -> strobe.Run:
    run = strobe.init(
        project="p", id=run_id, dir=home.path, mode="offline", reinit="create_new", settings={"agent": False}
    )
    for step in range(steps):
        run.log({"loss": 1 / (step + 1)})
    if finish:
        run.finish()
    return run


def last_loss(store: LocalStore, path: RunPath = PATH) -> float:
    return float(store.series.digests(store.runs.find(path).id)["loss"].last[0])


def test_rows_are_there_as_soon_as_they_were_logged(home: Home, index: LocalStore) -> None:
    tail = tail_of(home, index)
    assert tail.poll() == 0
    run = log_run(home, finish=False)
    tail.poll()
    assert (index.runs.find(PATH).state, last_loss(index)) == ("running", 0.1)
    run.log({"loss": 7.0})
    tail.poll()
    assert last_loss(index) == 7.0
    run.finish()
    tail.poll()
    assert index.runs.find(PATH).state == "finished"


def test_a_long_run_does_not_hide_the_others(home: Home, index: LocalStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_tail, "_AT_ONCE", 5)
    log_run(home, steps=3, run_id="short")
    log_run(home, steps=100)  # the newest is first in turn
    tail = tail_of(home, index)
    tail.poll()
    assert last_loss(index, RunPath("local", "p", "short")) == 1 / 3
    assert last_loss(index) > 0.05
    for _ in range(10):
        tail.poll()
    assert last_loss(index) == 0.01
    assert index.runs.find(PATH).state == "finished"
    assert tail.poll() == 0


def test_a_restart_reads_only_what_changed(home: Home, index: LocalStore) -> None:
    log_run(home)
    log_run(home, run_id="other")
    assert tail_of(home, index).poll() > 20
    again = tail_of(home, index)
    assert again.poll() == 0
    # What was not read again cannot be missed either: a journal that grew is taken up where it was left.
    run = strobe.init(
        project="p",
        id="r",
        dir=home.path,
        mode="offline",
        resume="must",
        reinit="create_new",
        settings={"agent": False},
    )
    run.log({"loss": 3.0})
    run.finish()
    third = tail_of(home, index)
    assert 0 < third.poll() < 10
    assert last_loss(index) == 3.0
    assert index.runs.find(PATH).num_rows == 11


def test_an_index_that_was_thrown_away_is_made_again(home: Home, index: LocalStore) -> None:
    log_run(home)
    tail_of(home, index).poll()
    index.close()
    shutil.rmtree(IndexPlace(home).path)
    fresh = LocalStore(home, IndexPlace(home).database)
    try:
        tail_of(home, fresh).poll()
        assert last_loss(fresh) == 0.1
    finally:
        fresh.close()


def test_an_index_is_made_again_and_views_stay(home: Home, index: LocalStore) -> None:
    log_run(home)
    tail_of(home, index).poll()
    index.views.create("local", "p", "mine", {"a": 1}, owner="me", now_ns=1)
    index.database.write(forget_runs)
    with pytest.raises(NotInStore):
        index.runs.find(PATH)
    tail_of(home, index).poll()
    assert last_loss(index) == 0.1
    assert index.views.get("local", "p", "mine").document == {"a": 1}


def test_a_run_that_is_gone_from_the_home_goes_from_the_index(home: Home, index: LocalStore) -> None:
    log_run(home)
    tail = tail_of(home, index)
    tail.poll()
    kept = home.run_dir(PATH).path
    os.rename(kept, home.path / "aside")
    tail.poll()
    with pytest.raises(NotInStore):
        index.runs.find(PATH)
    os.rename(home.path / "aside", kept)
    tail.poll()
    assert last_loss(index) == 0.1


def test_removing_goes_to_the_trash_and_comes_back(home: Home, index: LocalStore) -> None:
    log_run(home)
    tail = tail_of(home, index)
    tail.poll()
    index.runs.delete(PATH, now_ns=time.time_ns())
    assert not home.run_dir(PATH).exists()
    for _ in range(2):  # at once, and when the home has been looked at
        with pytest.raises(NotInStore):
            index.runs.find(PATH)
        assert index.runs.find(PATH, with_deleted=True).deleted_ns is not None
        tail.poll()
    index.runs.undelete(PATH, now_ns=time.time_ns())
    assert index.runs.find(PATH).deleted_ns is None
    assert last_loss(index) == 0.1
    tail.poll()
    assert last_loss(index) == 0.1
    assert index.runs.find(PATH).num_rows == 10
    with pytest.raises(NotInStore, match="trash"):
        index.runs.undelete(PATH, now_ns=0)


def test_a_new_run_with_the_id_of_a_removed_one_is_shown(home: Home, index: LocalStore) -> None:
    log_run(home)
    tail = tail_of(home, index)
    tail.poll()
    index.runs.delete(PATH, now_ns=time.time_ns())
    log_run(home, steps=2)  # before anybody has looked at the home again
    tail.poll()
    assert last_loss(index) == 0.5


def test_one_that_comes_back_is_there_though_the_home_was_looked_at_meanwhile(
    home: Home, index: LocalStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    log_run(home)
    tail = tail_of(home, index)
    tail.poll()
    deleted_at = index.runs.find(PATH).version + 1
    index.runs.delete(PATH, now_ns=time.time_ns())
    iter_runs = home.iter_runs

    def runs_before_it_came_back() -> Iterator[RunDir]:
        found = list(iter_runs())
        index.runs.undelete(PATH, now_ns=time.time_ns())
        yield from found

    monkeypatch.setattr(type(home), "iter_runs", lambda _: runs_before_it_came_back())
    tail.poll()
    assert index.runs.find(PATH).version > deleted_at, "who hears of the deletion now knows that it is over"


def test_runs_come_and_go_while_the_home_is_followed(home: Home, index: LocalStore) -> None:
    log_run(home)
    tail = tail_of(home, index)
    tail.poll()
    is_over = threading.Event()

    def follow() -> None:
        while not is_over.is_set():
            tail.poll()

    with ThreadPoolExecutor() as pool:
        following = pool.submit(follow)
        try:
            for _ in range(100):
                index.runs.delete(PATH, now_ns=time.time_ns())
                index.runs.undelete(PATH, now_ns=time.time_ns())
                assert index.runs.get(PATH)
        finally:
            is_over.set()
        following.result()


def test_what_the_command_line_removed_can_be_seen_until_the_trash_is_emptied(home: Home, index: LocalStore) -> None:
    log_run(home)
    tail = tail_of(home, index)
    tail.poll()
    entry = trash.put(home, home.run_dir(PATH), now_ns=time.time_ns())
    tail.poll()
    assert index.runs.find(PATH, with_deleted=True).deleted_ns is not None
    # another process of the same index knows it, too, and what comes back is followed again
    again = LocalStore(home, IndexPlace(home).database)
    assert again.runs.trashed == {PATH}
    again.close()
    trash.restore(home, entry)
    tail.poll()
    assert last_loss(index) == 0.1
    trash.put(home, home.run_dir(PATH), now_ns=time.time_ns())
    tail.poll()
    assert index.runs.find(PATH, with_deleted=True).deleted_ns is not None
    for kept in home.trash.iterdir():
        shutil.rmtree(kept)
    tail.poll()
    with pytest.raises(NotInStore):
        index.runs.find(PATH, with_deleted=True)


class Failing:
    """An index whose store fails for a while."""

    def __init__(self, error: Exception) -> None:
        self.error: Exception | None = error

    def break_into(self, store: LocalStore, monkeypatch: pytest.MonkeyPatch, run: str = "r") -> None:
        take = store.ingest.take

        def failing(batch: Batch, *, now_ns: int) -> Taken:
            if self.error is not None and batch.run == run and batch.blocks:
                raise self.error
            return take(batch, now_ns=now_ns)

        monkeypatch.setattr(store.ingest, "take", failing)


def test_rows_that_the_index_could_not_take_are_read_again(
    home: Home, index: LocalStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = log_run(home, finish=False)
    tail, failing = tail_of(home, index), Failing(StoreBusy("the disk is slow"))
    failing.break_into(index, monkeypatch)
    with pytest.raises(StoreBusy):
        tail.poll()
    failing.error = None
    run.log({"loss": 7.0})
    run.finish()
    tail.poll()
    assert index.runs.find(PATH).num_rows == 11
    assert int(index.series.digests(index.runs.find(PATH).id)["loss"].count[0]) == 11


def test_a_run_that_makes_no_sense_does_not_keep_the_others(
    home: Home, index: LocalStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    log_run(home, run_id="other")
    log_run(home)
    warnings: list[str] = []
    tail, failing = tail_of(home, index, warnings), Failing(CommError("an event has from_step 2**80"))
    failing.break_into(index, monkeypatch)
    for _ in range(2):
        tail.poll()
    assert last_loss(index, RunPath("local", "p", "other")) == 0.1
    assert len(warnings) == 1
    assert "from_step" in warnings[0]
    failing.error = None
    tail.poll()
    assert last_loss(index) == 0.1
    assert "again" in warnings[1]


def test_a_journal_that_could_not_be_read_is_read_after_a_restart(home: Home, index: LocalStore) -> None:
    log_run(home)
    warnings: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("strobe.journal.reader.open", _unreadable, raising=False)
        tail_of(home, index, warnings).poll()
    assert "Input/output error" in warnings[0]
    tail_of(home, index).poll()
    assert last_loss(index) == 0.1


def _unreadable(path: Path, *arguments: object, **options: object) -> None:
    raise OSError(5, "Input/output error", str(path))


def test_a_kill_while_a_run_was_taken_in_leaves_no_ghost(home: Home, index: LocalStore) -> None:
    tail_of(home, index).poll()
    log_run(home)
    RunTail(home.run_dir(PATH), index.ingest, time.time_ns).poll()  # and then the process was killed
    shutil.rmtree(home.run_dir(PATH).path)
    tail_of(home, index).poll()
    with pytest.raises(NotInStore):
        index.runs.find(PATH)


def test_an_edit_is_a_journal(home: Home, index: LocalStore) -> None:
    log_run(home)
    tail = tail_of(home, index)
    tail.poll()
    now_ns = time.time_ns()
    index.edits.write(PATH, [ev.Attributes(time_ns=now_ns, changes={"name": "renamed"})], now_ns=now_ns)
    tail.poll()
    assert index.runs.get(PATH).attributes["name"] == "renamed"
    assert strobe.Api(home.path).run("p/r").name == "renamed"
    with pytest.raises(NotInStore):
        index.edits.write(RunPath("local", "p", "nobody"), [], now_ns=now_ns)


def test_a_process_that_died_without_an_agent_is_noticed(home: Home, index: LocalStore) -> None:
    code = (
        f"import os, strobe; run = strobe.init(project='p', id='r', dir={str(home.path)!r}, mode='offline',"
        " settings={'agent': False}); run.log({'loss': 1.0}); os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", code], timeout=60)
    tail_of(home, index).poll()
    assert index.runs.find(PATH).state == "crashed"


@pytest.mark.slow
def test_a_wish_to_stop_reaches_the_process(home: Home, index: LocalStore, tmp_path: Path) -> None:
    code = (
        f"import strobe, time; run = strobe.init(project='p', id='r', dir={str(home.path)!r}, mode='offline')\n"
        "try:\n    [(run.log({'loss': 1.0}), time.sleep(0.02)) for _ in range(3000)]\n"
        "except KeyboardInterrupt:\n    print('interrupted')"
    )
    # Who lives is known by the notes that are left for an agent, so there must be one.
    environ = {**os.environ, "STROBE_AGENT": "true", "STROBE_AGENT_IDLE_S": "0.2"}
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, env=environ) as process:
        tail, deadline = tail_of(home, index), time.monotonic() + 30
        while not index.runs.in_state("running") and time.monotonic() < deadline:
            tail.poll()
            time.sleep(0.05)
        assert process.poll() is None
        index.runs.request_stop(PATH, by="me", now_ns=time.time_ns())
        tail.poll()
        assert process.communicate(timeout=30)[0].strip() == "interrupted"


def test_files_are_served_from_where_they_lie(home: Home, index: LocalStore, tmp_path: Path) -> None:
    log_run(home)
    files = home.run_dir(PATH).files
    (files / "deep").mkdir(parents=True)
    (files / "deep" / "a.txt").write_text("hello")
    (tmp_path / "secret").write_text("secret")
    (files / "way_out").symlink_to(tmp_path / "secret")
    tail_of(home, index).poll()
    run_id = index.runs.find(PATH).id
    assert [file.path for file in index.files.list(run_id)] == ["deep/a.txt", "way_out"]
    file = index.files.get(run_id, "deep/a.txt")
    assert b"".join(index.files.read(file, 1, 4)) == b"ell"
    for path in ("way_out", "../journal", "../../../../secret", "nothing"):
        with pytest.raises(NotInStore):
            index.files.get(run_id, path)


def test_one_process_at_a_time_has_the_index(home: Home) -> None:
    first, second = IndexPlace(home), IndexPlace(home)
    assert first.take()
    first.note_address("http://127.0.0.1:1")
    assert not second.take()
    assert second.read_address() == "http://127.0.0.1:1"
    first.release()
    assert second.take()
    assert second.read_address() is None
    second.release()
