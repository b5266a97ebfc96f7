"""Keys by HTTP: a user sees, makes and revokes the own ones; an admin everybody's."""

from __future__ import annotations

from typing import Annotated

import msgspec

from strobe.server.endpoint import Call, endpoint
from strobe.server.fields import Count, Name
from strobe.server.problem import Problem
from strobe.store.keys import Key, Scope

Label = Annotated[str, msgspec.Meta(max_length=200, pattern=r"^[^\x00]*\Z")]


class KeyQuery(msgspec.Struct, kw_only=True):
    """Whose keys."""

    #: admins: another user's; without it the own
    user: Name | None = None


class KeyPlace(msgspec.Struct):
    """A key by its public part."""

    id: Name


class KeyList(msgspec.Struct, kw_only=True):
    """Keys, the newest last."""

    items: list[Key]
    cursor: str | None = None


class KeyBody(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """What a new key is for."""

    label: Label = ""
    scope: Scope = "write"
    expires_ns: Count | None = None
    #: admins: whose key it is to be; without it one's own
    user: Name | None = None


class NewKey(msgspec.Struct, kw_only=True):
    """A new key, shown this once."""

    key: str
    about: Key


@endpoint("GET", "/api/v1/keys", access="account", tag="keys", query=KeyQuery, returns=KeyList)
async def list_keys(call: Call, query: KeyQuery) -> KeyList:
    """List keys, without their secret part."""
    user = _user(call)
    if query.user is not None and query.user != user:
        _require_admin(call)
        user = query.user
    return KeyList(items=await call.in_thread(call.services.store.accounts.keys.all, user))


@endpoint("POST", "/api/v1/keys", access="account", tag="keys", body=KeyBody, returns=NewKey, status=201)
async def add_key(call: Call, body: KeyBody) -> NewKey:
    """Make a key for oneself; it allows no more, and lives no longer, than the one it is made with.

    An admin makes keys for others too; they live as long as is asked for.
    """
    user, keys = _user(call), call.services.store.accounts.keys
    is_own = body.user is None or body.user == user
    if not is_own:
        _require_admin(call)
    if not call.caller.allows(body.scope):
        raise Problem(403, detail=f"your key has scope {call.caller.scope}; it cannot make one with {body.scope}")
    moments = (call.caller.expires_ns if is_own else None, body.expires_ns)
    ends = [moment for moment in moments if moment is not None]
    about, text = await call.in_thread(
        keys.add, user if is_own else body.user, scope=body.scope, label=body.label, expires_ns=min(ends, default=None)
    )
    return NewKey(key=text, about=about)


@endpoint("DELETE", "/api/v1/keys/{id}", access="account", tag="keys", path=KeyPlace, returns=Key)
async def revoke_key(call: Call, path: KeyPlace) -> Key:
    """Refuse a key from now on; sessions that were opened with it end too.

    A key revokes itself, and those of its user that allow no more than it does.
    """
    user, keys = _user(call), call.services.store.accounts.keys
    own = {key.id: key for key in await call.in_thread(keys.all, user)}
    if path.id not in own:
        _require_admin(call, Problem(404, detail=f"you have no key {path.id!r}"))
    elif not call.caller.allows(own[path.id].scope):
        raise Problem(403, detail=f"your key has scope {call.caller.scope}; it cannot revoke one with more")
    revoked: Key = await call.in_thread(keys.revoke, path.id)
    return revoked


def _user(call: Call) -> str:
    if call.caller.user is None:
        raise Problem(400, detail="`strobe ui` needs no keys: it serves this machine only")
    return call.caller.user


def _require_admin(call: Call, otherwise: Problem | None = None) -> None:
    if not (call.caller.is_admin and call.caller.allows("admin")):
        raise otherwise or Problem(403, detail="keys of others are for admins, with a key of scope admin")


ENDPOINTS = [list_keys, add_key, revoke_key]
