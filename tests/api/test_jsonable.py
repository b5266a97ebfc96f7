"""Whatever a journal holds becomes strict JSON."""

from __future__ import annotations

import json
import struct
from datetime import datetime, timezone
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from strobe.api.jsonable import jsonable
from strobe.journal.value import Array

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary() | st.datetimes(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(values)
def test_every_value_is_strict_json(value: Any) -> None:
    json.loads(json.dumps(jsonable(value), allow_nan=False))


def test_special_floats_keep_their_names() -> None:
    assert jsonable([float("nan"), float("inf"), float("-inf"), 1.5]) == ["NaN", "Infinity", "-Infinity", 1.5]


def test_big_integers_keep_their_digits() -> None:
    assert json.dumps(jsonable(2**80)) == str(2**80)


def test_arrays_become_nested_lists() -> None:
    data = struct.pack("<6f", 0, 1, 2, 3, 4, float("nan"))
    assert jsonable(Array("<f4", (2, 3), data)) == [[0, 1, 2], [3, 4, "NaN"]]
    assert jsonable(Array("float32", (), struct.pack("<f", 2))) == 2
    assert jsonable(Array("|b1", (2,), b"\x01\x00")) == [True, False]
    assert jsonable(Array("<i8", (0, 3), b"")) == []
    assert jsonable(Array("<c8", (1,), b"\0" * 8)) == {"dtype": "<c8", "shape": [1], "base64": "AAAAAAAAAAA="}


def test_moments_are_iso_8601() -> None:
    assert jsonable(datetime(2024, 1, 2, tzinfo=timezone.utc)) == "2024-01-02T00:00:00+00:00"
