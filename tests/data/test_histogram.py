"""Histograms count as numpy does, with and without it, and lose no value."""

from __future__ import annotations

import math
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from strobe.data.histogram import Histogram, _count_sorted, _edges

finite = st.floats(allow_nan=False, allow_infinity=False)


@given(st.lists(st.floats(-1e9, 1e9) | st.integers(-1000, 1000), max_size=60), st.integers(1, 80))
def test_lists_are_counted_as_numpy_counts(values: list[float], num_bins: int) -> None:
    try:
        counts, edges = np.histogram(np.array(values, np.float64), bins=num_bins)
    except ValueError:  # "cannot create that many bins"
        assume(False)
    assume(len(set(edges.tolist())) == num_bins + 1)
    ours = Histogram(values, num_bins=num_bins)
    np.testing.assert_allclose(ours.bins, edges, rtol=1e-12, atol=1e-300)
    if ours.bins == edges.tolist():
        assert ours.histogram == counts.tolist()
    assert sum(ours.histogram) == len(values)


@given(st.lists(st.floats(width=32), max_size=50), st.integers(1, 20))
def test_lists_and_arrays_agree_and_no_value_is_lost(values: list[float], num_bins: int) -> None:
    of_list, of_array = Histogram(values, num_bins=num_bins), Histogram(np.array(values), num_bins=num_bins)
    for found in (of_list, of_array):
        assert sum(found.histogram) + found.nan + found.posinf + found.neginf == len(values)
        assert found.bins == sorted(found.bins)
        assert all(map(math.isfinite, found.bins))
    assert (of_list.nan, of_list.posinf, of_list.neginf) == (of_array.nan, of_array.posinf, of_array.neginf)
    assert of_list.bins == pytest.approx(of_array.bins)


@given(st.lists(finite, min_size=1, max_size=30), st.integers(1, 30))
def test_any_finite_values_find_a_bin(values: list[float], num_bins: int) -> None:
    edges = _edges(min(values), max(values), num_bins)
    assert all(map(math.isfinite, edges))
    assert sum(_count_sorted(sorted(values), edges)) == len(values)
    assert sum(Histogram(np.array(values), num_bins=num_bins).histogram) == len(values)


def test_record() -> None:
    record = Histogram([1, 2, 2, 3, math.nan, math.inf], num_bins=2).record()
    assert record == {"_type": "histogram", "values": [1, 3], "bins": [1.0, 2.0, 3.0], "nan": 1, "posinf": 1}
    assert "nan" not in Histogram([1]).record()


def test_default_and_largest_number_of_bins() -> None:
    assert len(Histogram([1, 2]).histogram) == 64
    assert len(Histogram([1, 2], num_bins=512).bins) == 513
    for num_bins in (0, 513):
        with pytest.raises(ValueError, match=f"num_bins must be from 1 to 512, got {num_bins}"):
            Histogram([1], num_bins=num_bins)


def test_no_values_and_one_value() -> None:
    assert Histogram([], num_bins=2).record() == {"_type": "histogram", "values": [0, 0], "bins": [0.0, 0.5, 1.0]}
    assert Histogram([5, 5], num_bins=1).bins == [4.5, 5.5]
    assert Histogram(np.array([]), num_bins=2).histogram == [0, 0]
    assert Histogram([math.nan]).nan == 1


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i1", "i8", "u1", "?"])
def test_arrays_of_any_number(dtype: str) -> None:
    found = Histogram(np.array([[0, 1], [1, 1]]).astype(dtype), num_bins=2)
    assert found.histogram == [1, 3]


@pytest.mark.parametrize(
    "values", [range(10), (1.5, 2.5), iter([1, 2]), [[1, 2], [3, 4]], [np.float32(1), np.float32(2)]]
)
def test_other_sequences(values: Any) -> None:
    assert sum(Histogram(values).histogram) >= 2


def test_a_given_histogram() -> None:
    counts, edges = np.histogram([1, 2, 3], bins=3)
    assert Histogram(np_histogram=(counts, edges)) == Histogram([1, 2, 3], num_bins=3)
    assert Histogram(np_histogram=([0.5], [0, 1])).histogram == [0.5]


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({}, ValueError, "needs values"),
        ({"np_histogram": ([1], [1])}, ValueError, "1 counts need 2 edges, got 1"),
        ({"np_histogram": [1, 2, 3]}, ValueError, r"must be \(counts, edges\)"),
        ({"np_histogram": ([0] * 600, [0] * 601)}, ValueError, "at most 512 bins, got 600"),
        ({"sequence": ["a", "b"]}, TypeError, "counts numbers"),
        ({"sequence": np.array([1j])}, TypeError, "counts numbers, got values of type complex128"),
    ],
)
def test_mistakes(arguments: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        Histogram(**arguments)


_WITHOUT = """
import sys
from strobe.data import Histogram
found = Histogram([1, 2.5, float("nan")] * 1000)
assert sum(found.histogram) == 2000 and found.nan == 1000
assert "numpy" not in sys.modules
try:
    Histogram(["x"])
except TypeError as exc:
    assert "counts numbers, got 'x' of type str" in str(exc), exc
"""


def test_lists_need_no_numpy() -> None:
    subprocess.run([sys.executable, "-c", _WITHOUT], check=True)
