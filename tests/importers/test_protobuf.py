"""Messages are read by their wire types; whatever the bytes are, nothing but WireError comes out."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strobe.importers.protobuf import Message, WireError
from tests.importers.encoding import field, single, varint


def test_fields_have_the_values_that_were_written() -> None:
    content = (
        field(1, -5) + field(2, "tést") + field(3, 2.5) + single(4, 0.5) + field(5, field(1, 7)) + field(2, "last")
    )
    message = Message(content)
    assert message.integer(1) == -5
    assert (message.text(2), message.texts(2)) == ("last", ["tést", "last"])
    assert (message.double(3), message.single(4)) == (2.5, 0.5)
    inner = message.message(5)
    assert inner is not None
    assert inner.integer(1) == 7
    assert message.numbers == [1, 2, 3, 4, 5]


def test_what_is_not_there_is_nothing() -> None:
    message = Message(b"")
    assert (message.integer(1), message.double(2), message.text(3), message.message(4)) == (0, 0.0, "", None)
    assert 1 not in message


def test_numbers_may_be_packed_or_not() -> None:
    packed = Message(field(1, struct.pack("<3d", 1, 2, 3)) + field(2, varint(1) + varint(300)) + field(2, 4))
    assert packed.numbers_of(1, "d") == [1.0, 2.0, 3.0]
    assert packed.numbers_of(2, "v") == [1, 300, 4]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"\x08", "cut short"),
        (b"\x0a\x05abc", "3 of 5 bytes"),
        (b"\x0b", "wire type 3"),
        (b"\x08" + b"\xff" * 11, "longer than 64 bits"),
    ],
)
def test_what_is_wrong_is_said(content: bytes, reason: str) -> None:
    with pytest.raises(WireError, match=reason):
        Message(content)


def test_a_field_of_another_kind_is_no_value() -> None:
    message = Message(field(1, 5) + field(2, "x"))
    for read in (message.text, message.double, message.message):
        with pytest.raises(WireError):
            read(1)
    with pytest.raises(WireError):
        message.integer(2)
    with pytest.raises(WireError):
        message.numbers_of(2, "d")


@given(st.binary(max_size=60))
def test_no_bytes_raise_anything_else(content: bytes) -> None:
    try:
        message = Message(content)
        for number in message.numbers:
            for read in (message.integer, message.double, message.single, message.content, message.message):
                try:
                    read(number)
                except WireError:
                    continue
    except WireError:
        return
