"""Users, teams and usage by HTTP: who may do what, and that it takes effect."""

from __future__ import annotations

import pytest

from tests.server.conftest import Stage


@pytest.fixture
def root(stage: Stage) -> str:
    return stage.key("root", "admin", is_admin=True)


def test_a_user_is_made_gets_a_key_and_is_refused(stage: Stage, root: str) -> None:
    made = stage.ask("POST", "/api/v1/users", key=root, json={"name": "ada", "email": "ada@example.com"})
    assert made.status_code == 201
    assert made.json()["default_entity"] == "ada"
    given = stage.ask("POST", "/api/v1/keys", key=root, json={"user": "ada", "scope": "read", "label": "first"})
    assert given.json()["about"]["account"] == "ada"
    key = given.json()["key"]
    assert stage.ask("GET", "/api/v1/session", key=key).json()["user"] == "ada"
    listed = stage.ask("GET", "/api/v1/users", key=root).json()["items"]
    assert [(item["name"], item["is_admin"]) for item in listed] == [("ada", False), ("root", True)]
    refused = stage.ask("PATCH", "/api/v1/users/ada", key=root, json={"is_disabled": True}).json()
    assert refused["disabled_ns"] == stage.clock()
    assert stage.ask("GET", "/api/v1/session", key=key).status_code == 401
    assert stage.ask("PATCH", "/api/v1/users/ada", key=root, json={"is_disabled": False}).json()["disabled_ns"] is None
    assert stage.ask("GET", "/api/v1/session", key=key).status_code == 200


def test_a_name_is_taken_once(stage: Stage, root: str) -> None:
    for status in (201, 400):
        answer = stage.ask("POST", "/api/v1/users", key=root, json={"name": "ada"})
        assert answer.status_code == status
    assert "taken" in answer.json()["detail"]
    assert stage.ask("PATCH", "/api/v1/users/nobody", key=root, json={}).status_code == 404


@pytest.mark.parametrize("change", [{"is_admin": False}, {"is_disabled": True}])
def test_nobody_takes_the_own_rights_away(stage: Stage, root: str, change: dict[str, bool]) -> None:
    assert stage.ask("PATCH", "/api/v1/users/root", key=root, json=change).status_code == 409
    stage.key("other", "admin", is_admin=True)
    assert stage.ask("PATCH", "/api/v1/users/other", key=root, json=change).status_code == 200


def test_users_are_for_admins(stage: Stage, root: str) -> None:
    bob = stage.key("bob", "admin")
    for key, status in ((None, 401), (bob, 403), (stage.key("root", "write"), 403), (root, 200)):
        assert stage.ask("GET", "/api/v1/users", key=key).status_code == status
        assert stage.ask("PATCH", "/api/v1/users/bob", key=key, json={"email": "b"}).status_code == status
    assert stage.ask("POST", "/api/v1/keys", key=bob, json={"user": "root"}).status_code == 403
    assert stage.ask("POST", "/api/v1/users", key=bob, json={"name": "eve"}).status_code == 403


def test_keys_for_others_live_as_long_as_is_asked_for(stage: Stage, root: str) -> None:
    stage.key("ada")
    short = stage.store.accounts.keys.add("root", scope="admin", expires_ns=stage.clock() + 10**9)[1]
    for user, expires in (("ada", None), ("root", stage.clock() + 10**9)):
        made = stage.ask("POST", "/api/v1/keys", key=short, json={"user": user, "scope": "admin"}).json()
        assert made["about"]["expires_ns"] == expires


def test_one_changes_the_own_address_and_where_runs_go(stage: Stage, root: str) -> None:
    ada = stage.key("ada")
    stage.ask("POST", "/api/v1/teams", key=root, json={"name": "lab", "owner": "ada"})
    about = stage.ask("PATCH", "/api/v1/session", key=ada, json={"email": "a@b", "entity": "lab"}).json()
    assert (about["email"], about["entity"]) == ("a@b", "lab")
    assert about == stage.ask("GET", "/api/v1/session", key=ada).json()
    assert about["entities"] == {"ada": "owner", "lab": "owner"}
    assert stage.ask("PATCH", "/api/v1/session", key=ada, json={"entity": "root"}).status_code == 400
    assert stage.ask("PATCH", "/api/v1/session", key=stage.key("ada", "read"), json={"email": "x"}).status_code == 403


def test_owners_decide_who_is_in_a_team(stage: Stage, root: str) -> None:
    ada, bob = stage.key("ada", "admin"), stage.key("bob", "admin")
    assert stage.ask("POST", "/api/v1/teams", key=ada, json={"name": "lab", "owner": "ada"}).status_code == 403
    made = stage.ask("POST", "/api/v1/teams", key=root, json={"name": "lab", "owner": "ada"})
    assert made.status_code == 201
    path = "/api/v1/teams/lab/members"
    assert stage.ask("PUT", f"{path}/bob", key=bob, json={"role": "owner"}).status_code == 404
    assert stage.ask("PUT", f"{path}/bob", key=stage.key("ada", "write"), json={}).status_code == 403
    assert stage.ask("PUT", f"{path}/bob", key=ada, json={"role": "viewer"}).json()["role"] == "viewer"
    assert stage.ask("PUT", f"{path}/bob", key=bob, json={"role": "owner"}).status_code == 403
    assert stage.ask("PUT", f"{path}/nobody", key=ada, json={}).status_code == 404
    assert stage.ask("PUT", "/api/v1/teams/ada/members/bob", key=ada, json={}).status_code == 404
    assert stage.ask("PUT", f"{path}/ada", key=root, json={"role": "member"}).status_code == 400
    seen = stage.ask("GET", "/api/v1/teams", key=bob).json()["items"]
    assert [(one["account"], one["role"]) for one in seen[0]["members"]] == [("ada", "owner"), ("bob", "viewer")]
    assert stage.ask("DELETE", f"{path}/bob", key=ada).status_code == 204
    assert stage.ask("GET", "/api/v1/teams", key=bob).json()["items"] == []
    assert len(stage.ask("GET", "/api/v1/teams", key=root).json()["items"]) == 1


def test_usage_is_of_what_one_may_see(stage: Stage, root: str) -> None:
    ada, bob = stage.key("ada"), stage.key("bob")
    for name in ("open", "secret"):
        stage.ask("POST", "/api/v1/projects", key=ada, json={"entity": "ada", "name": name})
    stage.store.projects.change("ada", "secret", access="private", quota_bytes=1000)
    seen = {who: stage.ask("GET", "/api/v1/usage", key=key).json() for who, key in {"ada": ada, "bob": bob}.items()}
    assert [item["name"] for item in seen["ada"]["items"]] == ["open", "secret"]
    assert [item["name"] for item in seen["bob"]["items"]] == ["open"]
    assert seen["ada"]["items"][1] == {
        "entity": "ada", "name": "secret", "num_runs": 0, "used_bytes": 0, "quota_bytes": 1000,
    }  # fmt: skip
    assert seen["ada"]["database_bytes"] is None
    whole = stage.ask("GET", "/api/v1/usage?limit=1", key=root).json()
    assert whole["database_bytes"] > 0
    assert whole["blob_bytes"] == 0
    rest = stage.ask("GET", f"/api/v1/usage?cursor={whole['cursor']}", key=root).json()
    assert [item["name"] for item in rest["items"]] == ["secret"]
    assert stage.ask("GET", "/api/v1/usage").status_code == 401


def test_this_machine_has_no_users(local: Stage) -> None:
    assert local.ask("GET", "/api/v1/users").status_code == 400
    assert local.ask("GET", "/api/v1/teams").status_code == 400
    assert local.ask("GET", "/api/v1/session").json()["user"] is None
    assert local.ask("PATCH", "/api/v1/session", json={"email": "x"}).status_code == 400
    assert local.ask("GET", "/api/v1/usage").status_code == 200
