"""Values become text that fits and tells the truth."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strobe.cli.render import (
    cell_width,
    cut,
    duration_text,
    number_text,
    size_text,
    table,
    value_text,
)

cells = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=30)


@given(st.lists(st.lists(cells, min_size=3, max_size=3), max_size=6), st.integers(30, 120))
def test_a_table_keeps_to_the_width(rows: list[list[str]], width: int) -> None:
    lines = table(["A", "B", "C"], rows, width=width)
    assert len(lines) == len(rows) + 1
    assert all(cell_width(line) <= width for line in lines)
    assert all("\n" not in line for line in lines)


def test_columns_align() -> None:
    assert table(["NAME", "N"], [["a", "1"], ["日本", "22"]], right=("N",)) == ["NAME   N", "a      1", "日本  22"]


def test_without_a_width_nothing_is_cut() -> None:
    assert table(["A"], [["x" * 500]])[1] == "x" * 500


def test_what_is_cut_says_so() -> None:
    assert cut("abcdef", 4) == "abc…"
    assert cut("日本語", 4) == "日…"
    assert table(["A", "B"], [["short", "long" * 10]], width=20)[1] == "short  " + ("long" * 10)[:12] + "…"


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
