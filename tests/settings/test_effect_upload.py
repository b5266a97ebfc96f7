"""Settings about the way to a server. The agent's uploads are done right here, to a small real server."""

from __future__ import annotations

import datetime as dt
import ipaddress
import ssl
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import strobe
from strobe.agent.upload.uploader import Uploader
from strobe.home import Home
from strobe.remote.state import SyncState, read_state
from tests.agent.scene import QuietLog, wait_for
from tests.remote.conftest import make_server, server
from tests.remote.small_server import SmallServer, hangs
from tests.remote.test_link import Proxy

from .effect import AgentHere, Start, shows

__all__ = ["make_server", "server"]


@pytest.fixture
def agent(home: Home) -> Iterator[AgentHere]:
    agent = AgentHere(home, Uploader(home, QuietLog()))
    yield agent
    agent.close()


def uploaded(agent: AgentHere, run: strobe.Run, done: Callable[[SyncState], object]) -> SyncState:
    """Let the agent work until what is known of the upload says so."""

    def look() -> SyncState | None:
        agent.poll(time.monotonic())
        state = read_state(run._recorder.run_dir.path)
        return state if state is not None and done(state) else None

    found: SyncState = wait_for(look)
    return found


@shows("proxy")
def test_proxy(start: Start, agent: AgentHere, server: SmallServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    proxy = Proxy(server)
    run = start(base_url="http://strobe.example", proxy=f"127.0.0.1:{proxy.port}")
    run.log({"x": 1})
    uploaded(agent, run, lambda state: state.num_rows == 1)
    proxy.close()
    assert any("strobe.example" in line for line in proxy.lines)
    near = start(base_url=server.url, proxy="off")
    near.log({"x": 2})
    uploaded(agent, near, lambda state: state.num_rows == 1)


@shows("upload_timeout_s")
def test_upload_timeout(start: Start, agent: AgentHere, server: SmallServer) -> None:
    server.faults = [hangs(20.0)]
    run = start(base_url=server.url, upload_timeout_s=0.2)
    run.log({"x": 1})
    assert "timed out" in uploaded(agent, run, lambda state: state.error).error


@shows("upload_bytes_per_s")
def test_upload_rate(start: Start, agent: AgentHere, server: SmallServer) -> None:
    run = start(base_url=server.url, upload_bytes_per_s="30kB")
    noise = [(step * 7919) % 1_000_003 / 997 for step in range(4000)]
    for step in range(0, 4000, 10):
        run.log({f"k{place}": value for place, value in enumerate(noise[step : step + 10])})
    run.log({"last": 1.0})
    run.finish()
    began = time.monotonic()
    state = uploaded(agent, run, lambda state: state.is_complete)
    assert state.num_bytes > 10_000
    assert time.monotonic() - began > state.num_bytes / 30_000 - 0.5


@shows("ca_bundle")
def test_ca_bundle(start: Start, agent: AgentHere, make_server: Callable[..., SmallServer], tmp_path: Path) -> None:
    certificate, key = make_certificate(tmp_path)
    server = make_server()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    assert server._http is not None
    server._http.socket = context.wrap_socket(server._http.socket, server_side=True)
    url = server.url.replace("http:", "https:")
    stranger = start(base_url=url)
    stranger.log({"x": 1})
    assert "certificate" in uploaded(agent, stranger, lambda state: state.error).error.lower()
    run = start(base_url=url, ca_bundle=certificate)
    run.log({"x": 1})
    uploaded(agent, run, lambda state: state.num_rows == 1)


def make_certificate(place: Path) -> tuple[Path, Path]:
    """Make a certificate for 127.0.0.1 that signs itself."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "test")])
    now = dt.datetime.now(dt.timezone.utc)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), True)
        .sign(key, hashes.SHA256())
    )
    paths = place / "cert.pem", place / "key.pem"
    paths[0].write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    paths[1].write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return paths
