"""What every answer carries, and which names the server may be called by.

A page that somebody else's name server points at this machine (DNS rebinding) runs in the user's browser as if it were
ours; but it calls us by its own name, so names that are not ours are refused. Addresses are fine: a page has to be
loaded from an address to be of its origin.
"""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Iterable

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from strobe.server.problem import Problem
from strobe.server.services import ServerSettings

#: our own pages: nothing from elsewhere, no inline scripts, in nobody's frame
PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:;"
    " media-src 'self' blob:; font-src 'self'; connect-src 'self'; worker-src 'self' blob:; frame-src 'self' blob:;"
    " manifest-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
#: what users logged (HTML, SVG, files): shown in a frame of ours at most, as a page of no origin
CONTENT_POLICY = (
    "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline' data: blob:; style-src 'unsafe-inline';"
    " img-src data: blob:; media-src data: blob:; font-src data:; frame-ancestors 'self'"
)
_HEADERS = {
    "Content-Security-Policy": PAGE_POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
}
#: answers are for the one who asked; a handler that knows better says so
_CACHE = "private, no-cache"
_HSTS = "max-age=31536000"


class SecurityHeaders:
    """Puts the headers on every answer that has not got its own."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
                headers.setdefault("Cache-Control", _CACHE)
                if scope.get("scheme") == "https":
                    headers.setdefault("Strict-Transport-Security", _HSTS)
            await send(message)

        await self._app(scope, receive, sending if scope["type"] == "http" else send)


class HostCheck:
    """Refuses requests that call the server by a name that is not its own."""

    def __init__(self, app: ASGIApp, settings: ServerSettings) -> None:
        self._app = app
        self._names = _Names(settings.allowed_hosts, only_local=settings.mode == "local")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] in ("http", "websocket"):
            given = Headers(scope=scope).get("host", "")
            if not self._names.include(host_of(given)):
                raise Problem(
                    421, detail=f"this server is not called {given!r}; if it is, start it with --allowed-host NAME"
                )
        await self._app(scope, receive, send)


class _Names:
    """The names of a server: exact ones, `*.example.com`, or `*` for any."""

    def __init__(self, allowed: Iterable[str], *, only_local: bool) -> None:
        given = {name.strip().lower().rstrip(".") for name in allowed}
        self._is_any = "*" in given
        self._suffixes = tuple(name[1:] for name in given if name.startswith("*."))
        self._only_local = only_local
        own = set() if only_local else {socket.gethostname().lower(), socket.gethostname().lower().partition(".")[0]}
        self._exact = given | own | {"localhost"}

    def include(self, host: str) -> bool:
        if self._is_any or host in self._exact or (self._suffixes and host.endswith(self._suffixes)):
            return True
        try:
            address = ipaddress.ip_address(host)
        except ValueError:
            return host.endswith(".localhost")
        return address.is_loopback or not self._only_local


def host_of(header: str) -> str:
    """Return the name or address in a Host header, without port and brackets, in small letters."""
    text = header.strip().lower()
    if text.startswith("["):
        address, _, port = text[1:].partition("]")
        return text if port.strip(":0123456789") else address  # [::1].example is no address
    return text.partition(":")[0].rstrip(".")
