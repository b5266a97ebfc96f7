"""Webhooks: an alert as a JSON POST, signed, to an address that may be reached, in a bounded time."""

from __future__ import annotations

import hashlib
import hmac
import http.client
import socket
import ssl
import threading
from collections.abc import Callable
from contextlib import closing, suppress
from datetime import datetime, timezone
from typing import Any
from urllib.parse import quote

import msgspec

from strobe._version import __version__
from strobe.server.alerts.address import parse_url, resolve
from strobe.server.alerts.settings import AlertSettings
from strobe.store.alerts import Delivery

CONNECT_S = 5.0
#: from the first byte sent to the last header of the answer
TOTAL_S = 15.0
SIGNATURE_HEADER = "Strobe-Signature"
DELIVERY_HEADER = "Strobe-Delivery"


class Refused(Exception):
    """The receiver answered, but not that it has it."""

    def __init__(self, status: int) -> None:
        self.status = status
        #: whether the same again will hardly do better
        self.is_final = 300 <= status < 500 and status not in (408, 409, 425, 429)
        hint = "; redirects are not followed" if 300 <= status < 400 else ""
        super().__init__(f"the webhook answered {status}{hint}")


def sign(secret: str, body: bytes, time_s: int) -> str:
    """Return the signature header: the time, and HMAC-SHA256 over "<time>.<body>"."""
    digest = hmac.new(secret.encode(), str(time_s).encode() + b"." + body, hashlib.sha256).hexdigest()
    return f"t={time_s},v1={digest}"


def post(delivery: Delivery, settings: AlertSettings, *, now_s: int) -> None:
    """Send an alert; raise Refused, Forbidden or OSError (or http.client's own) if it did not arrive."""
    body = msgspec.json.encode(_BODIES[delivery.sink.format](delivery, settings))
    headers = {
        "Content-Type": "application/json",
        "User-Agent": f"strobe/{__version__}",
        "Connection": "close",
        DELIVERY_HEADER: delivery.id,
        SIGNATURE_HEADER: sign(delivery.sink.secret, body, now_s),
    }
    status = _request(delivery.sink.addresses[0], body, headers, settings)
    if not 200 <= status < 300:
        raise Refused(status)


def link_to(delivery: Delivery, settings: AlertSettings) -> str:
    """Return where the run can be seen, or nothing if nobody said where this server is."""
    if not settings.public_url:
        return ""
    entity, project, run = (quote(part, safe="") for part in (delivery.entity, delivery.project, delivery.run))
    return f"{settings.public_url}/{entity}/{project}/runs/{run}"


def _request(url: str, body: bytes, headers: dict[str, str], settings: AlertSettings) -> int:
    target = parse_url(url)
    with closing(_Line(_connect(resolve(target, settings.networks), target.port))) as line:
        if target.is_tls:
            line.secure(ssl.create_default_context(cafile=settings.ca_file), target.host)
        connection = http.client.HTTPConnection(target.host, target.port)
        connection.sock = line.socket  # one that was judged: the connection makes none of its own
        connection.auto_open = 0
        connection.request("POST", target.path, body, {"Host": target.host_header, **headers})
        return connection.getresponse().status


class _Line:
    """A connected socket that is cut off after a while.

    A time-out of its own holds for each piece that is read; whoever sends a byte now and then would never reach it.
    """

    def __init__(self, connected: socket.socket) -> None:
        self.socket = connected
        connected.settimeout(TOTAL_S)
        self._deadline = threading.Timer(TOTAL_S, self._cut_off)
        self._deadline.daemon = True
        self._deadline.start()

    def secure(self, context: ssl.SSLContext, host: str) -> None:
        # In two steps, so that the handshake can be cut off as well.
        wrapped = context.wrap_socket(self.socket, server_hostname=host, do_handshake_on_connect=False)
        self.socket = wrapped
        wrapped.do_handshake()

    def close(self) -> None:
        self._deadline.cancel()
        self.socket.close()

    def _cut_off(self) -> None:
        with suppress(OSError):  # it may be closed already
            self.socket.shutdown(socket.SHUT_RDWR)


def _connect(addresses: list[str], port: int) -> socket.socket:
    for number, address in enumerate(addresses):
        try:
            return socket.create_connection((address, port), timeout=CONNECT_S)
        except OSError:
            if number == len(addresses) - 1:
                raise
    raise OSError("the host has no address")


def _strobe_body(delivery: Delivery, settings: AlertSettings) -> dict[str, Any]:
    moment = datetime.fromtimestamp(delivery.time_ns / 1e9, timezone.utc)
    return {
        "id": delivery.id,
        "event": "alert",
        "kind": delivery.kind,
        "rule": delivery.rule_id,
        "level": delivery.level,
        "title": delivery.title,
        "text": delivery.text,
        "time": moment.isoformat(),
        "time_ns": delivery.time_ns,
        "entity": delivery.entity,
        "project": delivery.project,
        "run": delivery.run,
        "url": link_to(delivery, settings),
    }


def _slack_body(delivery: Delivery, settings: AlertSettings) -> dict[str, Any]:
    return {"text": _message(delivery, settings, "*")}


def _discord_body(delivery: Delivery, settings: AlertSettings) -> dict[str, Any]:
    # Longer messages are refused there; nobody is to be mentioned by a run's words.
    return {"content": _message(delivery, settings, "**")[:1900], "allowed_mentions": {"parse": []}}


def _message(delivery: Delivery, settings: AlertSettings, bold: str) -> str:
    path = f"{delivery.entity}/{delivery.project}/{delivery.run}"
    lines = [f"{bold}{delivery.level}: {delivery.title}{bold}", delivery.text, link_to(delivery, settings) or path]
    return "\n".join(line for line in lines if line)


_BODIES: dict[str, Callable[[Delivery, AlertSettings], dict[str, Any]]] = {
    "strobe": _strobe_body,
    "slack": _slack_body,
    "discord": _discord_body,
}
