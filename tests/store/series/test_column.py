"""The codec: exact for every number, small for what is logged, and never a wrong value from changed bytes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from strobe.store.series.column import Array, PageCorrupt, decode, encode

_I64 = st.integers(-(2**63), 2**63 - 1)


@st.composite
def matrices(draw: st.DrawFn) -> tuple[Array, Array]:
    rows = draw(st.integers(0, 20))
    small = draw(st.sampled_from([_I64, st.integers(-3, 3), st.just(7), st.integers(0, 70_000)]))
    ints = draw(arrays.arrays(np.int64, (draw(st.integers(0, 4)), rows), elements=small))
    bits = draw(arrays.arrays(np.int64, (draw(st.integers(0, 3)), rows), elements=_I64))
    return ints, (bits & draw(st.sampled_from([-1, -(2**24), -(2**56), 0]))).view(np.float64)


def _assert_same(got: tuple[Array, Array], expected: tuple[Array, Array]) -> None:
    np.testing.assert_array_equal(got[0], expected[0], strict=True)
    np.testing.assert_array_equal(got[1].view(np.int64), expected[1].view(np.int64), strict=True)


@given(matrices())
def test_every_number_comes_back_bit_by_bit(columns: tuple[Array, Array]) -> None:
    _assert_same(decode(encode(*columns)), columns)


@given(matrices())
def test_a_page_cut_at_any_byte_is_refused(columns: tuple[Array, Array]) -> None:
    blob = encode(*columns)
    for length in range(len(blob)):
        with pytest.raises(PageCorrupt):
            decode(blob[:length])
    with pytest.raises(PageCorrupt):
        decode(blob + b"\0")


@given(matrices(), st.data())
def test_a_flipped_bit_is_refused(columns: tuple[Array, Array], data: st.DataObject) -> None:
    blob = bytearray(encode(*columns))
    bit = data.draw(st.integers(0, len(blob) * 8 - 1))
    blob[bit // 8] ^= 1 << bit % 8
    with pytest.raises(PageCorrupt):
        decode(bytes(blob))


def test_a_newer_format_says_which_is_read() -> None:
    with pytest.raises(PageCorrupt, match=r"page format 9, this Strobe reads 1; upgrade"):
        decode(b"\x09" + encode(np.zeros((1, 2), np.int64), np.zeros((0, 2)))[1:])


def test_what_does_not_vary_takes_nothing_and_float32_takes_five_bytes() -> None:
    count = 1000
    ints = np.stack([np.arange(count) * 7 + 2**62, np.full(count, -5)])
    noise = np.random.default_rng(1).normal(size=count)
    exact = len(encode(ints, noise[None]))
    single = len(encode(ints, noise.astype(np.float32).astype(np.float64)[None]))
    constant = len(encode(ints, np.full((1, count), 0.1)))
    assert exact < 8 * count + 100
    assert single < 5 * count + 100
    assert constant < 100
