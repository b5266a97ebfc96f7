"""Links: good for one method on one thing, for a while, and for nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from strobe.server.signing import Signer
from tests.server.files.conftest import House
from tests.server.files.test_artifacts import create, log

FILE = {"kind": "file", "entity": "ada", "project": "lab", "run": "r1", "path": "a.txt"}


def _link(house: House, method: str, goal: dict[str, Any], **more: Any) -> str:
    answer = house.ask("POST", "/api/v1/links", json={"method": method, "goal": goal, **more})
    assert answer.status_code == 200, answer.text
    url: str = answer.json()["url"]
    return url


def test_a_file_by_link(house: House) -> None:
    put = _link(house, "PUT", FILE)
    assert house.ask("PUT", put + "?policy=end", key=None, content=b"hello").status_code == 204
    get = _link(house, "GET", FILE)
    got = house.ask("GET", get, key=None, headers={"Range": "bytes=1-2"})
    assert (got.status_code, got.content) == (206, b"el")
    assert got.headers["content-security-policy"].startswith("sandbox")
    assert house.ask("HEAD", get, key=None).headers["content-length"] == "5"
    assert house.ask("GET", get + "?download=true", key=None).headers["content-disposition"].startswith("attachment")


def test_a_link_is_for_its_method_and_its_time(house: House) -> None:
    house.ask("PUT", "/api/v1/runs/ada/lab/r1/files/a.txt", content=b"x")
    get, put = _link(house, "GET", FILE, expires_s=60), _link(house, "PUT", FILE, expires_s=60)
    assert house.ask("PUT", get, key=None, content=b"y").status_code == 403
    assert house.ask("GET", put, key=None).status_code == 403
    house.stage.clock.now_ns += 61 * 10**9
    assert house.ask("GET", get, key=None).status_code == 403
    assert house.ask("PUT", put, key=None, content=b"y").status_code == 403


@pytest.mark.parametrize("place", range(0, 60, 7))
def test_a_link_that_was_changed_is_none(house: House, place: int) -> None:
    house.ask("PUT", "/api/v1/runs/ada/lab/r1/files/a.txt", content=b"x")
    head, _, token = _link(house, "GET", FILE).rpartition("/")
    other = token[:place] + ("A" if token[place] != "A" else "B") + token[place + 1 :]
    assert house.ask("GET", f"{head}/{other}", key=None).status_code == 403


def test_links_of_others_are_none(house: House) -> None:
    foreign = Signer(b"another secret")
    text = '{"method":"GET","goal":{"kind":"file","entity":"ada","project":"lab","run":"r1","path":"a.txt"}}'
    for token in (
        foreign.sign("link", text, expires_ns=2**62),
        house.stage.services.signer.sign("session", text, expires_ns=2**62),
        "x",
        "a.",
        "é",
    ):
        assert house.ask("GET", f"/api/v1/links/{token}", key=None).status_code == 403


def test_artifacts_and_parts_by_link(house: House) -> None:
    draft = create(house, {"x": b"abc"})["draft"]["id"]
    put = _link(house, "PUT", {"kind": "draft", "draft": draft, "path": "x"})
    assert house.ask("PUT", put, key=None, content=b"abd").status_code == 400
    assert house.ask("PUT", put, key=None, content=b"abc").status_code == 204
    version = house.ask("POST", f"/api/v1/artifact-drafts/{draft}/commit").json()
    get = _link(house, "GET", {"kind": "entry", "version": version["id"], "path": "x"})
    assert house.ask("GET", get, key=None).content == b"abc"
    house.ask("DELETE", "/api/v1/artifacts/ada/lab/collections/data/versions/v0")
    assert house.ask("GET", get, key=None).status_code == 404
    body = {"path": "big", "size": 3, "sha256": "0" * 64}
    upload = house.ask("POST", "/api/v1/runs/ada/lab/r1/uploads", json=body).json()
    part = _link(house, "PUT", {"kind": "part", "upload": upload["id"], "number": 0})
    assert house.ask("PUT", part, key=None, content=b"abc").status_code == 204
    assert house.ask("GET", f"/api/v1/uploads/{upload['id']}").json()["parts"] == [0]


def test_nobody_gets_a_link_to_what_they_may_not_do(house: House) -> None:
    version = log(house, {"x": b"abc"})
    draft = create(house, {"y": b"abd"})["draft"]["id"]
    entry = {"kind": "entry", "version": version["id"], "path": "x"}
    wanted: list[tuple[str, dict[str, Any]]] = [
        ("GET", FILE),
        ("PUT", FILE),
        ("GET", entry),
        ("PUT", {"kind": "draft", "draft": draft, "path": "y"}),
    ]
    for method, goal in wanted:
        answer = house.ask("POST", "/api/v1/links", key=house.bob, json={"method": method, "goal": goal})
        assert answer.status_code == 404
        answer = house.ask("POST", "/api/v1/links", key=house.reader, json={"method": method, "goal": goal})
        assert answer.status_code == (200 if method == "GET" else 403)
    assert house.ask("POST", "/api/v1/links", json={"method": "PUT", "goal": entry}).status_code == 422
    long = {"method": "GET", "goal": FILE, "expires_s": 8 * 24 * 3600}
    assert house.ask("POST", "/api/v1/links", json=long).status_code == 422


def test_a_link_ends_with_the_key_that_it_was_made_with(house: House) -> None:
    stage = house.stage
    house.ask("PUT", "/api/v1/runs/ada/lab/r1/files/a.txt", content=b"x")
    _, short = stage.store.accounts.keys.add("ada", scope="read", expires_ns=stage.clock() + 60 * 10**9)
    wanted = {"method": "GET", "goal": FILE, "expires_s": 7 * 24 * 3600}
    link = house.ask("POST", "/api/v1/links", json=wanted, key=short).json()
    assert link["expires_ns"] == stage.clock() + 60 * 10**9
    stage.clock.now_ns += 61 * 10**9
    assert house.ask("GET", link["url"], key=None).status_code == 403


def test_a_link_is_no_way_around_a_quota(house: House) -> None:
    put = _link(house, "PUT", FILE)
    house.ask("PUT", "/api/v1/runs/ada/lab/r1/files/b.txt", content=b"x" * 100)
    house.stage.store.projects.change("ada", "lab", quota_bytes=10)
    by_key = house.ask("PUT", "/api/v1/runs/ada/lab/r1/files/a.txt", content=b"y")
    by_link = house.ask("PUT", put, key=None, content=b"y")
    assert by_key.status_code == by_link.status_code == 507
