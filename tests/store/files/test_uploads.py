"""Uploads in parts: in any order, again, after a crash, by two servers; and never a wrong content."""

from __future__ import annotations

import hashlib
import threading

import pytest

from strobe.errors import NotInStore, StoreBusy, UsageError
from strobe.store.blobs.directory import DirectoryBlobs
from strobe.store.contents import Contents
from strobe.store.database import Database
from strobe.store.files import Files
from strobe.store.upload import Upload
from strobe.store.uploads import Uploads
from tests.store.files.conftest import NewRun, bring

BODY = bytes(range(250)) * 13  # 3,250 bytes: four parts
SHA256 = hashlib.sha256(BODY).hexdigest()


def _start(uploads: Uploads, run: int, body: bytes = BODY) -> Upload:
    return uploads.start("run", run, "big.bin", size=len(body), sha256=hashlib.sha256(body).hexdigest(), policy="end")


def _send(uploads: Uploads, upload: Upload, number: int, body: bytes = BODY) -> None:
    _send_bytes(uploads, upload, number, body[number * 1000 : number * 1000 + 1000])


def _send_bytes(uploads: Uploads, upload: Upload, number: int, piece: bytes) -> None:
    with uploads.part(upload, number) as part:
        part.write(piece[:500])
        part.write(piece[500:])
        uploads.put_part(upload.id, part)


def test_parts_in_any_order_become_the_file(
    uploads: Uploads, files: Files, blobs: DirectoryBlobs, new_run: NewRun
) -> None:
    run = new_run()
    upload = _start(uploads, run)
    assert (upload.num_parts, upload.missing) == (4, [0, 1, 2, 3])
    for number in (3, 0, 2, 0, 1):
        _send(uploads, upload, number)
    assert uploads.get(upload.id).missing == []
    uploads.complete(upload.id)
    found = files.get(run, "big.bin")
    assert (found.sha256, found.policy) == (SHA256, "end")
    assert b"".join(files.read(found)) == BODY
    assert len(list(blobs.list())) == 1, "the parts are gone"
    with pytest.raises(NotInStore, match="start it again"):
        uploads.complete(upload.id)


def test_another_server_goes_on_where_one_was_killed(
    uploads: Uploads, contents: Contents, files: Files, new_run: NewRun
) -> None:
    run = new_run()
    _send(uploads, _start(uploads, run), 1)
    other = Uploads(Contents(contents.database, contents.blobs), {"run": files}, part_bytes=777)
    again = _start(other, run)
    assert (again.part_bytes, again.parts) == (1000, [1]), "the parts keep their size"
    for number in again.missing:
        _send(other, again, number)
    other.complete(again.id)
    assert b"".join(files.read(files.get(run, "big.bin"))) == BODY


def test_missing_parts_are_named(uploads: Uploads, new_run: NewRun) -> None:
    upload = _start(uploads, new_run())
    _send(uploads, upload, 2)
    with pytest.raises(UsageError, match=r"3 of 4 parts are missing \(0, 1, 3"):
        uploads.complete(upload.id)


def test_a_wrong_content_changes_nothing_and_can_be_mended(
    uploads: Uploads, files: Files, blobs: DirectoryBlobs, new_run: NewRun
) -> None:
    run = new_run()
    bring(files, run, "big.bin", b"before")
    upload = _start(uploads, run)
    for number in range(4):
        _send(uploads, upload, number, BODY if number != 2 else BODY[::-1])
    with pytest.raises(UsageError, match=f"{SHA256} was announced"):
        uploads.complete(upload.id)
    assert b"".join(files.read(files.get(run, "big.bin"))) == b"before"
    assert not [blob for blob in blobs.list("sha256/") if blob.size == len(BODY)]
    _send(uploads, upload, 2)
    uploads.complete(upload.id)
    assert files.get(run, "big.bin").sha256 == SHA256


@pytest.mark.parametrize(("number", "size"), [(0, 999), (0, 1001), (3, 249), (3, 251), (4, 0), (-1, 0)])
def test_a_part_of_another_size_is_refused(
    uploads: Uploads, blobs: DirectoryBlobs, new_run: NewRun, number: int, size: int
) -> None:
    upload = _start(uploads, new_run())
    with pytest.raises(UsageError, match="part"):
        _send_bytes(uploads, upload, number, b"x" * size)
    assert list(blobs.list()) == []


def test_an_empty_file_has_no_parts(uploads: Uploads, files: Files, new_run: NewRun) -> None:
    run = new_run()
    upload = _start(uploads, run, b"")
    assert upload.missing == []
    uploads.complete(upload.id)
    assert files.get(run, "big.bin").size == 0


def test_a_large_file_gets_larger_parts(contents: Contents, files: Files, new_run: NewRun) -> None:
    upload = Uploads(contents, {"run": files}).start("run", new_run(), "huge", size=5 * 10**12, sha256="0" * 64)
    assert upload.num_parts <= 100_000
    assert upload.part_bytes <= 64 << 20, "what a server takes in one request"


def test_only_one_joins_and_a_killed_one_is_followed(
    uploads: Uploads, database: Database, contents: Contents, files: Files, new_run: NewRun
) -> None:
    run = new_run()
    upload = _start(uploads, run)
    for number in range(4):
        _send(uploads, upload, number)
    now = contents.clock()
    database.write(lambda cursor: cursor.run("UPDATE upload SET joining_ns = ?", now))
    with pytest.raises(StoreBusy, match="put together"):
        uploads.complete(upload.id)
    database.write(lambda cursor: cursor.run("UPDATE upload SET joining_ns = ?", now - 60 * 10**9))
    uploads.complete(upload.id)
    assert files.get(run, "big.bin").sha256 == SHA256


def test_completing_from_many_threads_makes_one_file(uploads: Uploads, files: Files, new_run: NewRun) -> None:
    run = new_run()
    upload = _start(uploads, run)
    for number in range(4):
        _send(uploads, upload, number)
    outcomes: list[str] = []

    def complete() -> None:
        try:
            uploads.complete(upload.id)
            outcomes.append("done")
        except (StoreBusy, NotInStore) as error:
            outcomes.append(type(error).__name__)

    threads = [threading.Thread(target=complete) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outcomes.count("done") == 1
    assert len(outcomes) == 6
    assert b"".join(files.read(files.get(run, "big.bin"))) == BODY


def test_knowing_a_digest_is_not_having_the_content(uploads: Uploads, files: Files, new_run: NewRun) -> None:
    bring(files, new_run("a", project="secret"), "x", BODY)
    thief = new_run("b", project="mine")
    upload = _start(uploads, thief)
    for number in range(4):
        _send(uploads, upload, number, b"\0" * len(BODY))
    with pytest.raises(UsageError, match="announced"):
        uploads.complete(upload.id)
    assert files.list(thief) == []


def test_giving_up_and_expiring(uploads: Uploads, contents: Contents, blobs: DirectoryBlobs, new_run: NewRun) -> None:
    run = new_run()
    one = _start(uploads, run)
    _send(uploads, one, 0)
    uploads.abort(one.id)
    assert list(blobs.list()) == []
    two = _start(uploads, run)
    _send(uploads, two, 0)
    assert uploads.expire(contents.clock() - 10**12) == 0
    assert uploads.expire(contents.clock() + 1) == 1
    assert list(blobs.list()) == []
    with pytest.raises(NotInStore):
        _send(uploads, two, 0)
    assert list(blobs.list()) == []


@pytest.mark.parametrize("sha256", ["", "0" * 63, "G" * 64, "A" * 64])
def test_a_digest_that_is_none(uploads: Uploads, new_run: NewRun, sha256: str) -> None:
    with pytest.raises(UsageError, match="sha256"):
        uploads.start("run", new_run(), "a", size=1, sha256=sha256)
