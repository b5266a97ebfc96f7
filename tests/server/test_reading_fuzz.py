"""Whatever is asked for with a GET, or of series and comparisons: an answer or a clear 4xx, never a server's fault."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from strobe.journal import event as ev
from strobe.server.endpoint import Endpoint
from strobe.server.routes import (
    alerts,
    chart,
    console,
    diff,
    export,
    live,
    metrics,
    objects,
    projects,
    runs,
    series,
    usage,
    views,
)
from tests.server.conftest import Stage
from tests.server.live.conftest import Logger

ODD = st.sampled_from(
    [
        "",
        "0",
        "1",
        "-1",
        "5",
        str(2**63 - 1),
        str(-(2**63)),
        str(2**64),
        "1e3",
        "NaN",
        "true",
        "\x00",
        "é漢",
        "(",
        "a*",
        "%00",
    ]
)
TEXTS = ODD | st.text(max_size=8)
NAMES = {"entity": "team", "project": "p", "run": "r", "rule": "1", "sink": "1", "view": "v"}
MODULES = (chart, console, objects, alerts, live, series, metrics, runs, projects, usage, views, export)
READING = [found for module in MODULES for found in module.ENDPOINTS if found.method == "GET"]
ASKING = [
    found
    for module in (series, metrics, diff)
    for found in module.ENDPOINTS
    if found.method == "POST" and found.access == "read"
]
RUNS = st.sampled_from(["team/p/r", "team/p/not-there", "team/p", "", "local/p/r"])
KEYS = st.sampled_from(["loss", "note", "missing", "_step", "a\0"]) | st.text(max_size=4)
NUMBERS = st.sampled_from([0, 1, -1, 3, 20_000, 2**63 - 1, -(2**63), 2**63, 10**30, 1.5])
#: values that make sense for a field by its name; anything else is drawn for all of them now and then
LIKELY: dict[str, st.SearchStrategy[Any]] = {
    "runs": st.lists(RUNS, max_size=3),
    "keys": st.lists(KEYS, max_size=3),
    "axis": st.sampled_from(["step", "time", "relative", "wall"]),
    "x_key": KEYS,
    "columns": st.lists(st.sampled_from(["min", "max", "count", "first", "step", "nonsense"]), max_size=3),
    "format": st.sampled_from(["json", "binary"]),
    "sections": st.lists(st.sampled_from(["config", "summary", "environment"]), max_size=3),
}
ANYTHING = NUMBERS | TEXTS | st.none() | st.booleans() | st.lists(TEXTS | NUMBERS, max_size=3)
#: a run of this name is not there: a stream that is there would not end
_NO_STREAM = {"watch_live"}


@pytest.fixture
def told(local: Stage) -> Stage:
    logger = Logger(local.store, clock=local.clock)
    logger.say(ev.Console(time_ns=local.clock(), stream="stdout", text="hello\nworld\n" * 300))
    logger.log(0, note="text", loss=1.0)
    return local


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(READING), st.data())
def test_reading_never_fails(told: Stage, endpoint: Endpoint, data: st.DataObject) -> None:
    path = endpoint.route
    for name, usual in NAMES.items():
        if "{" + name + "}" in path:
            path = path.replace("{" + name + "}", data.draw(st.just(usual) | ODD.filter(_fits_a_path), label=name))
    query: list[tuple[str, Any]] = []
    if endpoint.query is not None:
        for field in endpoint.query.fields:
            if data.draw(st.booleans()):
                query.append((field.encode_name, data.draw(TEXTS, label=field.encode_name)))
    if endpoint.name in _NO_STREAM:
        query.append(("runs", "team/p/not-there"))
    answer = told.ask("GET", path, params=query)
    assert answer.status_code < 500, (path, query, answer.text)
    if answer.status_code >= 400:
        assert answer.headers["content-type"] == "application/problem+json"


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(ASKING), st.data())
def test_questions_with_a_body_never_fail(told: Stage, endpoint: Endpoint, data: st.DataObject) -> None:
    body: dict[str, Any] = {"runs": ["team/p/r"] * (1 + (endpoint.name == "diff_runs")), "keys": ["loss"]}
    fields = endpoint.body.__struct_fields__
    for field in data.draw(st.lists(st.sampled_from(fields), max_size=4), label="fields"):
        body[field] = data.draw(
            st.one_of(LIKELY.get(field, NUMBERS), LIKELY.get(field, NUMBERS), ANYTHING), label=field
        )
    body = {field: found for field, found in body.items() if field in fields}
    answer = told.ask("POST", endpoint.route, json=body)
    assert answer.status_code < 500, (endpoint.name, body, answer.text)
    if answer.status_code >= 400:
        assert answer.headers["content-type"] == "application/problem+json"


def _fits_a_path(text: str) -> bool:
    return bool(text) and "\x00" not in text and "%" not in text
