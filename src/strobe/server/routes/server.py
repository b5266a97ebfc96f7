"""`GET /api/v1/server`: what this server is, so that a client knows before it sends a key or data."""

from __future__ import annotations

import msgspec
from starlette.responses import Response

from strobe import wire
from strobe._version import __version__
from strobe.server.endpoint import Call, endpoint
from strobe.server.services import Limits


class ServerAnswer(msgspec.Struct, kw_only=True):
    """The handshake."""

    server: str = "strobe"
    version: str = __version__
    #: the oldest and the newest version of the protocol that it speaks
    protocols: tuple[int, int] = (wire.OLDEST_PROTOCOL, wire.PROTOCOL)
    #: whether a key is needed
    auth: bool
    entity: str | None = None
    user: str | None = None
    scopes: list[str] = []
    #: how much one request may bring, in bytes
    limits: Limits


@endpoint("GET", "/api/v1/server", access="open", tag="server", returns=ServerAnswer)
async def get_server(call: Call) -> Response:
    """Say what this server is; to a key's owner also who that is."""
    settings, caller = call.services.settings, call.caller
    answer = ServerAnswer(auth=settings.mode == "server", limits=settings.limits)
    if caller.is_known:
        answer.entity, answer.user = caller.entity, caller.user
        answer.scopes = [scope for scope in ("read", "write", "admin") if caller.allows(scope)]
    return call.json(answer)  # not in a thread: agents ask before they send anything, however busy we are


ENDPOINTS = [get_server]
