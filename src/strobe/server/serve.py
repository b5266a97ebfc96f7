"""Running the application: sockets, TLS, signals, and an end that loses nothing.

The first SIGTERM or SIGINT begins the end: `/readyz` says 503 and streams end at once; after `drain_s`, in which load
balancers notice, no connection is taken any more, and requests that are being answered get `grace_s`. A second signal
does not wait.
"""

from __future__ import annotations

import asyncio
import logging
import signal
import socket
from collections.abc import Callable, Iterable
from pathlib import Path
from types import FrameType

import msgspec
import uvicorn

from strobe.errors import UsageError
from strobe.server.app import create_app
from strobe.server.chores import Chore
from strobe.server.endpoint import Endpoint
from strobe.server.log import FIELDS
from strobe.server.memory import share_heaps
from strobe.server.protocol import ImpatientProtocol
from strobe.server.services import Services

#: for TLS 1.2; those of 1.3 are all of this kind. uvicorn's default leaves only older ones to 1.2
_CIPHERS = "ECDHE+AESGCM:ECDHE+CHACHA20"


class Listen(msgspec.Struct, frozen=True, kw_only=True):
    """Where and how to listen."""

    host: str = "127.0.0.1"
    #: 0: any that is free
    port: int = 7347
    tls_cert: Path | None = None
    tls_key: Path | None = None
    #: proxies whose X-Forwarded-For and -Proto are believed; none: nobody's
    forwarded_allow_ips: str = "127.0.0.1"
    drain_s: float = 0.0
    grace_s: int = 30
    keep_alive_s: int = 75
    max_connections: int = 2000

    @property
    def is_tls(self) -> bool:
        return self.tls_cert is not None


def serve(
    services: Services,
    listen: Listen,
    on_ready: Callable[[str], None] | None = None,
    chores: Iterable[Chore] = (),
    extra: Iterable[Endpoint] = (),
) -> None:
    """Serve until a signal says stop. `on_ready` is called with the server's address once it answers."""
    if (listen.tls_cert is None) != (listen.tls_key is None):
        raise UsageError("TLS needs both a certificate and its key; give --tls-cert and --tls-key")
    config = uvicorn.Config(
        create_app(services, extra, chores),
        http=ImpatientProtocol,
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=bool(listen.forwarded_allow_ips),
        forwarded_allow_ips=listen.forwarded_allow_ips,
        timeout_keep_alive=listen.keep_alive_s,
        timeout_graceful_shutdown=listen.grace_s,
        limit_concurrency=listen.max_connections,
        ssl_certfile=listen.tls_cert,
        ssl_keyfile=listen.tls_key,
        ssl_ciphers=_CIPHERS,
    )
    try:
        config.load()
    except OSError as error:  # ssl.SSLError is one too
        raise UsageError(f"{listen.tls_cert} with the key {listen.tls_key} cannot be used: {error}") from error
    sockets = _bind(listen)
    url = _url(listen, sockets[0])
    share_heaps()
    server = _Server(config, services, listen.drain_s, lambda: _ready(services.log, url, on_ready))
    server.run(sockets)


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, services: Services, drain_s: float, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._services = services
        self._drain_s = drain_s
        self._ready = ready
        self._loop: asyncio.AbstractEventLoop | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        self._loop = asyncio.get_running_loop()
        await super().startup(sockets)
        if self.started:
            self._ready()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        # Not uvicorn's own: that one kills the process by the same signal at the end, before the store is closed.
        if self._loop is None:  # not even begun
            self.should_exit = True
        else:
            self._loop.call_soon_threadsafe(self._begin_end, signal.Signals(sig).name)

    def _begin_end(self, name: str) -> None:
        if self.should_exit:
            self.force_exit = True
        elif self._services.stopping or not self._drain_s:
            self._stop()
        else:
            asyncio.get_running_loop().call_later(self._drain_s, self._stop)
        if not self._services.stopping:
            self._services.log.info("stopping", extra={FIELDS: {"signal": name}})
            self._services.stopping.set()

    def _stop(self) -> None:
        self.should_exit = True


def _bind(listen: Listen) -> list[socket.socket]:
    try:
        found = socket.getaddrinfo(listen.host, listen.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except OSError as error:
        raise UsageError(f"host {listen.host!r} is no address of this machine: {error.strerror}") from error
    opened: list[socket.socket] = []
    port = listen.port
    try:
        for family, _, _, _, address in dict.fromkeys(found):
            opened.append(socket.create_server((address[0], port), family=family, backlog=1024))
            port = opened[0].getsockname()[1]  # of several addresses all get the port that the first got
    except OSError as error:
        for one in opened:
            one.close()
        raise UsageError(
            f"cannot listen on {listen.host} port {listen.port}: {error.strerror or error}; choose another with --port"
        ) from error
    return opened


def _url(listen: Listen, bound: socket.socket) -> str:
    host, port = bound.getsockname()[:2]
    name = f"[{host}]" if ":" in host else host
    return f"{'https' if listen.is_tls else 'http'}://{name}:{port}"


def _ready(log: logging.Logger, url: str, on_ready: Callable[[str], None] | None) -> None:
    log.info("serving", extra={FIELDS: {"url": url}})
    if on_ready is not None:
        on_ready(url)
