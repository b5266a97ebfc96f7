"""A link against real sockets: what each answer means, who gets the key, proxies and certificates."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable
from email.utils import formatdate
from pathlib import Path
from typing import Any

import pytest
import urllib3

from strobe.remote.answer import Ok, Refused, Retry
from strobe.remote.link import Link, judge, retry_after
from strobe.remote.route import bypasses, choose_proxy
from strobe.remote.target import Target, target_of, with_key
from strobe.settings import resolve

from .small_server import Fault, Handler, SmallServer, drops, fails, hangs, truncates


def link_to(server: SmallServer, **options: Any) -> Link:
    return Link(Target(base_url=server.url, **options))


def test_a_request_brings_its_answer(server: SmallServer) -> None:
    answer = link_to(server).post("/heartbeat", {"runs": ["a/b/c"]})
    assert isinstance(answer, Ok)
    assert answer.json() == {"stop": []}
    assert server.heartbeats == [["a/b/c"]]


def test_limits_come_with_the_handshake(make_server: Callable[..., SmallServer]) -> None:
    link = link_to(make_server(limits={"batch_bytes": 1234}))
    assert isinstance(link.connect(), Ok)
    assert (link.limits.batch_bytes, link.limits.part_bytes) == (1234, 8 << 20)


def test_a_key_goes_only_to_a_server_that_says_it_is_strobe(server: SmallServer) -> None:
    server.identity = {"server": "something else"}
    answer = link_to(server, api_key="secret").post("/heartbeat", {"runs": []})
    assert isinstance(answer, Refused)
    assert "is not a Strobe server" in answer.why
    assert (server.keys_seen, [path for _, path in server.requests]) == (set(), ["/api/v1/server"])


def test_a_server_that_went_away_is_asked_again_who_it_is(server: SmallServer) -> None:
    link = link_to(server, api_key="secret")
    assert isinstance(link.post("/heartbeat", {"runs": []}), Ok)
    server.faults = [drops]
    assert isinstance(link.post("/heartbeat", {"runs": []}), Retry)
    server.identity = {"server": "another program on that port"}
    server.keys_seen.clear()
    answer = link.post("/heartbeat", {"runs": []})
    assert isinstance(answer, Retry)  # it was one before: a network's own page, a proxy without its server
    assert "not a Strobe server" in answer.why
    assert link.hold_s() > 0
    assert server.keys_seen == set()


def test_somebody_on_the_way_who_says_200_to_everything_is_not_believed(server: SmallServer) -> None:
    def identify(handler: Handler) -> bool:
        handler.answer(200, server.identity, Strobe_Protocol="1")
        return True

    def welcome(handler: Handler) -> bool:
        handler.body()
        handler.answer(200, "please accept the terms of this network")
        return True

    server.faults = [identify, welcome]
    link = link_to(server)
    answer = link.request("PUT", "/runs/a/b/c/files/model.pt", b"content")
    assert isinstance(answer, Retry)
    assert "something on the way answered" in answer.why
    assert link.server is None  # whoever it is must say again that it is Strobe


@pytest.mark.parametrize(
    ("fault", "why"),
    [
        (fails(500), "HTTP 500"),
        (fails(502), "HTTP 502"),
        (fails(503), "HTTP 503"),
        (fails(429), "HTTP 429"),
        (fails(507), "HTTP 507"),
        (drops, "http://"),
        (truncates, "http://"),
        (hangs(1.0), "timed out"),
    ],
)
def test_what_may_pass_is_to_be_tried_again(server: SmallServer, fault: Fault, why: str) -> None:
    link = link_to(server, timeout_s=0.3)
    link.connect()
    server.faults = [fault]
    answer = link.post("/heartbeat", {"runs": []})
    assert isinstance(answer, Retry)
    assert why in answer.why
    assert link.hold_s() > 0


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 410, 413, 422, 426])
def test_what_will_not_pass_is_a_refusal_with_the_reason(server: SmallServer, status: int) -> None:
    link = link_to(server)
    link.connect()
    server.faults = [fails(status)]
    assert link.post("/heartbeat", {"runs": []}) == Refused(f"HTTP {status}: a fault, {status}", status)
    assert link.hold_s() == 0


def test_redirects_are_not_followed_with_a_key(server: SmallServer) -> None:
    link = link_to(server, api_key="secret")
    link.connect()
    server.faults = [fails(302, Location="http://elsewhere/")]
    answer = link.post("/heartbeat", {"runs": []})
    assert isinstance(answer, Refused)
    assert "http://elsewhere/" in answer.why


def test_retry_after_is_obeyed(server: SmallServer) -> None:
    link = link_to(server)
    link.connect()
    server.faults = [fails(429, Retry_After="7")]
    assert isinstance(link.post("/heartbeat", {"runs": []}), Retry)
    assert 6.5 < link.hold_s() < 9


def test_the_forms_of_retry_after() -> None:
    now = 1_700_000_000.0
    assert retry_after("12", now) == 12
    assert retry_after("0.5", now) == 0.5
    assert retry_after(formatdate(now + 90, usegmt=True), now) == pytest.approx(90, abs=1)
    assert [retry_after(text, now) for text in ("", "soon", "-5", "nan")] == [0, 0, 0, 0]
    assert retry_after("1e12", now) == 3600


def test_nobody_there_and_the_way_back(server: SmallServer) -> None:
    port = server.port
    server.stop_serving()
    link = Link(Target(base_url=f"http://127.0.0.1:{port}"), sleep=lambda s: None)
    answer = link.connect()
    assert isinstance(answer, Retry)
    assert "refused" in answer.why.lower()
    assert link.failing_for() >= 0
    server.start(port)
    assert isinstance(link.connect(), Ok)
    assert (link.failing_for(), link.hold_s()) == (0, 0)


@pytest.mark.skipif(not hasattr(urllib3.HTTPResponse, "read1"), reason="this urllib3 waits for all that was asked for")
def test_a_drip_of_bytes_does_not_hold_a_thread_for_ever(server: SmallServer) -> None:
    def drips(handler: Any) -> bool:
        handler.body()
        handler.send_response(200)
        handler.send_header("Content-Length", "1000")
        handler.end_headers()
        for _ in range(40):
            handler.wfile.write(b" ")
            handler.wfile.flush()
            time.sleep(0.1)
        return True

    link = link_to(server, timeout_s=0.4)
    link.connect()
    server.faults = [drips]
    began = time.monotonic()
    assert isinstance(link.post("/heartbeat", {"runs": []}), Retry)
    assert time.monotonic() - began < 3


def test_a_failing_server_is_probed_by_one(server: SmallServer) -> None:
    link = link_to(server, timeout_s=2.0)
    link.connect()
    server.faults = [fails(500), hangs(1.0)]
    link.post("/heartbeat", {"runs": []})
    link.lanes["points"].retry_at = 0.0
    assert link.hold_s() == 0
    threading.Thread(target=link.post, args=("/heartbeat", {"runs": []}), daemon=True).start()
    time.sleep(0.2)
    assert link.hold_s() > 0


def test_a_rate_limit_slows_the_sending(server: SmallServer) -> None:
    link = link_to(server, bytes_per_s=200_000)
    link.connect()
    began = time.monotonic()
    link.request("POST", "/nowhere", bytes(200_000))
    assert 0.7 < time.monotonic() - began < 3.0


def test_protocols_that_do_not_meet_are_a_refusal(server: SmallServer) -> None:
    server.identity = {"server": "strobe", "version": "9", "protocols": [7, 9]}
    answer = link_to(server).connect()
    assert isinstance(answer, Refused)
    assert "newer Strobe" in answer.why


def test_judge_reads_problems_of_any_shape() -> None:
    assert judge(404, {}, b'{"detail": "no such run"}', now=0) == Refused("HTTP 404: no such run", 404)
    assert judge(502, {"retry-after": "3"}, b"<html>", now=0) == Retry("HTTP 502: <html>", 3.0, 502)
    assert judge(400, {}, b"[1]", now=0) == Refused("HTTP 400: no reason given", 400)


# -- proxies ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("url", "setting", "way", "proxy"),
    [
        ("http://host", None, {}, None),
        ("http://host", None, {"HTTP_PROXY": "http://p:1"}, "http://p:1"),
        ("https://host", None, {"HTTP_PROXY": "http://p:1"}, None),
        ("https://host", None, {"HTTPS_PROXY": "p:1"}, "http://p:1"),
        ("https://host", None, {"ALL_PROXY": "http://a:1"}, "http://a:1"),
        ("https://host", "off", {"HTTPS_PROXY": "http://p:1"}, None),
        ("https://host", "q:2", {"HTTPS_PROXY": "http://p:1"}, "http://q:2"),
        ("http://a.host", None, {"HTTP_PROXY": "http://p:1", "NO_PROXY": "x, .host"}, None),
        ("http://a.host", None, {"HTTP_PROXY": "http://p:1", "NO_PROXY": "host"}, None),
        ("http://ahost", None, {"HTTP_PROXY": "http://p:1", "NO_PROXY": "host"}, "http://p:1"),
        ("http://10.1.2.3", None, {"HTTP_PROXY": "http://p:1", "NO_PROXY": "10.0.0.0/8"}, None),
        ("http://host:8080", None, {"HTTP_PROXY": "http://p:1", "NO_PROXY": "host:9090"}, "http://p:1"),
        ("http://host:8080", None, {"HTTP_PROXY": "http://p:1", "NO_PROXY": "host:8080"}, None),
        ("http://host", None, {"HTTP_PROXY": "http://p:1", "NO_PROXY": "*"}, None),
    ],
)
def test_which_proxy_is_used(url: str, setting: str | None, way: dict[str, str], proxy: str | None) -> None:
    assert choose_proxy(url, setting, way) == proxy


def test_no_proxy_of_nothing_names_nobody() -> None:
    assert not bypasses("host", 80, " , ")


class Proxy:
    """Takes requests for other hosts, counts them and passes them on to a server."""

    def __init__(self, server: SmallServer) -> None:
        self._server = server
        self.lines: list[str] = []
        self.logins: list[str] = []
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                client, _ = self._socket.accept()
            except OSError:
                return
            threading.Thread(target=self._pass_on, args=(client,), daemon=True).start()

    def _pass_on(self, client: socket.socket) -> None:
        with client, client.makefile("rb") as stream:
            head = [stream.readline()]
            while head[-1] not in (b"\r\n", b""):
                head.append(stream.readline())
            self.lines.append(head[0].decode().strip())
            self.logins += [line.decode().strip() for line in head if line.lower().startswith(b"proxy-auth")]
            length = next((int(line.split(b":")[1]) for line in head if line.lower().startswith(b"content-length")), 0)
            body = stream.read(length)
            method, url, _ = head[0].split(b" ")
            path = b"/" + url.split(b"/", 3)[3]
            with socket.create_connection(("127.0.0.1", self._server.port)) as there:
                there.sendall(b"%b %b HTTP/1.1\r\nConnection: close\r\n" % (method, path) + b"".join(head[1:]) + body)
                answer = b""
                while piece := there.recv(65536):
                    answer += piece
                # Said aloud, so that the client does not send the next request into a connection that ends.
                client.sendall(answer.replace(b"\r\n", b"\r\nConnection: close\r\n", 1))

    def close(self) -> None:
        self._socket.close()


def test_requests_go_through_the_proxy_with_its_login(server: SmallServer) -> None:
    proxy = Proxy(server)
    link = Link(
        Target(base_url="http://strobe.example", way={"HTTP_PROXY": f"http://me:p%40ss@127.0.0.1:{proxy.port}"})
    )
    assert isinstance(link.post("/heartbeat", {"runs": ["a/b/c"]}), Ok)
    proxy.close()
    assert proxy.lines[0] == "GET http://strobe.example/api/v1/server HTTP/1.1"
    assert proxy.logins[0].lower().startswith("proxy-authorization: basic")
    assert server.heartbeats == [["a/b/c"]]


def test_a_proxy_of_a_kind_that_we_do_not_speak_is_a_refusal() -> None:
    answer = Link(Target(base_url="http://host", proxy="socks5://me:pw@p:1")).connect()
    assert isinstance(answer, Refused)
    assert "socks5://p:1" in answer.why
    assert "pw" not in answer.why


def test_missing_certificates_are_named(tmp_path: Path) -> None:
    answer = Link(Target(base_url="https://host", ca_bundle=str(tmp_path / "none.pem"))).connect()
    assert isinstance(answer, Refused)
    assert "none.pem" in answer.why


# -- where the way comes from ----------------------------------------------------------------------------------------


def test_a_target_takes_the_way_from_the_environment_of_the_run(tmp_path: Path) -> None:
    env = {"HOME": str(tmp_path), "https_proxy": "http://p:1", "STROBE_API_KEY": "k", "STROBE_BASE_URL": "https://host"}
    target = target_of(resolve({}, env, tmp_path), env)
    assert target is not None
    assert (target.base_url, target.api_key, target.way) == ("https://host", "k", {"HTTPS_PROXY": "http://p:1"})
    assert "k" not in repr(target).replace("Target", "")
    assert target_of(resolve({}, {"HOME": str(tmp_path)}, tmp_path), {}) is None


def test_a_key_of_the_users_file_is_not_copied_but_read_from_there(tmp_path: Path) -> None:
    file = tmp_path / "strobe" / "config.toml"
    file.parent.mkdir()
    file.write_text('base_url = "https://host"\napi_key = "from the file"\n')
    env = {"XDG_CONFIG_HOME": str(tmp_path)}
    target = target_of(resolve({}, env, tmp_path), env)
    assert target is not None
    assert (target.api_key, target.key_file) == (None, str(file))
    assert with_key(target).api_key == "from the file"
    file.unlink()
    assert with_key(target).api_key is None


def test_a_key_that_was_renewed_in_the_file_is_taken(make_server: Callable[..., SmallServer], tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text('api_key = "old"\n')
    server = make_server(key="new")
    link = link_to(server, key_file=str(file))
    assert isinstance(link.post("/heartbeat", {"runs": []}), Refused)
    file.write_text('api_key = "new"\n')
    assert isinstance(link.post("/heartbeat", {"runs": []}), Ok)


def test_points_go_on_where_files_are_not_taken(server: SmallServer) -> None:
    link = link_to(server)
    link.connect()
    server.faults = [fails(507, Retry_After="60")]
    assert isinstance(link.request("PUT", "/runs/a/b/c/files/x", b"content"), Retry)
    assert link.hold_s("things") > 59
    assert link.hold_s("points") == 0
    assert isinstance(link.post("/heartbeat", {"runs": []}), Ok)
    assert link.hold_s("things") > 59
