"""`strobe server user|key|team`, and what `strobe server` refuses before it listens."""

from __future__ import annotations

from pathlib import Path

import pytest

from strobe.cli.server import is_loopback
from strobe.errors import UsageError
from strobe.home import Home
from strobe.store.accounts import Accounts
from strobe.store.address import open_database, sqlite_path
from tests.cli.conftest import Strobe


def test_a_user_and_a_key(strobe: Strobe, home: Home) -> None:
    assert strobe("server", "user", "add", "ada", "--admin", "--email", "a@example.com").code == 0
    made = strobe("server", "key", "add", "ada", "--scope", "admin", "--label", "laptop")
    (key,) = made.lines
    assert "not shown again" in made.err
    database = open_database(f"sqlite:///{home.path / 'server' / 'strobe.db'}")
    holder = Accounts(database).keys.check(key)
    database.close()
    assert holder is not None
    assert (holder.account, holder.is_admin, holder.key.scope, holder.key.label) == ("ada", True, "admin", "laptop")
    (user,) = strobe("server", "user", "ls", "--json").json
    assert (user["name"], user["is_admin"], user["email"], user["disabled_ns"]) == ("ada", True, "a@example.com", None)
    listed = strobe("server", "key", "ls")
    assert "live" in listed.lines[1]
    assert key.split("_")[2] not in listed.out


def test_keys_are_revoked_by_either_part(strobe: Strobe) -> None:
    strobe("server", "user", "add", "ada")
    keys = [strobe("server", "key", "add", "ada").lines[0] for _ in range(2)]
    assert strobe("server", "key", "revoke", keys[0]).code == 0
    assert strobe("server", "key", "revoke", keys[1].split("_")[1]).code == 0
    states = [key["revoked_ns"] is not None for key in strobe("server", "key", "ls", "ada", "--json").json]
    assert states == [True, True]
    assert strobe("server", "key", "revoke", "nothing").code == 1


def test_a_key_that_expires(strobe: Strobe) -> None:
    strobe("server", "user", "add", "ada")
    made = strobe("server", "key", "add", "ada", "--expires", "1.5", "--json").json
    assert made["expires_ns"] - made["created_ns"] == pytest.approx(1.5 * 86400e9, rel=1e-3)
    assert made["key"].startswith(f"strobe_{made['id']}_")
    for days in ("0", "-1", "nan", "inf", "1e300"):
        refused = strobe("server", "key", "add", "ada", "--expires", days)
        assert refused.code == 2
        assert "above 0" in refused.err


def test_users_are_changed_and_disabled(strobe: Strobe) -> None:
    strobe("server", "user", "add", "ada", "--admin")
    assert strobe("server", "user", "set", "ada", "--no-admin", "--json").json["is_admin"] is False
    assert strobe("server", "user", "set", "ada", "--email", "x@y", "--json").json["email"] == "x@y"
    assert strobe("server", "user", "disable", "ada", "--json").json["disabled_ns"] is not None
    assert "disabled" in strobe("server", "user", "ls").out
    assert strobe("server", "key", "add", "ada").code == 2
    assert strobe("server", "user", "disable", "ada", "--undo", "--json").json["disabled_ns"] is None
    assert strobe("server", "user", "set", "nobody").code == 1
    taken = strobe("server", "user", "add", "ada")
    assert (taken.code, "taken" in taken.err) == (2, True)


def test_teams(strobe: Strobe) -> None:
    for name in ("ada", "bob"):
        strobe("server", "user", "add", name)
    assert strobe("server", "team", "add", "lab", "--owner", "ada").code == 0
    assert strobe("server", "team", "set", "lab", "bob", "--role", "viewer").code == 0
    assert strobe("server", "user", "set", "bob", "--entity", "lab", "--json").json["default_entity"] == "lab"
    (team,) = strobe("server", "team", "ls", "--json").json
    assert [(member["account"], member["role"]) for member in team["members"]] == [("ada", "owner"), ("bob", "viewer")]
    assert strobe("server", "team", "rm", "lab", "bob").code == 0
    assert strobe("server", "team", "rm", "lab", "ada").code == 2
    assert strobe("server", "team", "ls").lines[1].split() == ["lab", "ada", "owner"]


def test_the_store_can_be_named_before_and_after_the_command(
    strobe: Strobe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = f"sqlite:///{tmp_path / 'other.db'}"
    strobe("server", "--store", address, "user", "add", "ada")
    assert len(strobe("server", "user", "ls", "--json", "--store", address).json) == 1
    assert strobe("server", "user", "ls", "--json").json == []
    monkeypatch.setenv("STROBE_SERVER_STORE", address)
    assert len(strobe("server", "user", "ls", "--json").json) == 1


@pytest.mark.parametrize("address", ["mysql://x/y", "sqlite:///"])
def test_stores_that_there_are_not(strobe: Strobe, address: str) -> None:
    found = strobe("server", "user", "ls", "--store", address)
    assert found.code == 2
    assert "sqlite:///" in found.err


def test_addresses_of_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert sqlite_path("sqlite:///a/b.db") == tmp_path / "a" / "b.db"
    assert sqlite_path("sqlite:////a/b.db") == Path("/a/b.db")
    assert sqlite_path("b.db") == tmp_path / "b.db"
    assert sqlite_path("postgresql://h/n") is None
    with pytest.raises(UsageError, match="'http'"):
        sqlite_path("http://h/n")


# -- before it listens


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.7", "strobe.example.com"])
def test_without_a_key_it_is_not_for_others(strobe: Strobe, host: str) -> None:
    strobe("server", "user", "add", "ada")
    refused = strobe("server", "--host", host, "--port", "0")
    assert refused.code == 2
    assert "strobe server key add" in refused.err


@pytest.mark.parametrize(
    ("host", "loopback"),
    [("127.0.0.1", True), ("127.9.9.9", True), ("::1", True), ("localhost", True), ("0.0.0.0", False), ("::", False)],
)
def test_loopback(host: str, loopback: bool) -> None:
    assert is_loopback(host) is loopback


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--port", "70000"], "0 to 65535"),
        (["--tls-cert", "cert.pem"], "--tls-key"),
        (["--tls-cert", "/nowhere.pem", "--tls-key", "/nowhere.key"], "cannot be used"),
        (["--host", "no.such.host.invalid"], "nobody has a key"),
    ],
)
def test_what_cannot_be_served(strobe: Strobe, words: list[str], said: str) -> None:
    refused = strobe("server", "--port", "0", *words)
    assert refused.code == 2
    assert said in refused.err
    assert "Traceback" not in refused.err


def test_a_port_that_is_taken(strobe: Strobe) -> None:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as taken:
        refused = strobe("server", "--port", str(taken.getsockname()[1]))
    assert refused.code == 2
    assert "choose another with --port" in refused.err
