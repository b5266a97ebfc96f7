"""Files of runs: put, listed, read, deleted, and their contents shared."""

from __future__ import annotations

import hashlib

import pytest

from strobe.errors import NotInStore, StoreChanged, UsageError
from strobe.store.blobs.directory import DirectoryBlobs
from strobe.store.database import Database
from strobe.store.files import NOTHING, Files
from tests.store.files.conftest import NewRun, bring


def test_a_file_comes_back(files: Files, new_run: NewRun) -> None:
    run = new_run()
    with files.contents.incoming() as incoming:
        incoming.write(b"hello ")
        incoming.write(b"world")
        put = files.put(run, "media/a.txt", incoming, policy="end", mtime_ns=17)
    found = files.get(run, "media/a.txt")
    assert found == put
    assert found.sha256 == hashlib.sha256(b"hello world").hexdigest()
    assert found.md5 == "XrY7u+Ae7tCTyyK7j1rNww=="
    assert (found.size, found.policy, found.mtime_ns) == (11, "end", 17)
    assert b"".join(files.read(found)) == b"hello world"
    assert b"".join(files.read(found, 3, 7)) == b"lo w"


def test_a_content_is_kept_once(files: Files, blobs: DirectoryBlobs, new_run: NewRun) -> None:
    runs = [new_run("a"), new_run("b", project="other")]
    for run in runs:
        bring(files, run, "one", b"same")
        bring(files, run, "two", b"same")
    assert len(list(blobs.list())) == 1


def test_putting_again_replaces(files: Files, new_run: NewRun) -> None:
    run = new_run()
    bring(files, run, "a", b"one")
    bring(files, run, "a", b"two")
    assert b"".join(files.read(files.get(run, "a"))) == b"two"
    assert len(files.list(run)) == 1


def test_what_comes_late_does_not_undo_what_is_newer(files: Files, new_run: NewRun) -> None:
    run = new_run()
    first = bring(files, run, "a", b"one", over=NOTHING)
    assert bring(files, run, "a", b"one", over=NOTHING) == first  # sent again, because the answer was lost
    second = bring(files, run, "a", b"two", over=first)
    with pytest.raises(StoreChanged, match=second):
        bring(files, run, "a", b"one", over=NOTHING)
    third = bring(files, run, "a", b"three", over=second)
    with pytest.raises(StoreChanged, match=third):
        bring(files, run, "a", b"two", over=first)
    with pytest.raises(StoreChanged, match=NOTHING):
        bring(files, run, "b", b"two", over=first)
    assert b"".join(files.read(files.get(run, "a"))) == b"three"


def test_a_known_content_that_comes_late_does_not_undo_what_is_newer(files: Files, new_run: NewRun) -> None:
    run = new_run()
    first = bring(files, run, "a", b"one", over=NOTHING)
    bring(files, run, "kept", b"one")  # so that the project still has it
    bring(files, run, "a", b"two", over=first)
    with pytest.raises(StoreChanged):
        files.put_known(run, "a", first, 3, over=NOTHING)


def test_lists_by_prefix_in_pages(files: Files, new_run: NewRun) -> None:
    run = new_run()
    paths = ["a/1", "a/2", "a/ü", "ab", "b", "Z"]
    for path in paths:
        bring(files, run, path, path.encode())
    bring(files, new_run("other"), "a/9", b"")
    assert [file.path for file in files.list(run)] == ["Z", "a/1", "a/2", "a/ü", "ab", "b"]
    assert [file.path for file in files.list(run, prefix="a/")] == ["a/1", "a/2", "a/ü"]
    assert [file.path for file in files.list(run, prefix="a/", after="a/1", limit=1)] == ["a/2"]


def test_deleting(files: Files, new_run: NewRun) -> None:
    run = new_run()
    bring(files, run, "a", b"x")
    files.delete(run, "a")
    for call in (files.get, files.delete):
        with pytest.raises(NotInStore, match="'a'"):
            call(run, "a")


def test_a_change_counts_as_a_change_of_the_run(files: Files, database: Database, new_run: NewRun) -> None:
    run = new_run()
    bring(files, run, "a", b"x")
    files.delete(run, "a")
    row = database.read(lambda cursor: cursor.one("SELECT version FROM run WHERE id = ?", run))
    assert row == (2,)


def test_what_the_project_has_need_not_be_sent(files: Files, new_run: NewRun) -> None:
    first, second = new_run("a"), new_run("b")
    sha256 = bring(files, first, "big", b"content")
    assert files.put_known(second, "copy", sha256, 7) is not None
    assert b"".join(files.read(files.get(second, "copy"))) == b"content"
    assert files.put_known(second, "other", sha256, 8) is None, "the size does not fit"
    assert files.put_known(second, "other", "0" * 64, 7) is None


def test_knowing_a_digest_gives_nobody_the_file_of_another_project(files: Files, new_run: NewRun) -> None:
    sha256 = bring(files, new_run("a", project="secret"), "big", b"content")
    stranger = new_run("b", project="mine")
    assert files.put_known(stranger, "stolen", sha256, 7) is None
    assert files.list(stranger) == []


def test_bad_paths_policies_and_runs(files: Files, blobs: DirectoryBlobs, new_run: NewRun) -> None:
    run = new_run()
    with pytest.raises(UsageError, match="climbs"):
        bring(files, run, "../a", b"x")
    with files.contents.incoming() as incoming, pytest.raises(UsageError, match="live, now, end"):
        files.put(run, "a", incoming, policy="never")  # type: ignore[arg-type]  # that is the point
    with pytest.raises(NotInStore, match="run"):
        bring(files, run + 100, "a", b"x")
    assert list(blobs.list()) == [], "a refused file leaves nothing behind"
