"""The proxy of the storms: each fate does what it is called, else the storms would prove nothing."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
import urllib3

from .proxy import FATES, ChaosProxy

BODY = b"0123456789" * 20_000
ANSWER = b"an answer that is long enough to be cut somewhere in its middle" * 100


class Upstream(ThreadingHTTPServer):
    """Keeps what it was sent."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.bodies: list[bytes] = []
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    def wait_for(self, count: int) -> list[bytes]:
        until = time.monotonic() + 5
        while len(self.bodies) < count:
            assert time.monotonic() < until, f"{len(self.bodies)} requests arrived, not {count}"
            time.sleep(0.01)
        return self.bodies

    def handle_error(self, request: object, client_address: object) -> None:
        pass  # connections that break are what this is about


class _Handler(BaseHTTPRequestHandler):
    server: Upstream
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.bodies.append(body)
        self.send_response(200)
        self.send_header("Content-Length", str(len(ANSWER)))
        self.end_headers()
        self.wfile.write(ANSWER)

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def upstream() -> Iterator[Upstream]:
    server = Upstream()
    yield server
    server.shutdown()
    server.server_close()


def send(upstream: Upstream, fate: str, *, seed: int = 1, timeout_s: float = 5.0) -> tuple[int, bytes] | None:
    """Send one request that meets a fate; return status and body, None if there was no whole answer."""
    proxy = ChaosProxy(
        lambda: upstream.server_address[1], seed, share=float(fate != "pass"), fates={fate: 1}, longest_s=0.3
    )
    pool = urllib3.PoolManager()
    try:
        response = pool.request("POST", proxy.url, body=BODY, retries=False, timeout=timeout_s)
        answer = response.status, response.data
    except urllib3.exceptions.HTTPError:
        answer = None
    finally:
        pool.clear()
        until = time.monotonic() + 5
        while proxy.num_held and time.monotonic() < until:
            time.sleep(0.01)
        proxy.close()
    assert proxy.counts[fate] == 1
    return answer


@pytest.mark.parametrize("fate", ["pass", "late request", "late answer", "throttle", "duplicate"])
def test_what_arrives_in_the_end(upstream: Upstream, fate: str) -> None:
    assert send(upstream, fate) == (200, ANSWER)
    assert upstream.bodies == [BODY] * (2 if fate == "duplicate" else 1)


@pytest.mark.parametrize("fate", ["swallow answer", "cut answer"])
def test_work_is_done_and_nobody_hears_of_it(upstream: Upstream, fate: str) -> None:
    assert send(upstream, fate) is None
    assert upstream.bodies == [BODY]


def test_an_error_after_success(upstream: Upstream) -> None:
    answer = send(upstream, "error after success")
    assert answer is not None
    assert answer[0] == 504
    assert upstream.bodies == [BODY]


@pytest.mark.parametrize("fate", ["drop before", "cut request", "error", "another's page", "half-open"])
def test_nothing_arrives_whole(upstream: Upstream, fate: str) -> None:
    answer = send(upstream, fate, timeout_s=0.5)
    if fate == "error":
        assert answer is not None
        assert answer[0] >= 429
    elif fate == "another's page":
        assert answer is not None
        assert answer[0] == 200
        assert answer[1] != ANSWER
    else:
        assert answer is None
    assert BODY not in upstream.bodies


def test_what_is_held_arrives_when_its_sender_has_given_up(upstream: Upstream) -> None:
    assert send(upstream, "hold") is None
    assert upstream.wait_for(1) == [BODY]


def test_the_same_seed_draws_the_same_fates(upstream: Upstream) -> None:
    drawn = []
    for _ in range(2):
        proxy = ChaosProxy(lambda: 0, 5)
        drawn.append([proxy._draw() for _ in range(300)])
        proxy.close()
    assert drawn[0] == drawn[1]
    assert set(drawn[0]) == {"pass", *FATES}
