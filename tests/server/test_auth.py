"""Who asks, what they may, and what a browser of theirs is kept from doing for others."""

from __future__ import annotations

import base64
from typing import Any

import httpx
import msgspec
import pytest

from strobe.errors import StoreFull
from strobe.server.endpoint import Call, endpoint
from strobe.server.rate import Rate
from strobe.server.services import RateLimits, ServerSettings, Services
from strobe.store.keys import Scope
from tests.server.conftest import Stage

OWN = {"Origin": "http://localhost:8080", "Sec-Fetch-Site": "same-origin", "X-Strobe-CSRF": "1"}


class Where(msgspec.Struct):
    entity: str
    project: str
    level: Scope


@endpoint("GET", "/may/{entity}/{project}/{level}", access="read", tag="t", path=Where)
async def may(call: Call, path: Where) -> None:
    await call.require(path.level, call.entity(path.entity), path.project)


@endpoint("POST", "/write", access="write", tag="t", status=204)
async def write(call: Call) -> None:
    await call.require("write", call.entity("local"), "p")


@endpoint("GET", "/account", access="account", tag="t", returns=str)
async def account(call: Call) -> str:
    return f"{call.caller.user} {call.caller.via}"


@endpoint("POST", "/admin", access="admin", tag="t", returns=str)
async def admin(call: Call) -> str:
    return "yes"


@endpoint("GET", "/list", access="read", tag="t", returns=dict)
async def list_(call: Call) -> Any:
    return await call.visible()


@pytest.fixture
def here(stage: Stage) -> Stage:
    stage.serve(may, write, account, admin, list_)
    return stage


def basic(user: str, password: str) -> dict[str, str]:
    return {"Authorization": "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()}


# -- keys


def test_a_key_says_who(here: Stage) -> None:
    key = here.key("ada")
    assert here.ask("GET", "/account", key=key).json() == "ada key"
    assert here.ask("GET", "/account", headers=basic("api", key)).json() == "ada key"
    assert here.ask("GET", "/account", headers={"Authorization": f"bearer   {key} "}).json() == "ada key"


@pytest.mark.parametrize(
    "header",
    ["", "Bearer", "Bearer x", "Basic", "Basic !!!", "Basic " + base64.b64encode(b"\xff\xfe").decode(), "Digest a=b"],
)
def test_what_is_no_key_is_401_everywhere(here: Stage, header: str) -> None:
    here.key("ada")
    for path in ("/account", "/api/v1/server"):
        answer = here.ask("GET", path, headers={"Authorization": header})
        assert answer.status_code == 401
        assert answer.headers["www-authenticate"].startswith("Bearer")


def test_basic_is_for_the_user_api_only(here: Stage) -> None:
    assert here.ask("GET", "/account", headers=basic("ada", here.key("ada"))).status_code == 401


def test_a_revoked_key_is_refused_at_once(here: Stage) -> None:
    key = here.key("ada")
    here.store.accounts.keys.revoke(key.split("_")[1])
    answer = here.ask("GET", "/account", key=key)
    assert answer.status_code == 401
    assert key.split("_")[1] in answer.json()["detail"]
    assert key.split("_")[2] not in answer.text


def test_use_of_a_key_is_noted(here: Stage) -> None:
    here.ask("GET", "/account", key=here.key("ada"))
    assert here.store.accounts.keys.all("ada")[0].used_ns == here.clock()


def test_a_store_that_cannot_note_it_is_no_reason_to_refuse(here: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    def write(change: object) -> None:
        raise StoreFull("no space left")

    key = here.key("ada")
    monkeypatch.setattr(here.store.database, "write", write)
    assert here.ask("GET", "/account", key=key).status_code == 200


def test_nobody_is_asked_to_sign_in(here: Stage) -> None:
    for method, path in [("GET", "/account"), ("POST", "/write"), ("POST", "/admin")]:
        assert here.ask(method, path).status_code == 401


# -- projects


@pytest.mark.parametrize(
    ("who", "access", "statuses"),
    [
        # who asks for a project of ada's: what reading, writing and administering it gives
        ("ada", "private", "204 204 204"),
        ("nobody", "private", "401 401 401"),
        ("nobody", "team", "401 401 401"),
        ("nobody", "public", "204 401 401"),
        ("bob", "private", "404 404 404"),
        ("bob", "team", "204 403 403"),
        ("bob", "public", "204 403 403"),
        ("bob", None, "404 404 404"),
        ("ada", None, "204 204 204"),
        ("root", "private", "204 204 204"),
    ],
)
def test_a_project_is_what_its_access_says(here: Stage, who: str, access: str | None, statuses: str) -> None:
    keys = {"ada": here.key("ada", "admin"), "bob": here.key("bob", "admin")}
    keys["root"] = here.key("root", "admin", is_admin=True)
    if access is not None:
        here.project("ada", "the plan", access)
    levels = ("read", "write", "admin")
    found = [here.ask("GET", f"/may/ada/the plan/{level}", key=keys.get(who)).status_code for level in levels]
    assert found == list(map(int, statuses.split()))


@pytest.mark.parametrize(("scope", "statuses"), [("read", [204, 403, 403]), ("write", [204, 204, 403])])
def test_a_key_allows_no_more_than_its_scope(here: Stage, scope: Scope, statuses: list[int]) -> None:
    for user, is_admin in (("ada", False), ("root", True)):
        key = here.key(user, scope, is_admin=is_admin)
        levels = ("read", "write", "admin")
        assert [here.ask("GET", f"/may/ada/p/{level}", key=key).status_code for level in levels] == statuses
    assert here.ask("POST", "/write", key=here.key("ada", "read")).status_code == 403


def test_private_and_absent_look_the_same(here: Stage) -> None:
    here.key("ada")
    here.project("ada", "the one", "private")
    for key in (here.key("bob"), None):
        told = [here.ask("GET", f"/may/ada/{name}/read", key=key) for name in ("the one", "other")]
        assert told[0].status_code == told[1].status_code
        said = [
            answer.json()["detail"].replace(name, "X") for answer, name in zip(told, ("the one", "other"), strict=True)
        ]
        assert said[0] == said[1]


def test_roles_in_a_team(here: Stage) -> None:
    keys = {name: here.key(name, "admin") for name in ("ada", "bob", "eve")}
    here.store.accounts.add_team("lab", owner="ada")
    here.store.accounts.set_member("lab", "bob", "member")
    here.store.accounts.set_member("lab", "eve", "viewer")
    here.project("lab", "p", "private")
    found = {
        name: [here.ask("GET", f"/may/lab/p/{level}", key=key).status_code for level in ("read", "write", "admin")]
        for name, key in keys.items()
    }
    assert found == {"ada": [204, 204, 204], "bob": [204, 204, 403], "eve": [204, 403, 403]}


def test_local_means_the_keys_own_entity(here: Stage) -> None:
    assert here.ask("GET", "/may/local/p/write", key=here.key("ada")).status_code == 204
    assert here.ask("GET", "/may/local/p/read").status_code == 401


def test_lists_show_what_may_be_seen(here: Stage) -> None:
    key = here.key("ada")
    here.store.accounts.add_team("lab", owner="ada")
    assert here.ask("GET", "/list", key=key).json() == {
        "is_all": False, "entities": ["ada", "lab"], "accesses": ["public", "team"],
    }  # fmt: skip
    assert here.ask("GET", "/list").json() == {"is_all": False, "entities": [], "accesses": ["public"]}
    assert here.ask("GET", "/list", key=here.key("root", is_admin=True)).json()["is_all"]


def test_admins_need_a_key_for_it(here: Stage) -> None:
    assert here.ask("POST", "/admin", key=here.key("root", "admin", is_admin=True)).json() == "yes"
    assert here.ask("POST", "/admin", key=here.key("root", "write")).status_code == 403
    assert here.ask("POST", "/admin", key=here.key("ada", "admin")).status_code == 403


# -- sessions


async def signed_in(client: httpx.AsyncClient, key: str) -> httpx.Response:
    answer = await client.post("/api/v1/login", json={"key": key})
    assert answer.status_code == 200, answer.text
    return answer


def test_a_key_becomes_a_session(here: Stage) -> None:
    key = here.key("ada")

    async def use(client: httpx.AsyncClient) -> None:
        answer = await signed_in(client, key)
        assert answer.json() == {"user": "ada", "entity": "ada", "scope": "write", "is_admin": False}
        cookie = answer.headers["set-cookie"].lower()
        assert cookie.startswith("strobe_session=")
        assert {"httponly", "samesite=strict", "path=/"} <= {part.strip() for part in cookie.split(";")}
        assert "secure" not in cookie
        assert key not in cookie
        assert (await client.get("/account")).json() == "ada cookie"
        assert (await client.post("/api/v1/logout", headers=OWN)).status_code == 204
        assert (await client.get("/account")).status_code == 401

    here.run(use)


def test_with_tls_the_cookie_is_secure(here: Stage) -> None:
    here.base_url = "https://localhost:8080"
    answer = here.ask("POST", "/api/v1/login", json={"key": here.key("ada")})
    assert answer.headers["set-cookie"].startswith("__Host-strobe_session=")
    assert "secure" in answer.headers["set-cookie"].lower()
    assert "max-age" in answer.headers["strict-transport-security"]


def test_a_session_ends_with_its_key_and_after_a_month(here: Stage) -> None:
    key = here.key("ada")

    async def use(client: httpx.AsyncClient) -> None:
        await signed_in(client, key)
        here.clock.now_ns += 29 * 86400 * 10**9
        assert (await client.get("/account")).status_code == 200
        here.clock.now_ns += 2 * 86400 * 10**9
        assert (await client.get("/account")).status_code == 401
        await signed_in(client, key)
        here.store.accounts.keys.revoke(key.split("_")[1])
        assert (await client.get("/account")).status_code == 401

    here.run(use)


def test_a_copied_cookie_ends_when_its_session_does_and_another_session_goes_on(here: Stage) -> None:
    key = here.key("ada")

    def new_session() -> dict[str, str]:
        answer = here.ask("POST", "/api/v1/login", json={"key": key})
        return {"Cookie": answer.headers["set-cookie"].partition(";")[0]}

    def status(cookie: dict[str, str], *, sign_out: bool = False) -> int:
        if sign_out:
            return here.ask("POST", "/api/v1/logout", headers={**cookie, **OWN}).status_code
        return here.ask("GET", "/account", headers=cookie).status_code

    copied, other = new_session(), new_session()
    assert (status(copied), status(other)) == (200, 200)
    assert status(copied, sign_out=True) == 204
    assert (status(copied), status(other)) == (401, 200)
    for again in (copied, {"Cookie": "strobe_session=none"}):  # signing out of nothing is no fault
        assert status(again, sign_out=True) == 204
    # Another server of the store knows it too; it is forgotten when the cookie is over anyway.
    here.services = Services(store=here.store, clock=here.clock, signer=here.services.signer)
    here.serve()
    assert here.store.accounts.sessions.forget() == 0
    assert (status(copied), status(other)) == (401, 200)
    here.clock.now_ns += 31 * 86400 * 10**9
    assert here.store.accounts.sessions.forget() == 1
    assert status(copied) == 401


def test_a_cookie_that_was_made_up_is_nobody(here: Stage) -> None:
    here.key("ada")
    key_id = here.store.accounts.keys.all()[0].id
    link = here.services.signer.sign("download", key_id, expires_ns=here.clock() + 10**9)
    for token in ("x", "a.b", ".", "ü", "A" * 9999, link):
        headers = {"Cookie": f"strobe_session={token}".encode()}
        assert here.ask("GET", "/account", headers=headers).status_code == 401


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        (OWN, 204),
        ({**OWN, "X-Strobe-CSRF": ""}, 403),
        ({**OWN, "Sec-Fetch-Site": "cross-site"}, 403),
        ({**OWN, "Sec-Fetch-Site": "same-site"}, 403),
        ({**OWN, "Sec-Fetch-Site": "none"}, 403),
        ({**OWN, "Origin": "http://evil.example"}, 403),
        ({**OWN, "Origin": "http://localhost:9090"}, 403),
        ({**OWN, "Origin": "null"}, 403),
        ({"X-Strobe-CSRF": "1", "Origin": "http://localhost:8080"}, 204),
        ({"X-Strobe-CSRF": "1", "Sec-Fetch-Site": "same-origin"}, 204),
        ({"X-Strobe-CSRF": "1"}, 403),
        ({}, 403),
    ],
)
def test_changes_with_a_session_come_from_our_pages(here: Stage, headers: dict[str, str], status: int) -> None:
    key = here.key("ada")

    async def use(client: httpx.AsyncClient) -> None:
        await signed_in(client, key)
        assert (await client.post("/write", headers=headers)).status_code == status
        assert (await client.get("/account", headers=headers)).status_code == 200

    here.run(use)


def test_another_site_cannot_sign_somebody_in(here: Stage) -> None:
    headers = {"Origin": "http://evil.example", "Sec-Fetch-Site": "cross-site"}
    assert here.ask("POST", "/api/v1/login", json={"key": here.key("ada")}, headers=headers).status_code == 403


def test_a_key_needs_no_page(here: Stage) -> None:
    assert here.ask("POST", "/write", key=here.key("ada")).status_code == 204


# -- this machine


def test_the_person_at_this_machine_needs_no_key(here: Stage) -> None:
    here.open(ServerSettings(mode="local"))
    for level in ("read", "write", "admin"):
        assert here.ask("GET", f"/may/local/p/{level}").status_code == 204
    assert here.ask("POST", "/write").status_code == 204
    assert here.ask("POST", "/admin").json() == "yes"
    assert here.ask("POST", "/api/v1/login", json={"key": "x"}).status_code == 400


@pytest.mark.parametrize("headers", [{"Origin": "http://evil.example"}, {"Sec-Fetch-Site": "cross-site"}])
def test_but_other_sites_cannot_use_that(here: Stage, headers: dict[str, str]) -> None:
    here.open(ServerSettings(mode="local"))
    assert here.ask("POST", "/write", headers=headers).status_code == 403
    assert here.ask("POST", "/write", headers=OWN).status_code == 204


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 204),
        (OWN, 204),
        ({"Sec-Fetch-Site": "none"}, 204),
        ({"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}, 204),
        ({"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}, 403),
        ({"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "cors"}, 403),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
    ],
)
def test_this_machine_does_no_work_for_other_sites(here: Stage, headers: dict[str, str], status: int) -> None:
    here.open(ServerSettings(mode="local"))
    assert here.ask("GET", "/may/local/p/read", headers=headers).status_code == status


def test_a_key_that_a_browser_sends_by_itself_changes_nothing(here: Stage) -> None:
    known = basic("api", here.key("ada"))
    assert here.ask("POST", "/write", headers={**known, "Sec-Fetch-Site": "cross-site"}).status_code == 403
    assert here.ask("POST", "/write", headers={**known, "Sec-Fetch-Site": "same-origin"}).status_code == 204
    assert here.ask("POST", "/write", headers=known).status_code == 204


def test_nor_other_machines(here: Stage) -> None:
    here.open(ServerSettings(mode="local"))
    here.client = ("192.168.1.5", 4000)
    assert here.ask("GET", "/account").status_code == 403


# -- rates


def test_too_many_requests_of_a_key(here: Stage) -> None:
    here.open(ServerSettings(rates=RateLimits(key=Rate(per_s=0.5, burst=3))))
    keys = [here.key("ada"), here.key("ada")]
    assert [here.ask("GET", "/account", key=keys[0]).status_code for _ in range(4)] == [200, 200, 200, 429]
    answer = here.ask("GET", "/account", key=keys[0])
    assert answer.headers["retry-after"] == "2"
    assert answer.json()["type"] == "urn:strobe:problem:rate-limited"
    assert here.ask("GET", "/account", key=keys[1]).status_code == 200
    assert here.ask("GET", "/healthz", key=keys[0]).status_code == 200, "health is free"


def test_too_many_wrong_keys_of_an_address(here: Stage) -> None:
    here.open(ServerSettings(rates=RateLimits(failure=Rate(per_s=0.1, burst=2))))
    right = here.key("ada")
    assert [here.ask("GET", "/account", key="wrong").status_code for _ in range(3)] == [401, 401, 429]
    assert here.ask("GET", "/account", key=right).status_code == 200, "who shares the address is not kept out"
    here.client = ("10.0.0.9", 1)
    assert here.ask("GET", "/account", key="wrong").status_code == 401
