"""API keys: `strobe_<id>_<secret>`, shown once when made.

The secret is 256 random bits, so a plain SHA-256 of it is all that has to be kept: there is nothing to guess. The id is
public; it names the key in lists and logs.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import string
from collections.abc import Callable
from typing import Literal, get_args

import msgspec

from strobe.errors import NotInStore, UsageError
from strobe.store.database import Cursor, Database, Row

Scope = Literal["read", "write", "admin"]

PREFIX = "strobe"
_ALPHABET = string.ascii_letters + string.digits  # a double click selects all of it
_ID_LENGTH = 12  # 71 bits
_SECRET_LENGTH = 43  # 256 bits
_USED_PRECISION_NS = 60 * 10**9


class Key(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a key."""

    id: str
    account: str
    label: str
    scope: Scope
    created_ns: int
    expires_ns: int | None
    revoked_ns: int | None
    #: to the minute
    used_ns: int | None

    def is_live(self, now_ns: int) -> bool:
        return self.revoked_ns is None and (self.expires_ns is None or now_ns < self.expires_ns)


class Holder(msgspec.Struct, frozen=True, kw_only=True):
    """A key that was shown, and whose it is."""

    key: Key
    account: str
    is_admin: bool
    default_entity: str


class Keys:
    """The keys of all users."""

    def __init__(self, database: Database, clock: Callable[[], int]) -> None:
        self._database = database
        self._clock = clock

    def add(
        self, account: str, *, scope: Scope = "write", label: str = "", expires_ns: int | None = None
    ) -> tuple[Key, str]:
        """Make a key; return what is known of it, and the key itself, which cannot be had again."""
        if scope not in get_args(Scope):
            raise UsageError(f"scope is {scope!r}; it can be {', '.join(get_args(Scope))}")
        now = self._clock()
        if expires_ns is not None and expires_ns <= now:
            raise UsageError("the key would have expired already; give a moment in the future")
        key_id, secret = _random(_ID_LENGTH), _random(_SECRET_LENGTH)

        def change(cursor: Cursor) -> Key:
            found = cursor.one("SELECT disabled_ns FROM account WHERE name = ?", account)
            if found is None:
                raise NotInStore(f"there is no user {account!r}; `strobe server user add` makes one")
            if found[0] is not None:
                raise UsageError(f"user {account!r} is disabled; a key would be refused")
            cursor.run(
                "INSERT INTO api_key (id, account, label, scope, hash, created_ns, expires_ns)"
                " VALUES (?, ?, ?, ?, ?, ?, ?)",
                key_id, account, label, scope, _hash(secret), now, expires_ns,
            )  # fmt: skip
            return _key(cursor, key_id)

        return self._database.write(change), f"{PREFIX}_{key_id}_{secret}"

    def all(self, account: str | None = None) -> list[Key]:
        """Return the keys of a user, or of all, the newest last."""
        where, given = ("", ()) if account is None else (" WHERE account = ?", (account,))
        rows = self._database.read(lambda c: c.all(f"{_KEY}{where} ORDER BY created_ns, id", *given))
        return [_as_key(row) for row in rows]

    def has_live(self) -> bool:
        """Return whether anybody has a key that works."""
        return self._database.read(
            lambda cursor: (
                cursor.one(
                    "SELECT 1 FROM api_key JOIN account ON account.name = api_key.account WHERE disabled_ns IS NULL"
                    " AND revoked_ns IS NULL AND (expires_ns IS NULL OR expires_ns > ?) LIMIT 1",
                    self._clock(),
                )
                is not None
            )
        )

    def revoke(self, key_id: str) -> Key:
        """Refuse a key from now on."""

        def change(cursor: Cursor) -> Key:
            key = _key(cursor, key_id)
            if key.revoked_ns is None:
                cursor.run("UPDATE api_key SET revoked_ns = ? WHERE id = ?", self._clock(), key_id)
            return _key(cursor, key_id)

        return self._database.write(change)

    def check(self, text: str) -> Holder | None:
        """Return whose key this is; None if it is none, or not any more."""
        key_id, secret = split(text)
        # A key that cannot be one is looked up and compared all the same: the answer takes as long as for a wrong one.
        return self._holder(key_id, _hash(secret))

    def check_id(self, key_id: str) -> Holder | None:
        """Return whose key this is, where the secret was checked before (a signed session)."""
        return self._holder(key_id, None)

    def note_use(self, key: Key) -> bool:
        """Record that a key was used, at most once a minute; return whether there was something to record."""
        now = self._clock()
        if key.used_ns is not None and now - key.used_ns < _USED_PRECISION_NS:
            return False
        before = now - _USED_PRECISION_NS
        changed = self._database.write(
            lambda cursor: cursor.run(
                "UPDATE api_key SET used_ns = ? WHERE id = ? AND (used_ns IS NULL OR used_ns <= ?)",
                now,
                key.id,
                before,
            )
        )
        return changed > 0

    def _holder(self, key_id: str, digest: bytes | None) -> Holder | None:
        row = self._database.read(lambda cursor: cursor.one(_HOLDER, key_id))
        expected = bytes(row[0]) if row else bytes(32)
        matches = digest is None or hmac.compare_digest(digest, expected)
        if row is None or not matches:
            return None
        _, name, is_admin, default_entity, disabled_ns, *rest = row
        key = _as_key(tuple(rest))
        if disabled_ns is not None or not key.is_live(self._clock()):
            return None
        return Holder(key=key, account=name, is_admin=bool(is_admin), default_entity=default_entity)


def split(text: str) -> tuple[str, str]:
    """Return the public and the secret part of a key; both empty if it has not the form of one."""
    parts = text.strip().split("_")
    if len(parts) != 3 or parts[0] != PREFIX or len(parts[1]) != _ID_LENGTH or len(parts[2]) != _SECRET_LENGTH:
        return "", ""
    return parts[1], parts[2]


_FIELDS = "id, account, label, scope, created_ns, expires_ns, revoked_ns, used_ns"
_KEY = f"SELECT {_FIELDS} FROM api_key"
_HOLDER = (
    "SELECT hash, account.name, is_admin, default_entity, disabled_ns, id, api_key.account, label, scope,"
    " api_key.created_ns, expires_ns, revoked_ns, used_ns"
    " FROM api_key JOIN account ON account.name = api_key.account WHERE id = ?"
)


def _key(cursor: Cursor, key_id: str) -> Key:
    row = cursor.one(f"{_KEY} WHERE id = ?", key_id)
    if row is None:
        raise NotInStore(f"there is no key {key_id!r}; `strobe server key ls` lists them")
    return _as_key(row)


def _as_key(row: Row) -> Key:
    key_id, account, label, scope, created_ns, expires_ns, revoked_ns, used_ns = row
    return Key(
        id=key_id,
        account=account,
        label=label,
        scope=scope,
        created_ns=created_ns,
        expires_ns=expires_ns,
        revoked_ns=revoked_ns,
        used_ns=used_ns,
    )


def _random(length: int) -> str:
    return "".join(secrets.choice(_ALPHABET) for _ in range(length))


def _hash(secret: str) -> bytes:
    return hashlib.sha256(secret.encode()).digest()
