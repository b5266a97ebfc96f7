"""Signing in and out with a browser: a key becomes a cookie that scripts cannot read."""

from __future__ import annotations

import msgspec
from starlette.responses import Response

from strobe.server.auth import sign_in, sign_out
from strobe.server.endpoint import Call, endpoint
from strobe.server.problem import Problem


class LoginBody(msgspec.Struct, forbid_unknown_fields=True):
    """A key, to sign in with."""

    key: str


class Session(msgspec.Struct, kw_only=True):
    """Who is signed in."""

    user: str | None
    entity: str | None
    scope: str | None
    is_admin: bool = False


@endpoint("POST", "/api/v1/login", access="open", tag="session", body=LoginBody, returns=Session)
async def login(call: Call, body: LoginBody) -> Response:
    """Sign in: the answer sets a session cookie, which is good until the key ends, 30 days at most.

    Requests that change something and rely on the cookie must come from our own pages and carry `X-Strobe-CSRF: 1`.
    """
    if call.caller.is_local:
        raise Problem(400, detail="`strobe ui` needs no key: there is nothing to sign in to")
    response = Response(media_type="application/json")
    caller = await sign_in(call.request, call.services, body.key, response)
    answer = Session(user=caller.user, entity=caller.entity, scope=caller.scope, is_admin=caller.is_admin)
    response.body = msgspec.json.encode(answer)
    response.headers["Content-Length"] = str(len(response.body))
    return response


@endpoint("POST", "/api/v1/logout", access="open", tag="session", status=204)
async def logout(call: Call) -> Response:
    """Sign out: the answer takes the session cookie away."""
    response = Response(status_code=204)
    sign_out(call.request, response)
    return response


ENDPOINTS = [login, logout]
