"""Alert rules, sinks and alerts over HTTP, from a NaN that is logged to the webhook that hears of it."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from strobe.journal import event as ev
from strobe.server.alerts.settings import EVERYWHERE, AlertSettings
from strobe.server.services import ServerSettings
from tests.server.alerts.sinks import hook_server
from tests.server.conftest import Stage
from tests.server.live.conftest import Logger

PROJECT = "/api/v1/projects/team/p"


@pytest.fixture
def logger(stage: Stage) -> Logger:
    stage.open(ServerSettings(mode="local", alerts=AlertSettings(networks=EVERYWHERE)))
    return Logger(stage.store, clock=stage.clock)


def _made(stage: Stage, path: str, body: dict[str, Any]) -> dict[str, Any]:
    answer = stage.ask("POST", f"{PROJECT}/{path}", json=body)
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()
    return found


def test_from_a_nan_to_a_webhook(stage: Stage, logger: Logger) -> None:
    with hook_server() as hook:
        sink = _made(stage, "alert-sinks", {"name": "hook", "kind": "webhook", "addresses": [hook.url]})
        assert len(sink["secret"]) > 30
        rule = _made(stage, "alert-rules", {"name": "NaN", "condition": {"kind": "nonfinite"}, "level": "ERROR"})
        logger.log(3, loss=float("nan"))
        logger.say(ev.Alert(time_ns=stage.clock(), title="hello", text="from the run"))
        stage.services.courier.deliver_due()
    alerts = stage.ask("GET", f"{PROJECT}/alerts").json()["items"]
    assert [(item["title"], item["kind"], item["rule"]) for item in alerts] == [
        ("hello", "run", None),
        ("NaN: loss: NaN at step 3", "nonfinite", rule["id"]),
    ]
    assert [found["state"] for item in alerts for found in item["deliveries"]] == ["sent", "sent"]
    assert {msgspec.json.decode(body)["title"] for _, _, body in hook.got} == {item["title"] for item in alerts}
    assert stage.ask("GET", "/api/v1/runs/team/p/r/alerts?limit=1").json()["items"] == alerts[:1]


@pytest.mark.parametrize(
    "condition",
    [
        {"kind": "nonfinite", "key": "train/*"},
        {"kind": "threshold", "key": "loss", "op": ">", "value": 10.0, "points": 3},
        {"kind": "stall", "minutes": 10.0},
        {"kind": "state", "states": ["failed", "crashed", "killed"]},
    ],
)
def test_rules_are_made_read_changed_and_removed(stage: Stage, logger: Logger, condition: dict[str, Any]) -> None:
    rule = _made(stage, "alert-rules", {"name": "a", "condition": condition})
    path = f"{PROJECT}/alert-rules/{rule['id']}"
    assert stage.ask("GET", path).json()["condition"] == condition
    changed = stage.ask("PATCH", path, json={"name": "b", "is_enabled": False}).json()
    assert (changed["name"], changed["is_enabled"], changed["condition"]) == ("b", False, condition)
    assert stage.ask("GET", f"{PROJECT}/alert-rules").json()["items"] == [changed]
    assert stage.ask("DELETE", path).status_code == 204
    assert stage.ask("GET", path).status_code == 404


def test_sinks_are_made_changed_tried_and_removed_without_showing_their_secret(stage: Stage, logger: Logger) -> None:
    with hook_server(200, 500) as hook:
        sink = _made(stage, "alert-sinks", {"name": "hook", "kind": "webhook", "addresses": [hook.url]})
        path = f"{PROJECT}/alert-sinks/{sink['id']}"
        assert stage.ask("POST", f"{path}/test").json() == {"is_delivered": True, "error": ""}
        tried = stage.ask("POST", f"{path}/test").json()
        assert (tried["is_delivered"], "500" in tried["error"]) == (False, True)
    assert stage.ask("GET", f"{PROJECT}/alert-sinks").json()["items"][0]["secret"] == ""
    changed = stage.ask("PATCH", path, json={"format": "slack", "min_level": "ERROR"}).json()
    assert (changed["format"], changed["min_level"], changed["secret"]) == ("slack", "ERROR", "")
    assert stage.ask("DELETE", path).status_code == 204
    assert stage.ask("GET", f"{PROJECT}/alert-sinks").json()["items"] == []


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("alert-rules", {"name": "a", "condition": {"kind": "nothing"}}, 422),
        ("alert-rules", {"name": "a", "condition": {"kind": "threshold", "key": "x", "op": "~", "value": 1}}, 422),
        ("alert-rules", {"name": "a", "condition": {"kind": "stall", "minutes": 0}}, 422),
        ("alert-rules", {"name": "a", "condition": {"kind": "state", "states": []}}, 422),
        ("alert-rules", {"name": "", "condition": {"kind": "nonfinite"}}, 422),
        ("alert-rules", {"name": "a", "condition": {"kind": "nonfinite"}, "sinks": [99]}, 400),
        ("alert-sinks", {"name": "a", "kind": "webhook", "addresses": ["ftp://x"]}, 400),
        ("alert-sinks", {"name": "a", "kind": "webhook", "addresses": ["http://a", "http://b"]}, 422),
        ("alert-sinks", {"name": "a", "kind": "email", "addresses": ["x"]}, 400),
        ("alert-sinks", {"name": "a", "kind": "pigeon", "addresses": ["x"]}, 422),
        ("alert-sinks", {"name": "a", "kind": "email", "addresses": []}, 422),
    ],
)
def test_what_cannot_be_is_said_so(stage: Stage, logger: Logger, path: str, body: dict[str, Any], status: int) -> None:
    answer = stage.ask("POST", f"{PROJECT}/{path}", json=body)
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"


def test_who_may_read_sees_rules_but_no_sinks(stage: Stage) -> None:
    Logger(stage.store, clock=stage.clock)
    reader = stage.key("ann", "read")
    assert stage.ask("GET", f"{PROJECT}/alert-rules", key=reader).status_code == 200
    assert stage.ask("GET", f"{PROJECT}/alerts", key=reader).status_code == 200
    assert stage.ask("GET", f"{PROJECT}/alert-sinks", key=reader).status_code == 403
    body = {"name": "a", "condition": {"kind": "nonfinite"}}
    assert stage.ask("POST", f"{PROJECT}/alert-rules", key=reader, json=body).status_code == 403
    assert stage.ask("GET", "/api/v1/projects/team/none/alerts", key=reader).status_code == 404
