"""Values become text that fits and tells the truth."""

from __future__ import annotations

import math

import pytest

from strobe.cli.render import duration_text, number_text, size_text, value_text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "none"),
        (True, "true"),
        (0.1 + 0.2, "0.3"),
        (math.nan, "NaN"),
        (-math.inf, "-inf"),
        (12345678, "12345678"),
        ("text", "text"),
        ([1, math.nan], '[1, "NaN"]'),
        ({"a": None}, '{"a": null}'),
        ({"_type": "image-file", "path": "a.png", "width": 2, "bins": [1]}, "<image-file> path=a.png width=2"),
    ],
)
def test_values(value: object, text: str) -> None:
    assert value_text(value) == text


def test_numbers_sizes_durations() -> None:
    assert number_text(1e-12) == "1e-12"
    assert [size_text(n) for n in (0, 999, 1000, 1_500_000, 2e9, 3e12, 4e15)] == [
        "0 B",
        "999 B",
        "1 kB",
        "1.5 MB",
        "2 GB",
        "3 TB",
        "4 PB",
    ]
    assert [duration_text(s) for s in (None, 0.25, 12, 65, 7800, 90000)] == [
        "",
        "0.2s",
        "12s",
        "1m 05s",
        "2h 10m",
        "1d 1h",
    ]
