"""Names, headers and versions: what is refused before anybody looks at who asks."""

from __future__ import annotations

import socket

import pytest
from starlette.responses import Response

from strobe.server.endpoint import Call, endpoint
from strobe.server.security import CONTENT_POLICY, host_of
from strobe.server.services import ServerSettings
from tests.server.conftest import Stage


def status(stage: Stage, host: str) -> int:
    return stage.ask("GET", "/healthz", headers={"Host": host}).status_code


@pytest.mark.parametrize(
    "host", ["localhost", "localhost:8080", "LOCALHOST.", "127.0.0.1:1", "[::1]:8080", "x.localhost", "127.8.8.8"]
)
def test_names_of_this_machine(local: Stage, host: str) -> None:
    assert status(local, host) == 200


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:8080",
        "localhost.evil.example",
        "",
        "192.168.1.5",
        "127.0.0.1.evil.example",
        "[::1].evil.example",
        "0.0.0.0",
    ],
)
def test_other_names_are_not_ours(local: Stage, host: str) -> None:
    answer = local.ask("GET", "/healthz", headers={"Host": host})
    assert answer.status_code == 421
    assert "--allowed-host" in answer.json()["detail"]


def test_a_server_has_its_names_and_addresses(stage: Stage) -> None:
    stage.open(ServerSettings(allowed_hosts=("strobe.example.com", "*.lab.example")))
    for host in ("strobe.example.com", "STROBE.example.com:443", "a.lab.example", "192.168.1.5", socket.gethostname()):
        assert status(stage, host) == 200, host
    for host in ("example.com", "lab.example", "evilstrobe.example.com", "alab.example"):
        assert status(stage, host) == 421, host
    stage.open(ServerSettings(allowed_hosts=("*",)))
    assert status(stage, "anything.example") == 200


def test_a_host_without_port_and_brackets() -> None:
    assert [host_of(text) for text in ("[::1]:80", "A.b:1", "a.", " x ", "[::1", "")] == [
        "::1",
        "a.b",
        "a",
        "x",
        "::1",
        "",
    ]


@pytest.mark.parametrize("path", ["/healthz", "/nope", "/api/v1/server?x=1"])
def test_every_answer_carries_the_headers(stage: Stage, path: str) -> None:
    headers = stage.ask("GET", path).headers
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert "default-src 'none'" in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert headers["cache-control"] == "private, no-cache"
    assert "access-control-allow-origin" not in headers
    assert "strict-transport-security" not in headers
    assert "server" not in headers


def test_an_endpoint_may_know_better(stage: Stage) -> None:
    @endpoint("GET", "/content", access="open", tag="t", produces="text/html")
    async def content(call: Call) -> Response:
        headers = {"Content-Security-Policy": CONTENT_POLICY, "Cache-Control": "max-age=60"}
        return Response("<script>alert(1)</script>", media_type="text/html", headers=headers)

    stage.serve(content)
    headers = stage.ask("GET", "/content").headers
    assert headers["content-security-policy"] == CONTENT_POLICY
    assert headers["cache-control"] == "max-age=60"
    assert headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(("version", "status", "side"), [("1", 200, ""), ("2", 426, "server"), ("0", 426, "client")])
def test_protocols(stage: Stage, version: str, status: int, side: str) -> None:
    answer = stage.ask("GET", "/api/v1/server", headers={"Strobe-Protocol": version})
    assert answer.status_code == status
    if side:
        assert f"'{version}', this server 1 to 1; upgrade Strobe on the {side}" in answer.json()["detail"]
        assert answer.headers["strobe-protocol"] == "1"


@pytest.mark.parametrize("version", ["", "x", "-1", "1.0", "9" * 5000, "²"])
def test_protocols_that_are_none(stage: Stage, version: str) -> None:
    answer = stage.ask("GET", "/api/v1/server", headers={"Strobe-Protocol": version.encode()})
    assert answer.status_code == 426
    assert len(answer.text) < 1000
