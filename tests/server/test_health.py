"""Health, readiness, figures, the log, and what the server says of itself."""

from __future__ import annotations

import io
import json
import logging
import re
import sys

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from strobe._version import __version__
from strobe.errors import StoreBusy
from strobe.server.endpoint import Call, endpoint
from strobe.server.log import open_log, without_secrets
from strobe.server.registry import Counter, Gauge, Histogram, render
from strobe.server.services import ServerSettings, open_services
from tests.server.conftest import Stage


def test_the_handshake_to_strangers_and_to_friends(stage: Stage) -> None:
    stranger = stage.ask("GET", "/api/v1/server").json()
    assert stranger.pop("limits")["batch_bytes"] > 0
    assert stranger == {
        "server": "strobe", "version": __version__, "protocols": [1, 1], "auth": True,
        "entity": None, "user": None, "scopes": [],
    }  # fmt: skip
    friend = stage.ask("GET", "/api/v1/server", key=stage.key("ada")).json()
    assert (friend["entity"], friend["user"], friend["scopes"]) == ("ada", "ada", ["read", "write"])


def test_the_handshake_of_this_machine(local: Stage) -> None:
    answer = local.ask("GET", "/api/v1/server").json()
    assert (answer["auth"], answer["entity"], answer["user"]) == (False, "local", None)


# -- health


def test_a_server_that_is_well(stage: Stage) -> None:
    assert stage.ask("GET", "/healthz").json() == {"status": "ok"}
    assert stage.ask("GET", "/readyz").json() == {"status": "ok"}


def test_a_server_that_is_about_to_stop_lives_but_wants_no_more(stage: Stage) -> None:
    stage.services.stopping.set()
    assert stage.ask("GET", "/healthz").status_code == 200
    answer = stage.ask("GET", "/readyz")
    assert (answer.status_code, answer.json()["type"]) == (503, "urn:strobe:problem:stopping")


def test_a_store_that_does_not_answer(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    def has_live() -> bool:
        raise StoreBusy("postgresql://strobe:pass@db is away")

    monkeypatch.setattr(stage.store.accounts.keys, "has_live", has_live)
    answer = stage.ask("GET", "/readyz")
    assert answer.status_code == 503
    assert "pass" not in answer.text, "strangers learn nothing of the store"
    assert stage.ask("GET", "/healthz").status_code == 200


# -- figures


def figures(text: str) -> dict[str, float]:
    """Return name and labels → value, as a real collector's parser reads the text."""
    found = {}
    for family in text_string_to_metric_families(text):  # type: ignore[no-untyped-call]  # the library's
        for sample in family.samples:
            labels = ",".join(f"{name}={value}" for name, value in sorted(sample.labels.items()))
            found[f"{sample.name}{{{labels}}}"] = sample.value
    return found


def test_requests_are_counted_by_template(local: Stage) -> None:
    for path in ("/api/v1/server", "/api/v1/server", "/no/such/path", "/api/v1/server?x=1"):
        local.ask("GET", path)
    answer = local.ask("GET", "/metrics")
    assert answer.headers["content-type"].startswith("application/openmetrics-text; version=1.0.0")
    found = figures(answer.text)
    assert found["strobe_requests_total{endpoint=/api/v1/server,method=GET,status=200}"] == 2
    assert found["strobe_requests_total{endpoint=/api/v1/server,method=GET,status=422}"] == 1
    assert found["strobe_requests_total{endpoint=none,method=GET,status=404}"] == 1
    assert found["strobe_errors_total{kind=not-found}"] == 1
    assert found["strobe_request_seconds_count{endpoint=/api/v1/server,method=GET}"] == 3
    assert found["strobe_request_seconds_bucket{endpoint=/api/v1/server,le=+Inf,method=GET}"] == 3
    assert found["strobe_requests_in_flight{}"] == 1
    assert not any("store_bytes" in name for name in found), "what is not known is not shown"


def test_invented_methods_are_one(local: Stage) -> None:
    for method in ("BREW", "STIR"):
        local.ask(method, "/nope")
    assert (
        figures(local.ask("GET", "/metrics").text)["strobe_requests_total{endpoint=none,method=other,status=404}"] == 2
    )


def test_figures_need_a_key_unless_opened(stage: Stage) -> None:
    assert stage.ask("GET", "/metrics").status_code == 401
    assert stage.ask("GET", "/metrics", key=stage.key("ada", "read")).status_code == 200
    stage.open(ServerSettings(is_metrics_open=True))
    assert stage.ask("GET", "/metrics").status_code == 200


def test_two_applications_share_no_figures(local: Stage) -> None:
    local.ask("GET", "/healthz")
    first = local.services.metrics
    local.open(local.settings)
    assert first.requests.value("GET", "/healthz", "200") == 1
    assert local.services.metrics.requests.value("GET", "/healthz", "200") == 0


def test_the_size_of_the_store(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    log = logging.getLogger("strobe.server")
    services = open_services(stage.store, ServerSettings(), log)
    assert figures(services.metrics.text())["strobe_store_bytes{}"] > 10_000

    def read(ask: object) -> int:
        raise StoreBusy("away")

    monkeypatch.setattr(stage.store.database, "read", read)
    assert "strobe_store_bytes{}" not in figures(services.metrics.text()), "the other figures are shown all the same"


def test_the_text_of_figures() -> None:
    counter = Counter("c", "Help.", ["label"])
    counter.add(2, 'a"b\\c\nd')
    gauge = Gauge("g", "Help.")
    gauge.ask(lambda: 1.5)
    histogram = Histogram("h", "Help.", [1, 2])
    for value in (0.5, 1, 1.5, 99):
        histogram.observe(value)
    found = figures(render([counter, gauge, histogram]))
    assert found == {
        'c_total{label=a"b\\c\nd}': 2, "g{}": 1.5, "h_bucket{le=1.0}": 2, "h_bucket{le=2.0}": 3,
        "h_bucket{le=+Inf}": 4, "h_count{}": 4, "h_sum{}": 102,
    }  # fmt: skip


# -- the log


def logged(stage: Stage, format_: str = "json") -> io.StringIO:
    stream = io.StringIO()
    open_log(format_, stream, level=logging.DEBUG)  # type: ignore[arg-type]  # a literal
    return stream


@pytest.fixture(autouse=True)
def _log_as_before() -> object:
    yield
    log = logging.getLogger("strobe.server")
    log.handlers.clear()
    log.propagate = True
    log.setLevel(logging.NOTSET)


def test_a_line_per_request(stage: Stage) -> None:
    stream = logged(stage)
    answer = stage.ask("GET", "/api/v1/server", key=stage.key("ada"))
    (line,) = map(json.loads, stream.getvalue().splitlines())
    assert line["request"] == answer.headers["x-request-id"]
    assert (line["event"], line["method"], line["path"], line["status"]) == ("request", "GET", "/api/v1/server", 200)
    assert (line["caller"], line["address"], line["level"]) == ("ada", "127.0.0.1", "info")
    assert line["ms"] > 0
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", line["time"])


def test_a_request_id_is_taken_over_if_it_is_one(stage: Stage) -> None:
    assert stage.ask("GET", "/healthz", headers={"X-Request-ID": "abc-123.45"}).headers["x-request-id"] == "abc-123.45"
    for strange in ("short", "x" * 65, "a b c d e f g", 'quote"quote"'):
        assert stage.ask("GET", "/healthz", headers={"X-Request-ID": strange}).headers["x-request-id"] != strange


@pytest.mark.parametrize("format_", ["json", "text"])
def test_secrets_are_never_logged(stage: Stage, format_: str) -> None:
    key = stage.key("ada")

    @endpoint("GET", "/fails", access="open", tag="t")
    async def fails(call: Call) -> None:
        raise RuntimeError(f"I hold {call.request.headers['authorization']} of postgresql://strobe:hunter2@db/x")

    stage.serve(fails)
    stream = logged(stage, format_)
    stage.ask("GET", "/fails", key=key)
    stage.ask("GET", f"/api/v1/{key}?token=signed")
    stage.ask("POST", "/api/v1/login", json={"key": key})
    text = stream.getvalue()
    assert "RuntimeError" in text
    for secret in (key.split("_")[2], "hunter2", "token=signed"):
        assert secret not in text
    assert key.split("_")[1] in text, "the public part helps to find the key"


def test_nobody_writes_lines_of_their_own_into_the_log(stage: Stage) -> None:
    stream = logged(stage, "text")
    stage.ask("GET", "/a%0A12:00:00 forged")
    assert len(stream.getvalue().splitlines()) == 1


def test_the_log_goes_to_what_is_stderr_by_then(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = io.StringIO(), io.StringIO()
    monkeypatch.setattr(sys, "stderr", first)
    log = open_log("json", name="strobe.test")
    monkeypatch.setattr(sys, "stderr", second)
    first.close()
    log.info("hello")
    assert json.loads(second.getvalue())["event"] == "hello"


def test_what_is_cut_out() -> None:
    assert without_secrets("Authorization: Basic YXBpOmtleQ==") == "Authorization: Basic ****"
    assert without_secrets("a bearer of news") == "a bearer of news"
    assert without_secrets("https://host/path") == "https://host/path"
    assert (
        without_secrets('{"path":"/api/v1/links/abc-_.def","status":204}')
        == '{"path":"/api/v1/links/****","status":204}'
    )
