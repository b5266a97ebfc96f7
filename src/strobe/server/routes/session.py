"""Who one is, and signing in and out with a browser: a key becomes a cookie that scripts cannot read."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import UNSET, UnsetType
from starlette.responses import Response

from strobe.server.auth import sign_in, sign_out
from strobe.server.caller import Scope
from strobe.server.endpoint import Call, endpoint
from strobe.server.fields import Name
from strobe.server.problem import Problem
from strobe.server.routes.users import Email
from strobe.store.accounts import Role


class LoginBody(msgspec.Struct, forbid_unknown_fields=True):
    """A key, to sign in with."""

    key: str


class Session(msgspec.Struct, kw_only=True):
    """Who is signed in."""

    user: str | None
    entity: str | None
    scope: str | None
    is_admin: bool = False


class Identity(msgspec.Struct, kw_only=True):
    """Whoever asks, and what with."""

    #: none on `strobe ui`, which knows nobody by name
    user: str | None
    email: str = ""
    #: where runs go that name no entity
    entity: str | None
    #: the entities that one belongs to, with the role in each; the own name is the first
    entities: dict[str, Role] = {}
    is_admin: bool = False
    #: of the key that was shown, or that the session was opened with
    scope: Scope | None
    key: str = ""
    expires_ns: int | None = None


class IdentityChange(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """What is left out stays as it is."""

    email: Email | UnsetType = UNSET
    entity: Name | UnsetType = UNSET


@endpoint("GET", "/api/v1/session", access="account", tag="session", returns=Identity)
async def get_session(call: Call) -> Identity:
    """Say who asks: the user, the teams, and what the key allows until when."""
    caller, accounts = call.caller, call.services.store.accounts
    answer = Identity(
        user=caller.user,
        entity=caller.entity,
        is_admin=caller.is_admin,
        scope=caller.scope,
        key=caller.key,
        expires_ns=caller.expires_ns,
    )
    if caller.user is not None:
        answer.email = (await call.in_thread(accounts.get, caller.user)).email
        answer.entities = await call.in_thread(accounts.entities, caller.user)
    return answer


@endpoint("PATCH", "/api/v1/session", access="account", tag="session", body=IdentityChange, returns=Identity)
async def change_session(call: Call, body: IdentityChange) -> Identity:
    """Change one's own address, or where one's runs go that name no entity; with a key of scope write."""
    caller, accounts = call.caller, call.services.store.accounts
    if caller.user is None:
        raise Problem(400, detail="`strobe ui` knows nobody by name: there is nothing to change")
    if not caller.allows("write"):
        raise Problem(403, detail=f"your key has scope {caller.scope}, this needs write; use another key")
    changes: dict[str, Any] = {"email": body.email, "default_entity": body.entity}
    given = {name: found for name, found in changes.items() if found is not UNSET}
    changed = await call.in_thread(accounts.change, caller.user, **given)
    return Identity(
        user=caller.user,
        email=changed.email,
        entity=changed.default_entity,
        entities=await call.in_thread(accounts.entities, caller.user),
        is_admin=changed.is_admin,
        scope=caller.scope,
        key=caller.key,
        expires_ns=caller.expires_ns,
    )


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
    """Sign out: the session is over, for copies of its cookie too, which the answer takes away."""
    response = Response(status_code=204)
    await sign_out(call.request, call.services, response)
    return response


ENDPOINTS = [get_session, change_session, login, logout]
