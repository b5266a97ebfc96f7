"""Users by HTTP, for admins of the server: list, make, change, refuse. What a user may change alone is in `session`."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, UnsetType

from strobe.server.endpoint import Call, endpoint
from strobe.server.fields import Name
from strobe.server.problem import Problem
from strobe.store.accounts import Account

_USERS = "/api/v1/users"
Email = Annotated[str, Meta(max_length=320, pattern=r"^[^\x00]*\Z")]


class UserPlace(msgspec.Struct):
    """A user by name."""

    user: Name


class UserList(msgspec.Struct, kw_only=True):
    """Every user, by name."""

    items: list[Account]
    cursor: str | None = None


class NewUser(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """A user to be made; the name becomes an entity too."""

    name: Name
    email: Email = ""
    is_admin: bool = False


class UserChange(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """What is left out stays as it is."""

    email: Email | UnsetType = UNSET
    is_admin: bool | UnsetType = UNSET
    #: where runs go that name no entity: the user's own name, or a team
    default_entity: Name | UnsetType = UNSET
    #: keys of a user that is disabled are refused; runs and memberships stay
    is_disabled: bool | UnsetType = UNSET


@endpoint("GET", _USERS, access="admin", tag="users", returns=UserList)
async def list_users(call: Call) -> UserList:
    """List users."""
    refuse_at_home(call)
    return UserList(items=await call.in_thread(call.services.store.accounts.all))


@endpoint("POST", _USERS, access="admin", tag="users", body=NewUser, returns=Account, status=201)
async def add_user(call: Call, body: NewUser) -> Account:
    """Make a user. To sign in it needs a key: `POST /api/v1/keys` with `user`."""
    refuse_at_home(call)
    add = call.services.store.accounts.add
    made: Account = await call.in_thread(add, body.name, email=body.email, is_admin=body.is_admin)
    return made


@endpoint("PATCH", _USERS + "/{user}", access="admin", tag="users", path=UserPlace, body=UserChange, returns=Account)
async def change_user(call: Call, path: UserPlace, body: UserChange) -> Account:
    """Change a user, or refuse its keys from now on. Nobody takes the own rights away: another admin has to."""
    refuse_at_home(call)
    if path.user == call.caller.user and (body.is_admin is False or body.is_disabled is True):
        raise Problem(
            409, detail="you cannot take your own rights away; ask another admin, or use `strobe server user`"
        )
    accounts = call.services.store.accounts
    changes: dict[str, Any] = {
        name: found for name in ("email", "is_admin", "default_entity") if (found := getattr(body, name)) is not UNSET
    }
    changed: Account = await call.in_thread(accounts.change, path.user, **changes)
    if body.is_disabled is not UNSET:
        changed = await call.in_thread(accounts.disable, path.user, undo=not body.is_disabled)
    return changed


def refuse_at_home(call: Call) -> None:
    """Raise on `strobe ui`, which knows one person: whoever sits at the machine."""
    if call.caller.is_local:
        raise Problem(400, detail="`strobe ui` has no users and no teams: it serves this machine only")


ENDPOINTS = [list_users, add_user, change_user]
