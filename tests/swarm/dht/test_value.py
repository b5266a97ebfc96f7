"""Keys and values as bytes."""

from __future__ import annotations

import contextlib
import hashlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strobe.errors import UsageError
from strobe.swarm.dht.id import BITS, common_prefix, number, place_of
from strobe.swarm.dht.value import Undecodable, pack, unpack

_scalars = (
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False) | st.text() | st.binary()
)
_values: st.SearchStrategy[Any] = st.recursive(
    _scalars,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(st.text() | st.integers(-5, 5), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(_values)
def test_values_come_back_as_they_were_with_their_types(value: Any) -> None:
    again = unpack(pack(value))
    assert again == value
    assert repr(again) == repr(value)  # a tuple is not a list, 1 is not True


@given(st.binary(max_size=200))
def test_garbage_is_a_value_or_undecodable(packed: bytes) -> None:
    with contextlib.suppress(Undecodable):
        unpack(packed)


@pytest.mark.parametrize("value", [{1, 2}, object(), 2**70, [object()], {(1, 2): 3}, "\ud800"])
def test_what_msgpack_cannot_carry_is_refused(value: Any) -> None:
    with pytest.raises(UsageError):
        pack(value)


def test_deep_nesting_is_refused_both_ways() -> None:
    deep: Any = 1
    for _ in range(2000):
        deep = [deep]
    with pytest.raises(UsageError, match="deeper"):
        pack(deep)
    with pytest.raises(Undecodable):
        unpack(b"\x91" * 100_000 + b"\x01")
    tuples = b"\x01"
    for _ in range(100):
        tuples = b"\x91" + tuples
        tuples = b"\xc8" + len(tuples).to_bytes(2, "big") + b"\x40" + tuples
    with pytest.raises(Undecodable):
        unpack(tuples)


def test_places_are_those_of_hivemind() -> None:
    assert place_of("abc") == hashlib.sha1(b"\xa3abc").digest()
    assert place_of(b"abc") == hashlib.sha1(b"abc").digest()
    assert place_of(("a", 1)) == hashlib.sha1(b"\xd6\x40\x92\xa1a\x01").digest()
    assert place_of(("a", 1)) != place_of(["a", 1])


def test_the_common_prefix_of_equal_places_is_all_of_it() -> None:
    assert common_prefix(5, 5) == BITS
    assert common_prefix(0, 1 << (BITS - 1)) == 0
    assert number(b"\x00" * 19 + b"\x07") == 7
