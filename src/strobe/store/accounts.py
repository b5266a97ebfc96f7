"""Accounts: users, the teams they are in, and what they may do with a project.

A user's own name is an entity, a team's name is another; names are taken once. What a role or a project's access means
is decided here, in `Standing`, so that every way to the data gives the same answer. Keys are in `strobe.store.keys`.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Literal, get_args

import msgspec

from strobe.errors import NotInStore, UsageError
from strobe.home import LOCAL_ENTITY, check_name
from strobe.store.database import Cursor, Database, Row
from strobe.store.keys import Keys
from strobe.store.sessions import Sessions

Role = Literal["viewer", "member", "owner"]
Level = Literal["read", "write", "admin"]
#: the least role that a level needs
_RANKS: dict[str, int] = {"viewer": 1, "read": 1, "member": 2, "write": 2, "owner": 3, "admin": 3}


class Account(msgspec.Struct, frozen=True, kw_only=True):
    """A user."""

    name: str
    email: str
    is_admin: bool
    default_entity: str
    created_ns: int
    disabled_ns: int | None


class Member(msgspec.Struct, frozen=True, kw_only=True):
    """A user's place in a team."""

    team: str
    account: str
    role: Role


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """What a project is to a user, or to nobody in particular."""

    #: private, team or public; none: there is no such project
    access: str | None
    role: Role | None
    is_known: bool

    def allows(self, level: Level) -> bool:
        """Return whether this level is allowed, as far as the project goes."""
        if self.role is not None and _RANKS[self.role] >= _RANKS[level]:
            return True
        if level != "read":
            return False
        return self.access == "public" or (self.access == "team" and self.is_known)


class Accounts:
    """Users, teams and, as `keys`, their keys."""

    def __init__(self, database: Database, clock: Callable[[], int] = time.time_ns) -> None:
        self._database = database
        self._clock = clock
        self.keys = Keys(database, clock)
        self.sessions = Sessions(database, clock)

    # -- users

    def add(self, name: str, *, email: str = "", is_admin: bool = False) -> Account:
        """Make a user; the name becomes an entity too."""
        _check_entity(name)

        def change(cursor: Cursor) -> Account:
            self._take_name(cursor, name, "user")
            cursor.run(
                "INSERT INTO account (name, email, is_admin, default_entity, created_ns) VALUES (?, ?, ?, ?, ?)",
                name, email, int(is_admin), name, self._clock(),
            )  # fmt: skip
            return _account(cursor, name)

        return self._database.write(change)

    def get(self, name: str) -> Account:
        """Return a user; raise NotInStore if there is none of that name."""
        return self._database.read(lambda cursor: _account(cursor, name))

    def all(self) -> list[Account]:
        """Return every user, by name."""
        return [_as_account(row) for row in self._database.read(lambda c: c.all(f"{_ACCOUNT} ORDER BY name"))]

    def change(
        self, name: str, *, email: str | None = None, is_admin: bool | None = None, default_entity: str | None = None
    ) -> Account:
        """Change what is given."""

        def change(cursor: Cursor) -> Account:
            account = _account(cursor, name)
            entity = account.default_entity if default_entity is None else default_entity
            if entity != name and _role(cursor, name, entity) is None:
                raise UsageError(f"{name!r} is not in team {entity!r}; its runs can go to its own name or to its teams")
            cursor.run(
                "UPDATE account SET email = ?, is_admin = ?, default_entity = ? WHERE name = ?",
                account.email if email is None else email,
                int(account.is_admin if is_admin is None else is_admin),
                entity,
                name,
            )
            return _account(cursor, name)

        return self._database.write(change)

    def disable(self, name: str, *, undo: bool = False) -> Account:
        """Refuse a user's keys from now on, or no longer; runs stay where they are."""

        def change(cursor: Cursor) -> Account:
            account = _account(cursor, name)
            if undo or account.disabled_ns is None:
                moment = None if undo else self._clock()
                cursor.run("UPDATE account SET disabled_ns = ? WHERE name = ?", moment, name)
            return _account(cursor, name)

        return self._database.write(change)

    # -- teams

    def add_team(self, name: str, *, owner: str) -> Member:
        """Make a team with its first owner."""
        _check_entity(name)

        def change(cursor: Cursor) -> Member:
            _account(cursor, owner)
            self._take_name(cursor, name, "team")
            return _set_member(cursor, name, owner, "owner")

        return self._database.write(change)

    def teams(self) -> dict[str, list[Member]]:
        """Return every team with its members."""

        def ask(cursor: Cursor) -> dict[str, list[Member]]:
            found: dict[str, list[Member]] = {
                name: [] for (name,) in cursor.all("SELECT name FROM entity WHERE kind = 'team' ORDER BY name")
            }
            for row in cursor.all("SELECT team, account, role FROM team_member ORDER BY team, account"):
                found[row[0]].append(_as_member(row))
            return found

        return self._database.read(ask)

    def set_member(self, team: str, account: str, role: Role = "member") -> Member:
        """Put a user into a team, or change the role there."""
        if role not in get_args(Role):
            raise UsageError(f"role is {role!r}; it can be {', '.join(get_args(Role))}")

        def change(cursor: Cursor) -> Member:
            _check_team(cursor, team)
            _account(cursor, account)
            member = _set_member(cursor, team, account, role)
            _check_owner_left(cursor, team)
            return member

        return self._database.write(change)

    def remove_member(self, team: str, account: str) -> None:
        """Take a user out of a team; runs that went there by default go to the user's own name."""

        def change(cursor: Cursor) -> None:
            _check_team(cursor, team)
            if not cursor.run("DELETE FROM team_member WHERE team = ? AND account = ?", team, account):
                raise NotInStore(f"{account!r} is not in team {team!r}")
            _check_owner_left(cursor, team)
            cursor.run("UPDATE account SET default_entity = name WHERE name = ? AND default_entity = ?", account, team)

        self._database.write(change)

    def entities(self, account: str) -> dict[str, Role]:
        """Return the entities that a user belongs to, with the role in each; the own name is the first."""

        def ask(cursor: Cursor) -> dict[str, Role]:
            rows = cursor.all("SELECT team, role FROM team_member WHERE account = ? ORDER BY team", account)
            return {account: "owner", **dict(rows)}

        return self._database.read(ask)

    # -- what is allowed

    def standing(self, account: str | None, entity: str, project: str | None = None) -> Standing:
        """Return what a project (or an entity as a whole) is to a user, or to nobody in particular."""

        def ask(cursor: Cursor) -> Standing:
            role = None if account is None else _role(cursor, account, entity)
            found = None
            if project is not None:
                found = cursor.one("SELECT access FROM project WHERE entity = ? AND name = ?", entity, project)
            return Standing(access=found[0] if found else None, role=role, is_known=account is not None)

        return self._database.read(ask)

    # -- what servers of one store share

    def secret(self, name: str) -> bytes:
        """Return 256 random bits, the same for every server of this store and every call with this name."""
        import secrets

        def change(cursor: Cursor) -> bytes:
            cursor.run(
                "INSERT INTO server_secret (name, body) VALUES (?, ?) ON CONFLICT (name) DO NOTHING",
                name, secrets.token_bytes(32),
            )  # fmt: skip
            row = cursor.one("SELECT body FROM server_secret WHERE name = ?", name)
            assert row is not None
            return bytes(row[0])

        return self._database.write(change)

    def _take_name(self, cursor: Cursor, name: str, kind: str) -> None:
        taken = not cursor.run(
            "INSERT INTO entity (name, kind, created_ns) VALUES (?, ?, ?) ON CONFLICT (name) DO NOTHING",
            name, kind, self._clock(),
        )  # fmt: skip
        if taken:
            raise UsageError(f"the name {name!r} is taken, by a user or a team; choose another")


_ACCOUNT = "SELECT name, email, is_admin, default_entity, created_ns, disabled_ns FROM account"


def _account(cursor: Cursor, name: str) -> Account:
    row = cursor.one(f"{_ACCOUNT} WHERE name = ?", name)
    if row is None:
        raise NotInStore(f"there is no user {name!r}; `strobe server user ls` lists them")
    return _as_account(row)


def _as_account(row: Row) -> Account:
    name, email, is_admin, default_entity, created_ns, disabled_ns = row
    return Account(
        name=name,
        email=email,
        is_admin=bool(is_admin),
        default_entity=default_entity,
        created_ns=created_ns,
        disabled_ns=disabled_ns,
    )


def _as_member(row: Row) -> Member:
    return Member(team=row[0], account=row[1], role=row[2])


def _role(cursor: Cursor, account: str, entity: str) -> Role | None:
    if account == entity:
        return "owner"
    found = cursor.one("SELECT role FROM team_member WHERE team = ? AND account = ?", entity, account)
    return found[0] if found else None


def _set_member(cursor: Cursor, team: str, account: str, role: Role) -> Member:
    cursor.run(
        "INSERT INTO team_member (team, account, role) VALUES (?, ?, ?)"
        " ON CONFLICT (team, account) DO UPDATE SET role = excluded.role",
        team, account, role,
    )  # fmt: skip
    return Member(team=team, account=account, role=role)


def _check_team(cursor: Cursor, name: str) -> None:
    # Two owners that leave at once must not both see the other: the team's row is theirs one after the other.
    sql = f"SELECT kind FROM entity WHERE name = ?{cursor.dialect.for_update}"
    row = cursor.one(sql, name)
    if row is None or row[0] != "team":
        raise NotInStore(f"there is no team {name!r}; `strobe server team ls` lists them")


def _check_owner_left(cursor: Cursor, team: str) -> None:
    if cursor.one("SELECT 1 FROM team_member WHERE team = ? AND role = 'owner'", team) is None:
        raise UsageError(f"team {team!r} would have no owner left; make somebody else owner first")


def _check_entity(name: str) -> None:
    check_name("name", name)
    if name == LOCAL_ENTITY:
        raise UsageError(f"{LOCAL_ENTITY!r} means the entity of whoever sends it; choose another name")
