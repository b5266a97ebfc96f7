"""Users, teams, keys, and what they allow: the same on both databases."""

from __future__ import annotations

import itertools
import threading

import pytest

from strobe.errors import NotInStore, UsageError
from strobe.store.accounts import Accounts, Level, Role, Standing
from strobe.store.database import Database
from strobe.store.keys import split

MINUTE_NS = 60 * 10**9


class Clock:
    """A clock that moves when it is told to."""

    def __init__(self) -> None:
        self.now_ns = 1_700_000_000 * 10**9

    def __call__(self) -> int:
        return self.now_ns


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def accounts(database: Database, clock: Clock) -> Accounts:
    return Accounts(database, clock)


def add_project(database: Database, entity: str, name: str, access: str) -> None:
    database.write(
        lambda cursor: cursor.run(
            "INSERT INTO project (entity, name, access, created_ns) VALUES (?, ?, ?, 0)", entity, name, access
        )
    )


# -- users


def test_a_user_is_an_entity_of_its_own(accounts: Accounts) -> None:
    made = accounts.add("ada", email="ada@example.com", is_admin=True)
    assert accounts.get("ada") == made
    assert (made.default_entity, made.is_admin, made.email) == ("ada", True, "ada@example.com")
    assert accounts.entities("ada") == {"ada": "owner"}
    assert accounts.all() == [made]


@pytest.mark.parametrize("name", ["", "a/b", "..", "local", "x" * 129, "a\nb"])
def test_names_that_cannot_be(accounts: Accounts, name: str) -> None:
    with pytest.raises(UsageError):
        accounts.add(name)
    assert accounts.all() == []


def test_a_name_is_taken_once_by_a_user_or_a_team(accounts: Accounts) -> None:
    accounts.add("ada")
    accounts.add_team("lab", owner="ada")
    for take in (
        lambda: accounts.add("lab"),
        lambda: accounts.add_team("ada", owner="ada"),
        lambda: accounts.add("ada"),
    ):
        with pytest.raises(UsageError, match="taken"):
            take()


def test_names_differ_by_case_and_take_unicode(accounts: Accounts) -> None:
    names = ["Ada", "ada", "zoë müller", "研究"]
    for name in names:
        accounts.add(name)
    assert [account.name for account in accounts.all()] == sorted(names, key=str.encode)


def test_what_is_given_is_changed(accounts: Accounts) -> None:
    accounts.add("ada", email="old@example.com")
    assert accounts.change("ada", is_admin=True).email == "old@example.com"
    assert accounts.change("ada", email="new@example.com").is_admin
    with pytest.raises(NotInStore, match="user ls"):
        accounts.change("bob", is_admin=True)


# -- teams


def test_members_of_a_team(accounts: Accounts) -> None:
    for name in ("ada", "bob"):
        accounts.add(name)
    accounts.add_team("lab", owner="ada")
    accounts.set_member("lab", "bob", "viewer")
    accounts.set_member("lab", "bob", "member")
    assert [(m.account, m.role) for m in accounts.teams()["lab"]] == [("ada", "owner"), ("bob", "member")]
    assert accounts.entities("bob") == {"bob": "owner", "lab": "member"}
    accounts.change("bob", default_entity="lab")
    accounts.remove_member("lab", "bob")
    assert accounts.get("bob").default_entity == "bob", "runs no longer go where the user may not write"
    with pytest.raises(NotInStore, match="not in team"):
        accounts.remove_member("lab", "bob")


def test_a_team_keeps_an_owner(accounts: Accounts) -> None:
    accounts.add("ada")
    accounts.add_team("lab", owner="ada")
    with pytest.raises(UsageError, match="no owner left"):
        accounts.remove_member("lab", "ada")
    with pytest.raises(UsageError, match="no owner left"):
        accounts.set_member("lab", "ada", "member")
    assert accounts.entities("ada")["lab"] == "owner", "what was refused has not happened"


def test_a_default_entity_is_one_of_the_users(accounts: Accounts) -> None:
    accounts.add("ada")
    accounts.add("bob")
    accounts.add_team("lab", owner="ada")
    with pytest.raises(UsageError, match="not in team"):
        accounts.change("bob", default_entity="lab")
    with pytest.raises(NotInStore, match="no team"):
        accounts.set_member("ada", "bob", "owner")


def test_a_role_that_there_is_not(accounts: Accounts) -> None:
    accounts.add("ada")
    accounts.add_team("lab", owner="ada")
    with pytest.raises(UsageError, match="viewer, member, owner"):
        accounts.set_member("lab", "ada", "boss")  # type: ignore[arg-type]  # what is tested


# -- what is allowed


@pytest.mark.parametrize(
    ("access", "role", "is_known", "levels"),
    [
        ("private", None, False, ""),
        ("private", None, True, ""),
        ("private", "viewer", True, "read"),
        ("private", "member", True, "read write"),
        ("private", "owner", True, "read write admin"),
        ("team", None, False, ""),
        ("team", None, True, "read"),
        ("team", "viewer", True, "read"),
        ("public", None, False, "read"),
        ("public", None, True, "read"),
        ("public", "member", True, "read write"),
        (None, None, False, ""),
        (None, None, True, ""),
        (None, "viewer", True, "read"),
        (None, "member", True, "read write"),
    ],
)
def test_levels(access: str | None, role: Role | None, is_known: bool, levels: str) -> None:
    standing = Standing(access=access, role=role, is_known=is_known)
    every: list[Level] = ["read", "write", "admin"]
    assert [level for level in every if standing.allows(level)] == levels.split()


def test_a_standing_is_read_from_the_store(accounts: Accounts, database: Database) -> None:
    for name in ("ada", "bob"):
        accounts.add(name)
    accounts.add_team("lab", owner="ada")
    accounts.set_member("lab", "bob", "viewer")
    add_project(database, "lab", "secret plans", "private")
    add_project(database, "ada", "open", "public")
    assert accounts.standing("bob", "lab", "secret plans") == Standing(access="private", role="viewer", is_known=True)
    assert accounts.standing("ada", "ada", "nothing") == Standing(access=None, role="owner", is_known=True)
    assert accounts.standing(None, "ada", "open") == Standing(access="public", role=None, is_known=False)
    assert accounts.standing("bob", "lab") == Standing(access=None, role="viewer", is_known=True)


# -- keys


def test_a_key_is_shown_once_and_known_again(accounts: Accounts) -> None:
    accounts.add("ada", is_admin=True)
    key, text = accounts.keys.add("ada", label="laptop")
    assert text.startswith(f"strobe_{key.id}_")
    holder = accounts.keys.check(text)
    assert holder is not None
    assert (holder.account, holder.key, holder.is_admin, holder.default_entity) == ("ada", key, True, "ada")
    assert accounts.keys.all("ada") == [key]


def test_the_store_does_not_hold_the_secret(accounts: Accounts, database: Database) -> None:
    accounts.add("ada")
    _, text = accounts.keys.add("ada")
    secret = split(text)[1]
    rows = database.read(lambda cursor: cursor.all("SELECT * FROM api_key"))
    assert rows
    assert all(secret.encode() not in repr(row).encode() for row in rows)


def test_keys_that_are_none(accounts: Accounts) -> None:
    accounts.add("ada")
    _, text = accounts.keys.add("ada")
    _, other = accounts.keys.add("ada")
    stem, secret = text.rsplit("_", 1)
    wrong = ["", "strobe", text[:-1], text + "x", text.upper(), f"{stem}_{other.rsplit('_', 1)[1]}", f"x{text}"]
    wrong += [f"{stem}_{secret[:-1]}{'a' if secret[-1] != 'a' else 'b'}", "strobe__" + secret, "ü" * 62, "_" * 62]
    for attempt in wrong:
        assert accounts.keys.check(attempt) is None, attempt
    assert accounts.keys.check(f" {text}\n") is not None, "blanks around a pasted key mean nothing"


def test_keys_end(accounts: Accounts, clock: Clock) -> None:
    accounts.add("ada")
    short, short_text = accounts.keys.add("ada", expires_ns=clock() + MINUTE_NS)
    long, long_text = accounts.keys.add("ada")
    assert accounts.keys.check(short_text)
    clock.now_ns += MINUTE_NS
    assert accounts.keys.check(short_text) is None
    assert accounts.keys.check_id(short.id) is None, "sessions end with their key"
    assert accounts.keys.check(long_text)
    revoked = accounts.keys.revoke(long.id)
    assert revoked.revoked_ns == clock()
    assert accounts.keys.check(long_text) is None
    clock.now_ns += 1
    assert accounts.keys.revoke(long.id) == revoked, "twice is once"


def test_a_disabled_users_keys_are_refused(accounts: Accounts) -> None:
    accounts.add("ada")
    _, text = accounts.keys.add("ada")
    assert accounts.keys.has_live()
    accounts.disable("ada")
    assert accounts.keys.check(text) is None
    assert not accounts.keys.has_live()
    with pytest.raises(UsageError, match="disabled"):
        accounts.keys.add("ada")
    accounts.disable("ada", undo=True)
    assert accounts.keys.check(text) is not None


def test_no_key_for_nobody_and_none_from_the_past(accounts: Accounts, clock: Clock) -> None:
    with pytest.raises(NotInStore, match="user add"):
        accounts.keys.add("nobody")
    accounts.add("ada")
    with pytest.raises(UsageError, match="expired"):
        accounts.keys.add("ada", expires_ns=clock())
    with pytest.raises(UsageError, match="read, write, admin"):
        accounts.keys.add("ada", scope="root")  # type: ignore[arg-type]  # what is tested
    with pytest.raises(NotInStore, match="key ls"):
        accounts.keys.revoke("nothing")


def test_use_is_noted_once_a_minute(accounts: Accounts, clock: Clock) -> None:
    accounts.add("ada")
    _, text = accounts.keys.add("ada")

    def use() -> bool:
        holder = accounts.keys.check(text)
        assert holder is not None
        return accounts.keys.note_use(holder.key)

    assert [use(), use()] == [True, False]
    clock.now_ns += MINUTE_NS
    assert [use(), use()] == [True, False]
    assert accounts.keys.all()[0].used_ns == clock()


def test_servers_of_one_store_share_a_secret(accounts: Accounts, database: Database) -> None:
    found: list[bytes] = []
    threads = [threading.Thread(target=lambda: found.append(Accounts(database).secret("session"))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4
    assert len(set(found)) == 1
    assert len(found[0]) == 32
    assert accounts.secret("other") != found[0]


def test_owners_that_leave_at_once_do_not_leave_the_team_alone(accounts: Accounts) -> None:
    names = ["ada", "bob"]
    for name in names:
        accounts.add(name)
    accounts.add_team("lab", owner="ada")
    for _ in range(5):
        for name in names:
            accounts.set_member("lab", name, "owner")
        refused = itertools.count()

        def leave(name: str, refused: itertools.count[int] = refused) -> None:
            try:
                accounts.remove_member("lab", name)
            except UsageError:
                next(refused)

        threads = [threading.Thread(target=leave, args=(name,)) for name in names]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert next(refused) == 1
        assert len(accounts.teams()["lab"]) == 1
