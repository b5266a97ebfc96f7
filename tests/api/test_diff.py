"""A diff shows what differs, and only that."""

from __future__ import annotations

from typing import Any

import pytest

from strobe.api.diff import diff_mappings, same
from strobe.api.filter import ABSENT
from strobe.errors import UsageError

A: dict[str, Any] = {"lr": 0.1, "model": {"depth": 2, "act": "relu"}, "seed": 1, "nan": float("nan")}
B: dict[str, Any] = {"lr": 0.2, "model": {"depth": 2, "act": "gelu"}, "seed": 2, "nan": float("nan")}


def test_only_differences_by_default() -> None:
    rows = diff_mappings("config", [A, B])
    assert [(row.key, row.values) for row in rows] == [
        ("lr", (0.1, 0.2)),
        ("model.act", ("relu", "gelu")),
        ("seed", (1, 2)),
    ]


def test_three_ways_with_a_missing_key() -> None:
    rows = diff_mappings("config", [{"x": 1}, {"x": 1}, {}])
    assert [row.values for row in rows] == [(1, 1, ABSENT)]


def test_everything_marks_what_differs() -> None:
    rows = diff_mappings("config", [A, B], everything=True)
    assert {row.key: row.differs for row in rows}["model.depth"] is False
    assert len(rows) == 5


def test_ignored_keys_are_left_out() -> None:
    assert [row.key for row in diff_mappings("config", [A, B], ignore=["seed", r"^config\.model"])] == ["lr"]
    with pytest.raises(UsageError, match="regular expression"):
        diff_mappings("config", [A, B], ignore=["("])


def test_sameness_is_a_readers() -> None:
    assert same(1, 1.0)
    assert not same(True, 1)
    assert same([float("nan")], [float("nan")])
    assert not same(None, ABSENT)
