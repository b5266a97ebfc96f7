"""Filters mean what wandb's mean, and what they do not know they refuse."""

from __future__ import annotations

from typing import Any

import pytest

from strobe.api.filter import ABSENT, compile_filter, dig
from strobe.errors import UsageError

RUN: dict[str, Any] = {
    "state": "finished",
    "tags": ["good", "v2"],
    "display_name": "brave-fox-3",
    "config": {
        "lr": 0.1,
        "layers": 3,
        "use_bias": True,
        "nan": float("nan"),
        "flags": [True],
        "opt": {"name": "adam"},
        "a.b": 7,
    },
}


def matches(filters: Any) -> bool:
    return compile_filter(filters)(lambda field: dig(RUN, field))


@pytest.mark.parametrize(
    "filters",
    [
        None,
        {},
        {"state": "finished"},
        {"tags": "good"},
        {"tags": {"$in": ["bad", "v2"]}},
        {"config.lr": 0.1, "config.layers": {"$gte": 3, "$lt": 4}},
        {"config.opt.name": {"$ne": "sgd"}},
        {"config.a.b": 7},
        {"config.missing": None},
        {"config.missing": {"$exists": False}},
        {"config.missing": {"$nin": [1, 2]}},
        {"$or": [{"state": "failed"}, {"config.lr": {"$gt": 0.01}}]},
        {"$and": [{"state": "finished"}, {"$not": {"tags": "bad"}}]},
        {"$nor": [{"state": "failed"}, {"state": "crashed"}]},
        {"display_name": {"$regex": "^brave"}},
        {"tags": {"$regex": "^v"}},
        {"config.lr": {"$not": {"$gt": 0.5}}},
        {"config.lr": {"$eq": 0.1}},
        {"config.nan": float("nan")},
        {"config.flags": True},
        {"config.flags": [True]},
    ],
)
def test_matching(filters: Any) -> None:
    assert matches(filters)


@pytest.mark.parametrize(
    "filters",
    [
        {"state": "running"},
        {"tags": "bad"},
        {"config.use_bias": 1},
        {"config.lr": {"$gt": "0"}},
        {"config.missing": {"$gt": 0}},
        {"config.missing": {"$exists": True}},
        {"config.lr": {"$nin": [0.1]}},
        {"display_name": {"$regex": "^fox"}},
        {"config.use_bias": {"$gt": 0}},
        {"config.nan": {"$gte": float("nan")}},
        {"config.flags": 1},
        {"config.flags": [1]},
    ],
)
def test_not_matching(filters: Any) -> None:
    assert not matches(filters)


@pytest.mark.parametrize(
    ("filters", "said"),
    [
        ({"config.lr": {"$near": 1}}, r"\$near is not supported"),
        ({"$where": "x"}, r"\$where is not supported"),
        ({"$or": {}}, "non-empty list"),
        ({"name": {"$in": "abc"}}, "takes a list"),
        ({"name": {"$regex": "("}}, "regular expression"),
        (["state"], "must be a dict"),
    ],
)
def test_what_is_not_understood_is_an_error_before_any_run_is_read(filters: Any, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        compile_filter(filters)


def test_dig_prefers_the_longest_key() -> None:
    assert dig({"a.b": {"c": 1}, "a": {"b": {"c": 2}}}, "a.b.c") == 1
    assert dig({"a": 1}, "a.b") is ABSENT
