"""Ticks: few, within their axis, rising, told apart by their labels; and scales that keep the order."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strobe.drawing.scale import Scale, fit_scale
from strobe.drawing.ticks import duration_ticks, number, ticks_of, time_ticks

finite = st.floats(allow_nan=False, allow_infinity=False)


@given(st.sampled_from(["linear", "log", "symlog"]), st.lists(finite, max_size=6), st.integers(2, 12))
def test_ticks_are_few_and_rise(kind: Any, values: list[float], count: int) -> None:
    scale = fit_scale(kind, values, is_padded=True)
    ticks = ticks_of(scale, count)
    assert len(ticks) <= 40
    assert all(a.value < b.value for a, b in pairwise(ticks))
    slack = (scale.high / 2 - scale.low / 2) * 1e-6
    assert all(scale.low / 2 - slack <= tick.value / 2 <= scale.high / 2 + slack for tick in ticks)


@given(st.sampled_from(["linear", "log", "symlog"]), st.lists(finite, min_size=2, max_size=6))
def test_scales_keep_the_order(kind: Any, values: list[float]) -> None:
    scale = fit_scale(kind, values, is_padded=True)
    shown = sorted(value for value in values if kind != "log" or value > 0)
    places = [scale.place(value) for value in shown]
    assert all(place is not None and -1e-9 <= place <= 1 + 1e-9 for place in places)
    assert places == sorted(places)  # type: ignore[type-var]


@pytest.mark.parametrize(
    ("low", "high", "labels"),
    [
        (0, 1, ["0", "0.2", "0.4", "0.6", "0.8", "1.0"]),
        (0, 20_000, ["0", "5k", "10k", "15k", "20k"]),
        (0, 2_000_000, ["0", "0.5M", "1.0M", "1.5M", "2.0M"]),
        (-4, 4, ["-4", "-2", "0", "2", "4"]),
        (0, 5e-5, ["0", "1e-5", "2e-5", "3e-5", "4e-5", "5e-5"]),
        (1e15, 1e15 + 4, ["1.000000000000000e15", "1.000000000000001e15", "1.000000000000002e15",
                          "1.000000000000003e15", "1.000000000000004e15"]),
    ],
)  # fmt: skip
def test_numbers(low: float, high: float, labels: list[str]) -> None:
    assert [tick.label for tick in ticks_of(Scale("linear", low, high), 5)] == labels


def test_logarithms() -> None:
    assert [tick.label for tick in ticks_of(Scale("log", 1e-6, 1e6), 5)] == [
        *("1e-6", "1e-4", "0.01", "1", "100", "10000", "1e6"),
    ]
    assert [tick.label for tick in ticks_of(Scale("log", 0.5, 12), 6)] == ["0.5", "1", "2", "5", "10"]
    assert [tick.label for tick in ticks_of(Scale("log", 2.1, 2.4), 3)] == ["2.1", "2.2", "2.3", "2.4"]
    symmetric = [tick.label for tick in ticks_of(Scale("symlog", -1000, 1000, 1.0), 8)]
    assert symmetric == ["-1000", "-100", "-10", "0", "10", "100", "1000"]


def test_times() -> None:
    assert [tick.label for tick in duration_ticks(Scale("linear", 0, 7200), 4)] == ["0", "30m", "1h", "1h 30m", "2h"]
    assert [tick.label for tick in duration_ticks(Scale("linear", 0, 1), 2)] == ["0s", "0.5s", "1.0s"]
    midnight = 1_700_006_400  # 2023-11-15
    labels = [tick.label for tick in time_ticks(Scale("linear", midnight - 7200, midnight + 7200), 5)]
    assert labels == ["11-14 22:00", "23:00", "11-15 00:00", "01:00", "02:00"]
    assert [tick.label for tick in time_ticks(Scale("linear", midnight, midnight + 86400 * 3), 4)] == [
        "2023-11-15", "2023-11-16", "2023-11-17", "2023-11-18",
    ]  # fmt: skip
    assert time_ticks(Scale("linear", 1e18, 2e18), 4) == []


def test_a_number_for_people() -> None:
    found = [number(value) for value in (0, 0.25, 12_345, 3_500_000, 1e-7, float("nan"), float("-inf"), 1e300)]
    assert found == ["0", "0.25", "12.35k", "3.5M", "1e-07", "NaN", "-inf", "1e+300"]
