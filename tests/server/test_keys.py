"""Keys by HTTP: one's own, never more than one has."""

from __future__ import annotations

import pytest

from strobe.store.keys import Scope
from tests.server.conftest import Stage


def test_keys_are_made_listed_and_revoked(stage: Stage) -> None:
    key = stage.key("ada")
    stage.clock.now_ns += 1
    made = stage.ask("POST", "/api/v1/keys", key=key, json={"label": "laptop"})
    assert made.status_code == 201
    assert made.json()["about"]["label"] == "laptop"
    second = made.json()["key"]
    listed = stage.ask("GET", "/api/v1/keys", key=second)
    assert [item["id"] for item in listed.json()["items"]] == [key.split("_")[1], second.split("_")[1]]
    assert second.split("_")[2] not in listed.text
    assert stage.ask("DELETE", f"/api/v1/keys/{second.split('_')[1]}", key=key).json()["revoked_ns"] == stage.clock()
    assert stage.ask("GET", "/api/v1/keys", key=second).status_code == 401


@pytest.mark.parametrize(("scope", "statuses"), [("read", [201, 403, 403]), ("write", [201, 201, 403])])
def test_a_key_makes_none_that_allows_more(stage: Stage, scope: Scope, statuses: list[int]) -> None:
    key = stage.key("ada", scope)
    wanted = ("read", "write", "admin")
    assert [stage.ask("POST", "/api/v1/keys", key=key, json={"scope": one}).status_code for one in wanted] == statuses


def test_a_key_makes_none_that_lives_longer(stage: Stage) -> None:
    stage.key("ada")
    end = stage.clock() + 10**12
    key = stage.store.accounts.keys.add("ada", expires_ns=end)[1]
    for wanted, given in [(None, end), (end + 1, end), (end - 1, end - 1)]:
        made = stage.ask("POST", "/api/v1/keys", key=key, json={"expires_ns": wanted}).json()
        assert made["about"]["expires_ns"] == given
    assert stage.ask("POST", "/api/v1/keys", key=key, json={"expires_ns": 5}).status_code == 400


def test_keys_of_others_are_for_admins(stage: Stage) -> None:
    ada, bob, root = stage.key("ada"), stage.key("bob", "admin"), stage.key("root", "admin", is_admin=True)
    path = f"/api/v1/keys/{ada.split('_')[1]}"
    assert stage.ask("GET", "/api/v1/keys?user=ada", key=bob).status_code == 403
    assert stage.ask("DELETE", path, key=bob).status_code == 404
    assert stage.ask("DELETE", path, key=stage.key("root", "write")).status_code == 404
    assert len(stage.ask("GET", "/api/v1/keys?user=ada", key=root).json()["items"]) == 1
    assert stage.ask("DELETE", path, key=root).status_code == 200
    assert stage.ask("DELETE", "/api/v1/keys/nothing", key=root).status_code == 404
    assert stage.ask("GET", "/api/v1/keys").status_code == 401


def test_this_machine_has_no_keys(local: Stage) -> None:
    assert local.ask("GET", "/api/v1/keys").status_code == 400


@pytest.mark.parametrize(
    ("scope", "statuses"), [("read", [200, 403, 403]), ("write", [200, 200, 403]), ("admin", [200] * 3)]
)
def test_a_key_revokes_none_that_allows_more(stage: Stage, scope: Scope, statuses: list[int]) -> None:
    scopes: list[Scope] = ["read", "write", "admin"]
    others = [stage.key("ada", other).split("_")[1] for other in scopes]
    own = stage.key("ada", scope)
    assert [stage.ask("DELETE", f"/api/v1/keys/{other}", key=own).status_code for other in others] == statuses
    assert stage.ask("DELETE", f"/api/v1/keys/{own.split('_')[1]}", key=own).status_code == 200


@pytest.mark.parametrize("body", [{"expires_ns": 2**70}, {"label": "a\0b"}, {"label": "x" * 201}])
def test_keys_that_cannot_be(stage: Stage, body: dict[str, object]) -> None:
    assert stage.ask("POST", "/api/v1/keys", json=body, key=stage.key("ada")).status_code == 422
