"""Series as bytes: columns come out as they went in, where a browser can wrap them."""

from __future__ import annotations

import struct
from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strobe.errors import CommError
from strobe.wire.series import decode_series, encode_series

floats = st.lists(st.floats(allow_nan=False), max_size=9).map(lambda found: array("d", found))
counts = st.lists(st.integers(0, 2**32 - 1), max_size=9).map(lambda found: array("I", found))


@given(st.lists(st.tuples(st.text(max_size=5), floats, counts), max_size=4))
def test_columns_come_out_as_they_went_in(series: list[tuple[str, array[float], array[int]]]) -> None:
    body = encode_series(
        [
            ({"key": key}, {"mean": ("f8", values.tobytes()), "count": ("u4", numbers.tobytes())})
            for key, values, numbers in series
        ]
    )
    found = decode_series(body)
    assert [(facts["key"], columns["mean"], columns["count"]) for facts, columns in found] == series


def test_every_column_begins_at_a_multiple_of_eight() -> None:
    import msgspec

    body = encode_series([({}, {"a": ("u4", b"\0" * 4), "b": ("f8", b"\0" * 8)}), ({}, {"c": ("f8", b"\0" * 16)})])
    (size,) = struct.unpack_from("<Q", body)
    head = msgspec.json.decode(body[8 : 8 + size])
    offsets = [place[1] for series in head["series"] for place in series["columns"].values()]
    assert all(offset % 8 == 0 for offset in offsets)
    assert offsets[0] == 8 + size


@pytest.mark.parametrize("body", [b"", b"\0" * 7, b"\xff" * 8, struct.pack("<Q", 2) + b"{}", b"\0" * 100])
def test_nonsense_is_refused(body: bytes) -> None:
    with pytest.raises(CommError, match="not a body of series"):
        decode_series(body)


def test_a_body_cut_short_is_refused() -> None:
    body = encode_series([({}, {"a": ("f8", b"\0" * 80)})])
    with pytest.raises(CommError, match="ends after"):
        decode_series(body[:-8])
