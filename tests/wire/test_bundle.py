"""Bundles of small files: what goes in comes out, and what is cut short or made up is noticed."""

from __future__ import annotations

import hashlib
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strobe.errors import CommError
from strobe.wire.bundle import FileHead, decode_bundle, encode_file


def head_of(path: str, content: bytes, **more: int | str | None) -> FileHead:
    return FileHead(path=path, size=len(content), sha256=hashlib.sha256(content).hexdigest(), **more)  # type: ignore[arg-type]  # a few fields


files = st.lists(st.tuples(st.text(max_size=20), st.binary(max_size=50)), max_size=6)


@given(files)
def test_what_goes_in_comes_out(sent: list[tuple[str, bytes]]) -> None:
    heads = [head_of(path, content, mtime_ns=number, over="none") for number, (path, content) in enumerate(sent)]
    body = b"".join(encode_file(head, content) for head, (_, content) in zip(heads, sent, strict=True))
    found = decode_bundle(body, max_files=6)
    assert [head for head, _ in found] == heads
    assert [bytes(content) for _, content in found] == [content for _, content in sent]


def test_one_that_is_cut_short_is_noticed_at_every_byte() -> None:
    body = b"".join(encode_file(head_of(name, b"12345"), b"12345") for name in ("a", "b"))
    whole = {0, len(body) // 2, len(body)}
    for cut in set(range(len(body) + 1)) - whole:
        with pytest.raises(CommError):
            decode_bundle(body[:cut], max_files=10)


@given(st.binary(max_size=200))
def test_anything_else_is_refused(body: bytes) -> None:
    with suppress(CommError):
        decode_bundle(body, max_files=10)


def test_too_many_are_refused() -> None:
    body = encode_file(head_of("a", b""), b"") * 3
    assert len(decode_bundle(body, max_files=3)) == 3
    with pytest.raises(CommError, match="more than 2 files"):
        decode_bundle(body, max_files=2)
