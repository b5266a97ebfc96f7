"""Every endpoint, asked by everybody about projects of every access: who may not gets no answer, and learns nothing."""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path

import httpx
import jsonschema  # type: ignore[import-untyped]  # its stubs are a package of their own
import pytest

from strobe.server.app import endpoints
from strobe.server.endpoint import Endpoint
from strobe.store.address import open_database
from strobe.store.blobs import open_blobs
from strobe.store.store import Store
from tests.server.conftest import Clock, Stage
from tests.server.world import ACCESSES, World, build

EVERY = {found.name: found for found in endpoints()}
#: about a project; others are about the caller, or the server
ABOUT = sorted(name for name, found in EVERY.items() if found.access in ("read", "write") and name != "list_projects")
#: answers that say for each thing what became of it
_ITEMIZED = {"ingest", "heartbeat"}
#: the link is the permission
_BEARER = {"get_link", "put_link"}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, World]:
    """A world that was left; every test gets a copy of it."""
    folder = tmp_path_factory.mktemp("world")
    world = build(_open(folder, Clock()))
    world.stage.store.close()
    return folder, world


@pytest.fixture
def world(built: tuple[Path, World], tmp_path: Path) -> Iterator[World]:
    folder, made = built
    shutil.copytree(folder, tmp_path / "copy")
    stage = _open(tmp_path / "copy", made.stage.clock)
    yield World(stage, made.keys, made.ids)
    stage.store.close()


def _open(folder: Path, clock: Clock) -> Stage:
    return Stage(Store(open_database(str(folder / "strobe.db")), open_blobs(folder / "blobs"), clock), clock)


def entitled(endpoint: Endpoint) -> str:
    """Return somebody who may call the endpoint."""
    return "root" if endpoint.access == "admin" else "owner"


def expected(endpoint: Endpoint, who: str | None, access: str) -> int:
    """Return the status of an answer by the rules of docs/server.md; 200 for any success."""
    if who in ("expired", "revoked"):
        return 401
    if endpoint.access == "write":
        if who is None:
            return 401
        if who in ("reader", "outreader"):
            return 403
        if who == "outsider" and endpoint.name not in _ITEMIZED:
            # what is public or the team's may be read, and a project that is not there cannot be made for others
            return 404 if access == "private" or endpoint.name == "create_project" else 403
        return 200
    if access == "private" and who in ("outsider", "outreader"):
        return 404
    return 401 if who is None and access != "public" else 200


@pytest.mark.parametrize("name", ABOUT)
def test_who_may_and_who_may_not(world: World, name: str) -> None:
    endpoint = EVERY[name]
    for access in ACCESSES:
        request = world.request(endpoint, access)
        for who in (None, "expired", "revoked", "outreader", "outsider", "reader"):
            answer = world.ask(who, request)
            wanted = expected(endpoint, who, access)
            assert _kind(answer) == wanted, (who, access, answer.status_code, answer.text)
            if wanted != 200:
                assert not answer.headers.get("etag")
        world.prepare(name, access)
        for who in ("writer",) if endpoint.method != "GET" else ("writer", "owner", "root"):
            answer = world.ask(who, request)
            assert answer.is_success, (who, access, answer.status_code, answer.text)


@pytest.mark.parametrize("name", ABOUT)
def test_what_is_private_and_what_is_not_there_look_the_same(world: World, name: str) -> None:
    endpoint = EVERY[name]
    nowhere = {key: secrets.token_hex(16) for key in ("upload", "draft", "whole", "version")}
    absent = {"sink": "987654", "rule": "987654", **nowhere}
    private = world.request(endpoint, "private")
    missing = world.request(endpoint, "privatf", absent)
    for who in (None, "outsider", "outreader"):
        there, gone = world.ask(who, private), world.ask(who, missing)
        said = _neutral(there, world.ids["private"])
        assert said == _neutral(gone, absent), who


def test_every_endpoint_about_a_project_has_a_request() -> None:
    rest = set(EVERY) - set(ABOUT)
    assert rest == {
        "get_server", "get_health", "get_readiness", "get_metrics", "login", "logout", "get_session",
        "change_session", "list_keys", "add_key", "revoke_key", "list_users", "add_user", "change_user", "list_teams",
        "add_team", "set_member", "remove_member", "list_usage", "get_document", "list_projects", *_BEARER,
    }  # fmt: skip


@pytest.mark.parametrize("name", sorted(set(EVERY) - {"login"}))
def test_a_cookie_alone_changes_nothing(world: World, name: str) -> None:
    endpoint = EVERY[name]
    request = world.request(endpoint, "private")
    cookie = world.stage.ask("POST", "/api/v1/login", json={"key": world.keys[entitled(endpoint)]}).headers[
        "set-cookie"
    ]
    headers = {**request.options.get("headers", {}), "Cookie": cookie.partition(";")[0]}
    for more in (
        {},
        {"Sec-Fetch-Site": "same-origin"},
        {"X-Strobe-CSRF": "1"},
        {"Origin": "null", "X-Strobe-CSRF": "1"},
    ):
        answer = world.ask(None, request, headers={**headers, **more})
        if request.method in ("GET", "HEAD"):
            assert answer.is_success, answer.text
        else:
            assert answer.status_code == 403, (more, answer.text)
            assert "link" not in answer.json()["detail"]


@pytest.mark.parametrize("who", ["expired", "revoked"])
def test_a_key_that_ended_opens_nothing(world: World, who: str) -> None:
    for name, endpoint in EVERY.items():
        # as many wrong keys as one may send: the next are 429
        world.stage.open(world.stage.settings)
        assert world.ask(who, world.request(endpoint, "public")).status_code == 401, name


@pytest.mark.parametrize("name", ["query_series", "diff_runs", "watch_live"])
def test_one_private_run_among_others_is_not_told_of(world: World, name: str) -> None:
    for who, status in ((None, 401), ("outsider", 404)):
        both = ["ada/public/r", "ada/private/r"]
        request = world.request(EVERY[name], "public")
        where = "params" if name == "watch_live" else "json"
        answer = world.ask(who, request, **{where: {**request.options[where], "runs": both}})
        assert answer.status_code == status, answer.text
        assert "etag" not in answer.headers


def test_lists_over_projects_show_what_may_be_seen(world: World) -> None:
    seen = {
        who: [item["name"] for item in world.ask(who, world.request(EVERY["list_projects"], "public")).json()["items"]]
        for who in (None, "outsider", "outreader", "reader", "root")
    }
    assert seen[None] == ["public"]
    assert seen["outsider"] == seen["outreader"] == ["public", "team"]
    assert seen["reader"] == seen["root"] == ["private", "public", "team"]


@pytest.mark.parametrize("name", sorted(EVERY))
def test_answers_are_what_the_document_says(world: World, name: str) -> None:
    endpoint = EVERY[name]
    document = world.stage.ask("GET", "/api/v1/openapi.json").json()
    operation = document["paths"][endpoint.route.replace(":path}", "}")][endpoint.method.lower()]
    request = world.request(endpoint, "private")
    world.prepare(name, "private")
    answer = world.ask(entitled(endpoint), request)
    assert str(answer.status_code) in operation["responses"], answer.text
    assert answer.is_success, answer.text
    _check(answer, operation["responses"][str(answer.status_code)], document)
    problem = world.ask("revoked", request)
    _check(problem, document["components"]["responses"]["Problem401"], document)


def _check(answer: httpx.Response, said: dict[str, object], document: dict[str, object]) -> None:
    contents = said.get("content", {})
    assert isinstance(contents, dict)
    kind = answer.headers.get("content-type", "").partition(";")[0]
    if not answer.content:
        assert answer.status_code == 204 or answer.request.method == "HEAD", answer.headers
        return
    assert kind in contents or "application/octet-stream" in contents, (kind, list(contents))
    if kind.endswith("json") and contents[kind]:
        schema = {**contents[kind]["schema"], "components": document["components"]}
        jsonschema.Draft202012Validator(schema).validate(answer.json())


def _kind(answer: httpx.Response) -> int:
    return 200 if answer.is_success else answer.status_code


def _neutral(answer: httpx.Response, ids: dict[str, str]) -> tuple[int, str]:
    """Return what an answer says but for the names of what was asked for."""
    text = answer.text.replace("privatf", "private").replace(answer.headers["x-request-id"], "")
    for name, found in ids.items():
        if len(found) > 8:
            text = text.replace(found, name)
    return answer.status_code, text
