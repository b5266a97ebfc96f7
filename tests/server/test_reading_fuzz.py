"""Whatever is asked of console, objects, alerts, charts and live: an answer or a clear 4xx, never a server's fault."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from strobe.journal import event as ev
from strobe.server.endpoint import Endpoint
from strobe.server.routes import alerts, chart, console, live, objects
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
NAMES = {"entity": "team", "project": "p", "run": "r", "rule": "1", "sink": "1"}
MODULES = (chart, console, objects, alerts, live)
READING = [found for module in MODULES for found in module.ENDPOINTS if found.method == "GET"]
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


def _fits_a_path(text: str) -> bool:
    return bool(text) and "\x00" not in text and "%" not in text
