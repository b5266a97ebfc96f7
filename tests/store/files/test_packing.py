"""Many small files at once: one blob for those that are new, none for the known; gc knows what it holds."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from strobe.errors import NotInStore
from strobe.store.artifacts import Artifacts
from strobe.store.blobs.directory import DirectoryBlobs
from strobe.store.contents import Contents, Hashes
from strobe.store.database import Cursor
from strobe.store.files import NOTHING, Files, NewFile
from strobe.store.packing import keep_all
from strobe.store.sweep import Swept, sweep
from strobe.store.uploads import Uploads
from tests.store.files.conftest import NewRun, bring

_numbers = itertools.count()


def put(files: Files, run: int, bodies: dict[str, bytes], over: str | None = None) -> Sequence[str | None]:
    return files.put_all(run, [(NewFile(path, Hashes.of(body), over=over), body) for path, body in bodies.items()])


def read(files: Files, run: int, path: str, start: int = 0, stop: int | None = None) -> bytes:
    return b"".join(files.read(files.get(run, path), start, stop))


def clean(contents: Contents, uploads: Uploads) -> Swept:
    return sweep(contents, uploads, Artifacts(contents), grace_s=-60, orphan_s=-60)


def test_many_files_are_one_blob(files: Files, blobs: DirectoryBlobs, new_run: NewRun) -> None:
    run = new_run()
    bodies = {f"media/{number}": random.Random(number).randbytes(number) for number in range(50)}  # an empty one, too
    assert put(files, run, bodies) == [None] * 50
    assert {path: read(files, run, path) for path in bodies} == bodies
    assert read(files, run, "media/40", 10, 20) == bodies["media/40"][10:20]
    assert read(files, run, "media/40", 39, 1000) == bodies["media/40"][39:], "never a byte of its neighbour"
    assert read(files, run, "media/40", 50) == b""
    assert len(list(blobs.list())) == 1


def test_the_same_again_changes_nothing_and_known_contents_take_no_room(
    files: Files, blobs: DirectoryBlobs, new_run: NewRun
) -> None:
    run, other = new_run(), new_run("other")
    bring(files, run, "known", b"known")
    bodies = {"a": b"alpha", "b": b"known", "c": b"alpha", "d": b""}
    for _ in range(2):
        put(files, run, bodies)
        put(files, other, bodies)
    assert {path: read(files, other, path) for path in bodies} == bodies
    assert sorted(blob.size for blob in blobs.list()) == [5, 5]


def test_each_file_replaces_only_what_it_says(files: Files, new_run: NewRun) -> None:
    run = new_run()
    there = bring(files, run, "b", b"there")
    assert put(files, run, {"a": b"1", "b": b"2", "c": b"3"}, over=NOTHING) == [None, there, None]
    assert [read(files, run, path) for path in "abc"] == [b"1", b"there", b"3"]
    assert put(files, run, {"a": b"1", "b": b"2"}, over=there) == [None, None], "the same is no change"


def test_a_run_that_is_gone_leaves_nothing(files: Files, blobs: DirectoryBlobs) -> None:
    with pytest.raises(NotInStore):
        put(files, 4711, {"a": b"1"})
    assert list(blobs.list()) == []


def test_a_pack_goes_with_the_last_of_what_it_holds(
    files: Files, uploads: Uploads, blobs: DirectoryBlobs, new_run: NewRun
) -> None:
    run = new_run()
    put(files, run, {"a": b"alpha", "b": b"beta"})
    files.delete(run, "a")
    swept = clean(files.contents, uploads)
    assert (swept.contents, swept.orphans) == (1, 0)
    assert read(files, run, "b") == b"beta"
    files.delete(run, "b")
    assert clean(files.contents, uploads).contents == 1
    assert list(blobs.list()) == []


def test_what_a_kill_left_behind_is_found(files: Files, uploads: Uploads, blobs: DirectoryBlobs) -> None:
    blobs.put("packs/ab/cdef", [b"of nobody"])
    assert clean(files.contents, uploads).orphans == 1
    assert list(blobs.list()) == []


def test_a_content_that_gc_takes_away_in_between_is_stored_again(
    files: Files, uploads: Uploads, new_run: NewRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = new_run()
    bring(files, run, "x", b"known")
    files.delete(run, "x")
    store = files.contents.blobs.put

    def put_and_clean(key: str, pieces: Sequence[bytes], *, size: int | None = None) -> None:
        monkeypatch.undo()
        store(key, pieces, size=size)
        sweep(files.contents, uploads, Artifacts(files.contents), grace_s=-60)

    monkeypatch.setattr(files.contents.blobs, "put", put_and_clean)
    put(files, run, {"a": b"new", "b": b"known"})
    assert (read(files, run, "a"), read(files, run, "b")) == (b"new", b"known")


def test_nothing_at_all(files: Files) -> None:
    assert keep_all(files.contents, [], lambda cursor: cursor.one("SELECT 7")) == (7,)


@given(st.lists(st.dictionaries(st.sampled_from("abc"), st.sampled_from([b"", b"1", b"22", b"333"])), max_size=6))
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_story_ends_with_the_last_of_each(
    files: Files, uploads: Uploads, new_run: NewRun, story: list[dict[str, bytes]]
) -> None:
    run = new_run(f"r{next(_numbers)}")
    expected: dict[str, bytes] = {}
    for bodies in story:
        put(files, run, bodies)
        expected |= bodies
        clean(files.contents, uploads)
    assert {file.path: read(files, run, file.path) for file in files.list(run)} == expected


def test_a_transaction_that_fails_leaves_nothing(files: Files, blobs: DirectoryBlobs) -> None:
    def fail(cursor: Cursor) -> None:
        raise RuntimeError("a fault")

    with pytest.raises(RuntimeError):
        keep_all(files.contents, [(Hashes.of(b"x"), b"x")], fail)
    assert list(blobs.list()) == []
    assert files.contents.find(Hashes.of(b"x").sha256) is None


def test_many_at_once_that_bring_the_same_do_not_wait_for_each_other(
    contents: Contents, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("strobe.store.postgres._TRIES", 1)  # a deadlock is an error then
    bodies = [b"%d" % number for number in range(600)]

    def bring_some(seed: int) -> None:
        rng = random.Random(seed)
        for _ in range(5):
            some = rng.sample(bodies, 200)
            keep_all(contents, [(Hashes.of(body), body) for body in some], lambda cursor: None)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(bring_some, range(8)))
    assert sum(contents.find(Hashes.of(body).sha256) is not None for body in bodies) > 500
