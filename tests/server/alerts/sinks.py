"""Real receivers of alerts: an HTTP server and a mail server, each in a thread, that write down what they get."""

from __future__ import annotations

import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from email import message_from_bytes, policy
from email.message import EmailMessage
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult, LoginPassword


class HookServer:
    """Answers webhooks with the given statuses, the last one for ever."""

    def __init__(self, *statuses: int) -> None:
        self.statuses = list(statuses) or [200]
        self.got: list[tuple[str, dict[str, str], bytes]] = []
        self.url = ""

    def take(self, path: str, headers: dict[str, str], body: bytes) -> int:
        self.got.append((path, headers, body))
        return self.statuses.pop(0) if len(self.statuses) > 1 else self.statuses[0]


@contextmanager
def hook_server(*statuses: int, certificate: tuple[Path, Path] | None = None) -> Iterator[HookServer]:
    found = HookServer(*statuses)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            status = found.take(self.path, dict(self.headers.items()), body)
            self.send_response(status)
            if 300 <= status < 400:
                self.send_header("Location", found.url + "/elsewhere")
            self.end_headers()

        def log_message(self, *_: Any) -> None: ...

    class Server(ThreadingHTTPServer):
        request_queue_size = 128  # several couriers come at once; five would be turned away

    server = Server(("127.0.0.1", 0), Handler)
    scheme = "http"
    if certificate is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True)
        scheme = "https"
    found.url = f"{scheme}://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield found
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class Mailbox:
    """What a mail server got."""

    def __init__(self) -> None:
        self.messages: list[tuple[str, list[str], EmailMessage]] = []
        self.logins: list[tuple[bytes, bytes]] = []
        self.was_secure: list[bool] = []
        self.port = 0

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:  # noqa: N802  # aiosmtpd's name
        message = message_from_bytes(envelope.content, policy=policy.default)
        assert isinstance(message, EmailMessage)
        self.messages.append((envelope.mail_from, envelope.rcpt_tos, message))
        self.was_secure.append(server.transport.get_extra_info("sslcontext") is not None)
        return "250 taken"

    def check(self, server: Any, session: Any, envelope: Any, mechanism: str, login: Any) -> AuthResult:
        assert isinstance(login, LoginPassword)
        self.logins.append((login.login, login.password))
        return AuthResult(success=login.password == b"right")


@contextmanager
def mail_server(
    certificate: tuple[Path, Path] | None = None, *, is_tls_from_start: bool = False, needs_login: bool = False
) -> Iterator[Mailbox]:
    box = Mailbox()
    context = None
    if certificate is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*certificate)
    controller = Controller(
        box,
        hostname="127.0.0.1",
        port=_free_port(),
        ssl_context=context if is_tls_from_start else None,
        tls_context=None if is_tls_from_start else context,
        require_starttls=context is not None and not is_tls_from_start,
        authenticator=box.check,
        auth_required=needs_login,
        auth_require_tls=not is_tls_from_start,
    )
    controller.start()
    box.port = controller.port
    try:
        yield box
    finally:
        controller.stop()


def _free_port() -> int:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as found:
        return int(found.getsockname()[1])
