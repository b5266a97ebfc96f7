"""gc: what goes, what stays, and that nothing goes that somebody is about to refer to."""

from __future__ import annotations

import os
import random
import threading
import time
from collections.abc import Callable
from functools import partial

import pytest

from strobe.errors import NotInStore
from strobe.store.artifacts import Artifacts, Draft, DraftFacts
from strobe.store.blobs.directory import DirectoryBlobs
from strobe.store.contents import Contents
from strobe.store.database import Database
from strobe.store.files import Files
from strobe.store.purge import purge_drafts, purge_versions
from strobe.store.sweep import Swept, sweep
from strobe.store.uploads import Uploads
from tests.store.artifacts.conftest import Log, count, manifest_of
from tests.store.files.conftest import NewRun, bring

Sweep = Callable[..., Swept]


@pytest.fixture
def gc(contents: Contents, uploads: Uploads, artifacts: Artifacts) -> Sweep:
    return lambda **ages: sweep(contents, uploads, artifacts, **ages)


def test_a_content_goes_when_nobody_refers_to_it(
    gc: Sweep, files: Files, blobs: DirectoryBlobs, database: Database, new_run: NewRun
) -> None:
    run = new_run()
    bring(files, run, "a", b"shared")
    bring(files, run, "b", b"shared")
    bring(files, run, "c", b"alone")
    files.delete(run, "a")
    files.delete(run, "c")
    assert gc(grace_s=3600) == Swept(), "it is too young"
    assert gc(grace_s=0) == Swept(contents=1, size_bytes=5)
    assert b"".join(files.read(files.get(run, "b"))) == b"shared"
    assert len(list(blobs.list())) == count(database, "blob") == 1


def test_the_files_of_a_run_go_with_it(gc: Sweep, files: Files, database: Database, new_run: NewRun) -> None:
    run = new_run()
    bring(files, run, "a", b"x")
    database.write(lambda cursor: cursor.run("DELETE FROM run WHERE id = ?", run))
    assert gc(grace_s=0).contents == 1


def test_the_contents_of_an_artifact_stay_until_it_can_not_be_undone(
    gc: Sweep, log: Log, artifacts: Artifacts, project: int
) -> None:
    first = log({"a": b"1", "b": b"2"})
    log({"a": b"1"})
    artifacts.versions.delete(first.id)
    assert gc(grace_s=0).contents == 0
    restored = artifacts.versions.restore(first.id)
    assert b"".join(artifacts.versions.read(artifacts.versions.entry(restored, "b"))) == b"2"
    artifacts.versions.delete(first.id)
    assert gc(grace_s=0, undo_s=0) == Swept(contents=1, size_bytes=1, purged=1)
    latest = artifacts.versions.get(project, "data")
    assert b"".join(artifacts.versions.read(artifacts.versions.entry(latest, "a"))) == b"1"


def test_what_was_given_up_goes(
    gc: Sweep, artifacts: Artifacts, uploads: Uploads, contents: Contents, project: int, new_run: NewRun
) -> None:
    draft = artifacts.drafts.create(project, DraftFacts(name="a", type="b"), manifest_of({"x": b"1", "y": b"2"}))
    assert isinstance(draft, Draft)
    with contents.incoming() as incoming:
        incoming.write(b"1")
        artifacts.drafts.put(draft.id, "x", incoming)
    upload = uploads.start("run", new_run(), "big", size=10, sha256="0" * 64)
    with uploads.part(upload, 0) as part:
        part.write(b"0123456789")
        uploads.put_part(upload.id, part)
    assert gc(grace_s=0) == Swept()
    swept = gc(grace_s=0, abandoned_s=0)
    assert (swept.drafts, swept.uploads, swept.contents) == (1, 1, 1)
    assert list(contents.blobs.list()) == []


def test_bytes_that_a_kill_left_go_by_their_age(
    gc: Sweep, files: Files, blobs: DirectoryBlobs, uploads: Uploads, new_run: NewRun
) -> None:
    run = new_run()
    kept = bring(files, run, "a", b"kept")
    upload = uploads.start("run", run, "big", size=10, sha256="0" * 64)
    with uploads.part(upload, 0) as part:
        part.write(b"0123456789")
        uploads.put_part(upload.id, part)
    left = blobs.draft()
    left.write(b"torn")
    for key in ("sha256/00/11-22", "parts/ab/cd/0-1"):
        blobs.put(key, [b"orphan"])
    assert gc().orphans == 0, "their writers may be about to commit"
    for blob in blobs.list():
        os.utime(blobs.root / blob.key, (time.time() - 10**6,) * 2)
    assert gc() == Swept(orphans=3, size_bytes=16)
    left.discard()
    assert b"".join(files.contents.read(kept)) == b"kept"
    assert uploads.get(upload.id).parts == [0]
    assert len(list(blobs.list())) == 2


@pytest.mark.slow
def test_gc_never_takes_what_racing_writers_refer_to(
    gc: Sweep, files: Files, blobs: DirectoryBlobs, database: Database, new_run: NewRun
) -> None:
    """Without any grace: the order of the steps alone must keep this right."""
    run = new_run()
    bodies = [b"one", b"two", b"three"]
    failures: list[BaseException] = []
    done = threading.Event()

    def write(seed: int) -> None:
        choice = random.Random(seed)
        try:
            for step in range(40):
                path = f"{seed}-{step}"
                sha256 = bring(files, run, path, choice.choice(bodies))
                assert b"".join(files.contents.read(sha256)) in bodies
                files.put_known(run, f"{path}-again", sha256, len(b"".join(files.contents.read(sha256))))
                if choice.random() < 0.9:
                    files.delete(run, path)
                    files.delete(run, f"{path}-again")
        except BaseException as error:
            failures.append(error)
            raise

    def collect() -> None:
        try:
            while not done.is_set():
                gc(grace_s=0)
        except BaseException as error:
            failures.append(error)
            raise

    collector = threading.Thread(target=collect)
    writers = [threading.Thread(target=write, args=(seed,)) for seed in range(3)]
    for thread in (collector, *writers):
        thread.start()
    for thread in writers:
        thread.join()
    done.set()
    collector.join()
    assert failures == []
    for file in files.list(run):
        assert b"".join(files.read(file)) in bodies
    gc(grace_s=0)
    assert {blob.key for blob in blobs.list()} == {
        row[0] for row in database.read(lambda cursor: cursor.all("SELECT key FROM blob"))
    }


@pytest.mark.parametrize("is_draft", [True, False])
def test_a_large_version_goes_in_small_steps_and_after_a_kill_nobody_sees_what_is_left(
    log: Log, artifacts: Artifacts, database: Database, project: int, monkeypatch: pytest.MonkeyPatch, is_draft: bool
) -> None:
    monkeypatch.setattr("strobe.store.purge.ROWS_AT_ONCE", 3)
    bodies = {f"f{number}": b"%d" % number for number in range(10)}
    kept = log({"a": b"kept"}, name="kept")
    if is_draft:
        made = artifacts.drafts.create(project, DraftFacts(name="data", type="dataset"), manifest_of(bodies))
        purge = partial(purge_drafts, database, touched_before_ns=2**62)
    else:
        made = log(bodies)
        artifacts.versions.delete(made.id)
        purge = partial(purge_versions, database, deleted_before_ns=2**62)

    class Killed(BaseException):
        pass

    def kill(seconds: float) -> None:
        raise Killed

    for left in (8, 5):
        with pytest.raises(Killed):
            purge(pause=kill)
        assert count(database, "artifact_entry") == left
    for ask in (artifacts.drafts.get, artifacts.drafts.commit, artifacts.versions.by_id, artifacts.versions.restore):
        with pytest.raises(NotInStore):
            ask(made.id)
    assert artifacts.versions.page(project, "data", deleted=True) == []
    assert purge(pause=lambda seconds: None) == 1
    assert (count(database, "artifact_entry"), count(database, "artifact_version")) == (1, 1)
    assert artifacts.versions.by_id(kept.id) == kept
