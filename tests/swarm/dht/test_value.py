"""Keys and values as bytes."""

from __future__ import annotations

import contextlib
import enum
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


class _Text(str):
    def __str__(self) -> str:
        return "what it shows, not what it is"


class _Color(str, enum.Enum):
    RED = "red"


@pytest.mark.parametrize(
    ("value", "carried"),
    [
        (_Text("t"), "t"),
        (_Color.RED, "red"),
        (enum.IntEnum("Number", "ONE").ONE, 1),  # type: ignore[attr-defined]  # made by the call
        (type("_Count", (int,), {})(2**63), 2**63),
        (type("_Share", (float,), {})(0.5), 0.5),
        (type("_Blob", (bytes,), {})(b"b"), b"b"),
        (type("_Room", (bytearray,), {})(b"r"), b"r"),
        (bytearray(b"r"), b"r"),
    ],
)
def test_subclasses_of_what_msgpack_carries_travel_as_that(value: Any, carried: Any) -> None:
    for outer in (value, [value], (value,), {"k": value}):
        assert pack(outer) == pack(carried if outer is value else _same(outer, carried))
    assert repr(unpack(pack(value))) == repr(carried)


def _same(outer: Any, item: Any) -> Any:
    return {"k": item} if isinstance(outer, dict) else type(outer)([item])


def test_numpy_numbers_that_are_floats_are_carried() -> None:
    numpy = pytest.importorskip("numpy")
    assert unpack(pack({"loss": numpy.float64(0.25)})) == {"loss": 0.25}
    assert place_of(numpy.float64(0.25)) == place_of(0.25)


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
