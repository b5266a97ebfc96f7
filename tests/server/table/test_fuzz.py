"""Anything may be asked of the runs table: never a 5xx, and every error is a problem that says something."""

from __future__ import annotations

import json
import math
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from strobe.server.rate import Rate
from strobe.server.services import RateLimits, Rates
from tests.server.table.conftest import Table

words = st.sampled_from(
    [
        "config.a",
        "summary.b",
        "state",
        "created_ns",
        "runtime",
        "tags",
        "id",
        "config.a.value",
        "-",
        "nonsense",
        "config.",
    ]
) | st.text(max_size=8)
operators = st.sampled_from(
    ["$and", "$or", "$nor", "$not", "$eq", "$ne", "$gt", "$lt", "$in", "$exists", "$regex", "$x"]
)
scalars = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.sampled_from([10**400, 2**63])
)
filters = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words | operators, inner, max_size=3),
    max_leaves=8,
)
texts = words | filters.map(json.dumps) | st.binary(max_size=10).map(lambda raw: raw.decode("latin-1"))
PLACES = ["runs", "groups", "fields", "fields/texts", "export", "views"]
PARAMETERS = [
    "filter", "sort", "cursor", "limit", "count", "columns", "group", "group_key", "by", "metrics", "prefix",
    "contains", "field", "format", "deleted",
]  # fmt: skip


@settings(
    max_examples=300,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    place=st.sampled_from(PLACES),
    params=st.dictionaries(st.sampled_from(PARAMETERS), texts, max_size=3),
    wanted=st.none() | st.dictionaries(words | operators, filters, max_size=3),
    sign=st.sampled_from(["", "-", "+"]),
)
def test_anything_may_be_asked(
    table: Table, place: str, params: dict[str, str], wanted: dict[str, Any] | None, sign: str
) -> None:
    _fill(table)
    if wanted is not None and place in ("runs", "groups", "export"):
        params["filter"] = json.dumps(wanted)
    if "sort" in params:
        params["sort"] = sign + params["sort"]
    if place == "groups":
        params.setdefault("by", "config.a")
    answer = table.ask("GET", f"/projects/ann/p/{place}", params=params)
    _check(answer)


@settings(
    max_examples=100,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    body=st.dictionaries(
        st.sampled_from(["name", "notes", "tags", "group", "config", "config_removed", "summary", "summary_removed"]),
        filters | st.lists(st.text(max_size=5), max_size=3) | st.dictionaries(st.text(max_size=5), filters, max_size=3),
        max_size=4,
    )
)
def test_any_edit_may_be_tried(table: Table, body: dict[str, Any]) -> None:
    _fill(table)
    try:
        content = json.dumps(body).encode()
    except UnicodeEncodeError:
        return
    headers = {"Content-Type": "application/json"}
    _check(table.ask("PATCH", "/runs/ann/p/r0", content=content, headers=headers))
    table.stage.store.settler.settle()
    _check(table.ask("GET", "/projects/ann/p/runs"))
    _check(table.ask("GET", "/projects/ann/p/export"))
    _check(table.ask("POST", "/diff", json={"runs": ["ann/p/r0", "ann/p/r1"]}))


def _fill(table: Table) -> None:
    rates = RateLimits(key=Rate(per_s=10**6, burst=10**6))
    object.__setattr__(table.stage.services, "rates", Rates(rates))
    if table.stage.store.projects.get("ann", "p") is None:
        for number, value in enumerate([1, "t", math.nan, None, [1, "x"], {"value": 2}, True, 2**70]):
            table.add(f"r{number}", config={"a": value}, summary={"b": value}, attributes={"tags": ["t"]})


def _check(answer: Any) -> None:
    assert answer.status_code < 500, answer.text
    if answer.status_code >= 400:
        assert answer.json()["detail"], answer.text
