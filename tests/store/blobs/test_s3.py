"""What is special about S3: its address, its faults, and that an upload that failed leaves no parts behind."""

from __future__ import annotations

import urllib.request
from collections.abc import Iterator

import pytest

from strobe.errors import NotInStore, StoreBusy, StoreError, UsageError
from strobe.store.blobs.s3 import S3Blobs

_KEYS = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test"}


def test_an_address_without_a_bucket() -> None:
    with pytest.raises(UsageError, match="s3://bucket/prefix"):
        S3Blobs("s3://", {})


def test_a_bucket_that_is_not_there(s3_endpoint: str) -> None:
    blobs = S3Blobs("s3://nobody", {"AWS_ENDPOINT_URL_S3": s3_endpoint, **_KEYS})
    with pytest.raises(StoreError, match="does the bucket exist"):
        blobs.put("a", [b"x"], size=1)
    with pytest.raises(NotInStore):
        blobs.read("a")


def test_a_server_that_does_not_answer_may_answer_later() -> None:
    blobs = S3Blobs("s3://bucket", {"AWS_ENDPOINT_URL": "http://127.0.0.1:1", **_KEYS})
    with pytest.raises(StoreBusy, match="is it up") as caught:
        blobs.stat("a")
    assert "\n" not in str(caught.value)


def test_a_failed_stream_is_aborted_on_the_server(s3_blobs: S3Blobs, s3_endpoint: str) -> None:
    def pieces() -> Iterator[bytes]:
        yield b"x" * (20 << 20)
        raise KeyError("torn")

    with pytest.raises(KeyError):
        s3_blobs.put("torn", pieces())
    with urllib.request.urlopen(f"{s3_endpoint}/bucket?uploads") as answer:
        assert b"<Upload>" not in answer.read()


def test_the_prefix_is_kept_apart(s3_endpoint: str) -> None:
    env = {"AWS_ENDPOINT_URL": s3_endpoint, **_KEYS}
    one, two = S3Blobs("s3://bucket/apart/one", env), S3Blobs("s3://bucket/apart/two/", env)
    one.put("a", [b"1"])
    assert two.stat("a") is None
    assert [blob.key for blob in S3Blobs("s3://bucket/apart", env).list("one/")] == ["one/a"]
