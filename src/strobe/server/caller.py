"""Who is asking: a key's owner, the person at this machine, or nobody in particular.

A value only; how it is found out is `strobe.server.auth`'s business.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from strobe.home import LOCAL_ENTITY

#: what a key is good for; each includes those before it
Scope = Literal["read", "write", "admin"]
_RANKS: dict[str, int] = {"read": 1, "write": 2, "admin": 3}


class Caller(msgspec.Struct, frozen=True, kw_only=True):
    """Who makes a request, and what the key allows."""

    #: the account's name; none for strangers
    user: str | None = None
    #: where runs go that name no entity
    entity: str | None = None
    scope: Scope | None = None
    #: whether the account runs the server: it may see and change everything, with a key that allows it
    is_admin: bool = False
    #: `strobe ui`: the person at this machine, who may do everything
    is_local: bool = False
    #: the public part of the key, for limits and logs
    key: str = ""
    #: when the key ends, if it does
    expires_ns: int | None = None
    via: Literal["key", "cookie", "local", "nothing"] = "nothing"

    @property
    def is_known(self) -> bool:
        return self.is_local or self.user is not None

    def allows(self, scope: Scope) -> bool:
        """Return whether the key's scope includes this one."""
        return self.is_local or _RANKS.get(self.scope or "", 0) >= _RANKS[scope]


STRANGER = Caller()
LOCAL = Caller(entity=LOCAL_ENTITY, scope="admin", is_admin=True, is_local=True, via="local")
