"""A real process on a real socket: signals, TLS, senders that dawdle, and signing in."""

from __future__ import annotations

import datetime as dt
import ipaddress
import re
import signal
import socket
import ssl
import stat
import threading
import time
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from strobe.cli import main
from strobe.home import Home
from strobe.remote.answer import Ok, Retry
from strobe.remote.link import Link
from strobe.remote.target import Target
from strobe.settings import resolve
from tests.server.processes import Running, make_key, running

pytestmark = pytest.mark.slow

#: serves one endpoint more, that waits until a file is there, and a stream that ends when the server does
SCRIPT = """
import sys
from pathlib import Path
import anyio
from starlette.responses import StreamingResponse
import strobe.server.app as app
from strobe.cli import main
from strobe.server.endpoint import Call, endpoint

here = Path(__file__).parent

@endpoint("POST", "/slow", access="open", tag="t", returns=int, consumes="*/*")
async def slow(call: Call) -> int:
    size = sum([len(piece) async for piece in call.stream()])
    (here / "begun").touch()
    while not (here / "go").exists():
        await anyio.sleep(0.01)
    return size

@endpoint("GET", "/stream", access="open", tag="t", produces="text/event-stream")
async def stream(call: Call) -> StreamingResponse:
    async def events():
        yield b"data: first\\n\\n"
        await call.services.stopping.wait()
        yield b"data: last\\n\\n"
    return StreamingResponse(events(), media_type="text/event-stream")

real = app.endpoints
app.endpoints = lambda: [*real(), slow, stream]
import strobe.server.protocol as protocol
protocol.ImpatientProtocol.headers_s = 0.5
sys.exit(main(["server", *sys.argv[1:]]))
"""


@pytest.fixture
def script(tmp_path: Path) -> str:
    path = tmp_path / "serving.py"
    path.write_text(SCRIPT)
    return str(path)


def wait_for(path: Path) -> None:
    deadline = time.monotonic() + 20
    while not path.exists():
        assert time.monotonic() < deadline, path
        time.sleep(0.01)


def connect(server: Running) -> socket.socket:
    place = urlsplit(server.url)
    assert place.hostname is not None
    assert place.port is not None
    return socket.create_connection((place.hostname, place.port), timeout=20)


def certificate(directory: Path) -> tuple[Path, Path]:
    """Make a certificate for 127.0.0.1 that is its own authority."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "strobe test")])
    now = dt.datetime.now(dt.timezone.utc)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(minutes=1))
        .not_valid_after(now + dt.timedelta(hours=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False)
        .sign(key, hashes.SHA256())
    )
    cert_file, key_file = directory / "cert.pem", directory / "key.pem"
    cert_file.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    key_file.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return cert_file, key_file


# -- the end


@pytest.mark.parametrize("signum", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_well(tmp_path: Path, signum: int) -> None:
    with running(tmp_path / "home") as server:
        assert httpx.get(f"{server.url}/readyz").status_code == 200
        assert server.stop(signum) == 0
        events = [line["event"] for line in server.lines()]
    assert events[0] == "serving"
    assert "stopping" in events


def test_what_is_being_answered_is_answered(tmp_path: Path, script: str) -> None:
    answers: list[httpx.Response] = []
    with running(tmp_path / "home", script=script) as server:
        request = threading.Thread(
            target=lambda: answers.append(httpx.post(f"{server.url}/slow", content=bytes(200_000), timeout=30))
        )
        request.start()
        wait_for(tmp_path / "begun")
        server.process.send_signal(signal.SIGTERM)
        time.sleep(0.3)
        assert server.process.poll() is None, "it waits"
        with pytest.raises(OSError, match="refused"):
            connect(server)
        (tmp_path / "go").touch()
        request.join(20)
        assert server.process.wait(20) == 0
    assert [(answer.status_code, answer.json()) for answer in answers] == [(200, 200_000)]


def test_streams_end_and_readiness_goes_first(tmp_path: Path, script: str) -> None:
    with running(tmp_path / "home", "--drain", "1", script=script) as server:
        with httpx.stream("GET", f"{server.url}/stream", timeout=20) as stream:
            pieces = stream.iter_raw()
            assert b"first" in next(pieces)
            server.process.send_signal(signal.SIGTERM)
            assert b"last" in b"".join(pieces)
        assert httpx.get(f"{server.url}/readyz").status_code == 503
        assert httpx.get(f"{server.url}/healthz").status_code == 200
        assert server.process.wait(20) == 0


def test_patience_has_an_end(tmp_path: Path, script: str) -> None:
    with running(tmp_path / "home", "--grace", "1", script=script) as server, connect(server) as client:
        client.sendall(b"POST /slow HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\nok")
        wait_for(tmp_path / "begun")
        started = time.monotonic()
        assert server.stop() == 0
        assert time.monotonic() - started < 10


# -- senders


def test_nobody_holds_a_connection_with_half_a_request(tmp_path: Path, script: str) -> None:
    with running(tmp_path / "home", script=script) as server:
        with connect(server) as silent, connect(server) as slow, connect(server) as later:
            slow.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Slow: ")
            later.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            answer = b""
            while b'"ok"}' not in answer:
                answer += later.recv(4096)
            later.sendall(b"GET /hea")
            for client in (silent, slow, later):
                assert client.recv(4096) == b""
        with httpx.Client(base_url=server.url) as patient:
            assert patient.get("/healthz").status_code == 200
            time.sleep(1)
            assert patient.get("/healthz").status_code == 200, "between requests it may rest"


def test_a_body_that_is_too_large_is_refused_on_a_socket(tmp_path: Path) -> None:
    with running(tmp_path / "home") as server, connect(server) as client:
        client.sendall(b"POST /api/v1/login HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999\r\n\r\n")
        answer = b""
        while piece := client.recv(4096):
            answer += piece
    assert b" 413 " in answer.splitlines()[0]
    assert b"application/problem+json" in answer


@pytest.mark.parametrize(
    "garbage",
    [b"\x16\x03\x01\x02\x00", b"neither this nor that\r\n\r\n", b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\n\r\n"],
)
def test_what_is_no_http_is_refused(tmp_path: Path, garbage: bytes) -> None:
    with running(tmp_path / "home") as server:
        with connect(server) as client:
            client.sendall(garbage)
            client.shutdown(socket.SHUT_WR)
            answer = client.recv(4096)
            assert answer == b"" or b" 400 " in answer.splitlines()[0]
        assert httpx.get(f"{server.url}/healthz").status_code == 200


def test_a_proxy_is_believed_from_where_it_was_said(tmp_path: Path) -> None:
    forwarded = {"X-Forwarded-For": "203.0.113.9", "X-Forwarded-Proto": "https"}
    key = make_key(tmp_path / "home")
    for options, address, is_secure in [((), "203.0.113.9", True), (("--forwarded-allow-ips", ""), "127.0.0.1", False)]:
        with running(tmp_path / "home", *options) as server:
            answer = httpx.post(f"{server.url}/api/v1/login", json={"key": key}, headers=forwarded)
            assert answer.status_code == 200
            assert ("Secure" in answer.headers["set-cookie"]) is is_secure
            assert server.stop() == 0
            assert [line["address"] for line in server.lines() if line["event"] == "request"] == [address]


# -- TLS and signing in


def test_tls(tmp_path: Path) -> None:
    cert, key = certificate(tmp_path)
    with running(tmp_path / "home", "--tls-cert", str(cert), "--tls-key", str(key)) as server:
        assert server.url.startswith("https://127.0.0.1:")
        answer = httpx.get(f"{server.url}/api/v1/server", verify=ssl.create_default_context(cafile=str(cert)))
        assert answer.json()["server"] == "strobe"
        assert "strict-transport-security" in answer.headers
        with pytest.raises(httpx.ConnectError):
            httpx.get(f"{server.url}/healthz")
        old = ssl.create_default_context(cafile=str(cert))
        old.maximum_version = ssl.TLSVersion.TLSv1_2
        place = ("127.0.0.1", int(server.url.rpartition(":")[2]))
        with socket.create_connection(place) as plain, old.wrap_socket(plain, server_hostname=place[0]) as wrapped:
            assert "GCM" in str(wrapped.cipher()) or "CHACHA20" in str(wrapped.cipher())


def test_an_authority_of_ones_own_is_trusted_where_it_is_named(tmp_path: Path) -> None:
    cert, key = certificate(tmp_path)
    with running(tmp_path / "home", "--tls-cert", str(cert), "--tls-key", str(key)) as server:
        for target in (
            Target(base_url=server.url, ca_bundle=str(cert)),
            Target(base_url=server.url, way={"REQUESTS_CA_BUNDLE": str(cert)}),
            Target(base_url=server.url, way={"SSL_CERT_FILE": str(cert)}),
        ):
            assert isinstance(Link(target).connect(), Ok)
        # A machine that is busy may be too slow for a handshake; never is it one that works.
        answers = [Link(Target(base_url=server.url)).connect() for _ in range(3)]
        assert {type(answer) for answer in answers} == {Retry}
        assert any(re.search("certificate verify failed.*set ca_bundle", str(answer)) for answer in answers), answers


def test_login_and_logout(
    tmp_path: Path, home: Home, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    served = tmp_path / "served"
    key = make_key(served)
    settings = tmp_path / "config" / "strobe" / "config.toml"
    with running(served) as server:
        assert main(["login", "strobe_" + "x" * 12 + "_" + "y" * 43, "--host", server.url]) == 1
        assert "401" in capfd.readouterr().err
        assert not settings.exists()
        assert main(["login", key, "--host", server.url]) == 0
        assert "as ada" in capfd.readouterr().err
        assert stat.S_IMODE(settings.stat().st_mode) == 0o600
        assert key in settings.read_text()
        assert server.url in settings.read_text()
        assert resolve({}).login_entity == "ada"
        assert main(["login", key]) == 0, "the server is known by now"
        capfd.readouterr()
        assert main(["logout"]) == 0
        assert key not in settings.read_text()
        assert server.url not in settings.read_text()
        assert resolve({}).login_entity is None
        monkeypatch.setenv("STROBE_API_KEY", key)
        assert main(["logout"]) == 0
        assert "STROBE_API_KEY" in capfd.readouterr().err


def test_a_key_is_not_sent_to_somebody_else(tmp_path: Path, home: Home, capfd: pytest.CaptureFixture[str]) -> None:
    heard = bytearray()

    def impostor(listener: socket.socket) -> None:
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            with client:
                heard.extend(client.recv(65536))
                client.sendall(
                    b'HTTP/1.1 200 OK\r\nContent-Length: 22\r\nConnection: close\r\n\r\n{"server": "otherwise"}'
                )

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=impostor, args=(listener,), daemon=True)
        thread.start()
        secret = "strobe_" + "x" * 12 + "_" + "y" * 43
        assert main(["login", secret, "--host", f"http://127.0.0.1:{listener.getsockname()[1]}"]) == 1
        listener.shutdown(socket.SHUT_RDWR)
    thread.join(10)
    assert "not a Strobe server" in capfd.readouterr().err
    assert b"GET /api/v1/server" in heard
    assert b"yyy" not in heard


def test_login_needs_a_server_and_a_key(home: Home, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["login", "key"]) == 2
    assert "--host" in capfd.readouterr().err
    assert main(["login", "", "--host", "http://127.0.0.1:1"]) == 2
    capfd.readouterr()
    assert main(["login", "https://strobe.example"]) == 2
    assert "`strobe login --host https://strobe.example` asks for the key" in capfd.readouterr().err
    assert main(["login", "key", "--host", "http://127.0.0.1:1"]) == 1
