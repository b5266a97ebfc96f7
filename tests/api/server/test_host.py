"""What goes wrong between here and a server, and what is said then."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import msgspec
import pytest

from strobe.api import Api
from strobe.api.server.document import Identity
from strobe.api.server.host import Host
from strobe.errors import CommError
from strobe.remote.link import Link
from strobe.remote.target import Target

from .conftest import Twins


@pytest.fixture
def answering() -> Iterator[Callable[[Callable[[str], tuple[int, dict[str, str], bytes]]], str]]:
    """Return a function that serves what a function of the path says, and returns the address."""
    opened: list[HTTPServer] = []

    def start(answer: Callable[[str], tuple[int, dict[str, str], bytes]]) -> str:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                status, headers, body = answer(self.path)
                self.send_response(status)
                for name, text in {"Content-Length": str(len(body)), **headers}.items():
                    self.send_header(name, text)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None: ...

        opened.append(HTTPServer(("127.0.0.1", 0), Handler))
        threading.Thread(target=opened[-1].serve_forever, args=(0.02,), daemon=True).start()
        return f"http://127.0.0.1:{opened[-1].server_port}"

    yield start
    for server in opened:
        server.shutdown()
        server.server_close()


HANDSHAKE = b'{"server": "strobe", "protocols": [1, 1]}'


def test_nobody_there() -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{held.getsockname()[1]}"
        with pytest.raises(CommError, match="see that the server runs"):
            Host(Link(Target(base_url=url)), patience_s=0.3).get("/server", Identity)


def test_another_program_there(answering: Any) -> None:
    url = answering(lambda path: (200, {}, b"<html>"))
    with pytest.raises(CommError, match="is not a Strobe server"):
        Api(url, api_key="secret").run("p/r")


def test_an_answer_that_cannot_be_read(answering: Any) -> None:
    url = answering(lambda path: (200, {}, HANDSHAKE))
    with pytest.raises(CommError, match="upgrade the older side"):
        Api(url).projects()


def test_a_server_that_is_busy_is_asked_again(answering: Any) -> None:
    seen: list[str] = []

    def answer(path: str) -> tuple[int, dict[str, str], bytes]:
        seen.append(path)
        if len(seen) == 1:
            return 200, {}, HANDSHAKE
        if len(seen) < 4:
            return 503, {"Retry-After": "0"}, b""
        return 200, {}, msgspec.msgpack.encode({"entity": "ann", "user": "ann"})

    assert Api(answering(answer)).viewer.username == "ann"
    assert len(seen) == 4


def test_a_server_that_asks_for_more_than_patience_is_not_waited_for(answering: Any) -> None:
    began = time.monotonic()
    url = answering(lambda path: (429, {"Retry-After": "60"}, b'{"detail": "too many"}'))
    with pytest.raises(CommError, match="too many"):
        Api(url).projects()
    assert time.monotonic() - began < 5


def test_a_server_that_restarts_is_waited_for(fresh: Twins) -> None:
    api = fresh.remote
    assert api.projects() == []
    fresh.real.stop()
    back = threading.Timer(0.2, fresh.real.start)
    back.start()
    try:
        assert api.projects() == []
    finally:
        back.join()


def test_urllib3_comes_with_the_first_server(fresh: Twins) -> None:
    script = (
        "import sys, strobe\n"
        "api = strobe.Api(sys.argv[1], api_key=sys.argv[2])\n"
        "assert api.projects() == [] and 'urllib3' in sys.modules\n"
        "print([name for name in ('numpy', 'pandas', 'strobe.server', 'strobe.store') if name in sys.modules])"
    )
    command = [sys.executable, "-c", script, fresh.real.url, fresh.real.key]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"
