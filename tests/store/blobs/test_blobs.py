"""What every place for blobs must do; run against a directory and against S3."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from strobe.errors import NotInStore, UsageError
from strobe.store.blobs import Blobs, compose

BODY = bytes(range(256)) * 40


def _read(blobs: Blobs, key: str, start: int = 0, stop: int | None = None) -> bytes:
    return b"".join(blobs.read(key, start, stop))


@pytest.mark.parametrize("size", [None, len(BODY)])
def test_what_was_put_is_read(blobs: Blobs, size: int | None) -> None:
    blobs.put("sha256/ab/cd", [BODY[:100], b"", BODY[100:]], size=size)
    assert _read(blobs, "sha256/ab/cd") == BODY
    found = blobs.stat("sha256/ab/cd")
    assert found is not None
    assert (found.key, found.size) == ("sha256/ab/cd", len(BODY))
    assert found.modified_ns > 1_600_000_000 * 10**9


def test_an_empty_blob_is_a_blob(blobs: Blobs) -> None:
    blobs.put("empty", [])
    assert _read(blobs, "empty") == b""
    assert _read(blobs, "empty", 3, 9) == b""
    found = blobs.stat("empty")
    assert found is not None
    assert found.size == 0


def test_a_large_stream_of_unknown_size(blobs: Blobs) -> None:
    piece = BODY * 100
    blobs.put("large", (piece for _ in range(20)))
    assert _read(blobs, "large") == piece * 20
    # across the border of what is fetched at once
    assert _read(blobs, "large", (4 << 20) - 5, (4 << 20) + 5) == (piece * 20)[(4 << 20) - 5 : (4 << 20) + 5]


def test_what_is_not_there(blobs: Blobs) -> None:
    assert blobs.stat("no/such") is None
    with pytest.raises(NotInStore, match="no/such"):
        blobs.read("no/such")
    blobs.delete(["no/such"])
    assert list(blobs.list("no/")) == []
    assert list(blobs.list()) == []


def test_a_stream_that_fails_leaves_nothing(blobs: Blobs) -> None:
    def pieces() -> Iterator[bytes]:
        yield BODY * 2_000
        raise KeyError("torn")

    with pytest.raises(KeyError):
        blobs.put("torn", pieces())
    assert blobs.stat("torn") is None
    assert list(blobs.list()) == []


def test_putting_again_replaces(blobs: Blobs) -> None:
    blobs.put("a", [b"one"])
    blobs.put("a", [b"two!"])
    assert _read(blobs, "a") == b"two!"


def test_deleting_and_listing_by_prefix(blobs: Blobs) -> None:
    for key in ("a/b/1", "a/b/2", "a/bc", "d"):
        blobs.put(key, [b"x"])
    assert {blob.key for blob in blobs.list()} == {"a/b/1", "a/b/2", "a/bc", "d"}
    assert {blob.key for blob in blobs.list("a/b/")} == {"a/b/1", "a/b/2"}
    blobs.delete(["a/b/1", "d"])
    assert {blob.key for blob in blobs.list()} == {"a/b/2", "a/bc"}


def test_composing_parts(blobs: Blobs) -> None:
    for number in range(3):
        blobs.put(f"parts/{number}", [bytes([number]) * 1000])
    compose(blobs, "whole", [f"parts/{number}" for number in (2, 0, 1)])
    assert _read(blobs, "whole") == b"\2" * 1000 + b"\0" * 1000 + b"\1" * 1000
    with pytest.raises(NotInStore):
        compose(blobs, "never", ["parts/0", "parts/9"])
    assert blobs.stat("never") is None


def test_a_draft_gets_its_key_at_the_end(blobs: Blobs) -> None:
    with blobs.draft() as draft:
        draft.write(b"ab")
        draft.write(b"cd")
        assert blobs.stat("late") is None
        draft.commit("late")
    assert _read(blobs, "late") == b"abcd"


def test_a_draft_that_is_left_is_gone(blobs: Blobs) -> None:
    with blobs.draft() as draft:
        draft.write(BODY)
    assert list(blobs.list()) == []


def test_a_blob_is_read_to_its_end_although_it_is_deleted(blobs: Blobs) -> None:
    blobs.put("a", [BODY])
    pieces = blobs.read("a", 0, 3)
    first = next(pieces)
    blobs.delete(["a"])
    assert first + b"".join(pieces) == BODY[:3]


@pytest.mark.parametrize(
    "key", ["", "/a", "a/", "a//b", "../a", "a/../b", ".a", "a/.b", "a\\b", "a b", "ä", "a\n", "a" * 513, "C:/x"]
)
def test_keys_that_could_lead_elsewhere(blobs: Blobs, key: str) -> None:
    calls = (lambda: blobs.put(key, [b""]), lambda: blobs.read(key), lambda: blobs.stat(key))
    for call in (*calls, lambda: blobs.delete([key])):
        with pytest.raises(UsageError, match="key"):
            call()


def test_writers_of_one_key_at_once_leave_one_of_them(blobs: Blobs) -> None:
    bodies = [bytes([number]) * 50_000 for number in range(8)]
    threads = [threading.Thread(target=blobs.put, args=("same", [body])) for body in bodies]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert _read(blobs, "same") in bodies
    assert [blob.key for blob in blobs.list()] == ["same"]


@given(start=st.integers(0, 12_000), length=st.one_of(st.none(), st.integers(0, 12_000)))
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_any_range(blobs: Blobs, start: int, length: int | None) -> None:
    if blobs.stat("body") is None:
        blobs.put("body", [BODY])
    stop = None if length is None else start + length
    assert _read(blobs, "body", start, stop) == BODY[start:stop]
