"""Files of runs over HTTP: in, out, in parts of them, and never for those who may not."""

from __future__ import annotations

import gzip
import hashlib
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from strobe.server.services import Limits, ServerSettings
from tests.server.files.conftest import House

FILES = "/api/v1/runs/ada/lab/r1/files"
BODY = bytes(range(256)) * 5000  # more than what goes to the store at once
SHA256 = hashlib.sha256(BODY).hexdigest()


def test_a_file_goes_in_and_comes_out(house: House) -> None:
    put = house.ask("PUT", f"{FILES}/media/a%20b.bin?policy=end&mtime_ns=7", content=BODY)
    assert put.status_code == 200, put.text
    assert (put.json()["path"], put.json()["sha256"], put.json()["mtime_ns"]) == ("media/a b.bin", SHA256, 7)
    got = house.ask("GET", f"{FILES}/media/a%20b.bin")
    assert got.content == BODY
    assert got.headers["etag"] == f'"{SHA256}"'
    assert got.headers["content-length"] == str(len(BODY))
    assert got.headers["content-type"] == "application/octet-stream"
    assert got.headers["content-disposition"] == "attachment; filename=\"a b.bin\"; filename*=UTF-8''a%20b.bin"
    head = house.ask("HEAD", f"{FILES}/media/a%20b.bin")
    assert (head.content, head.headers["content-length"]) == (b"", str(len(BODY)))
    assert house.ask("DELETE", f"{FILES}/media/a%20b.bin").status_code == 204
    for method in ("GET", "HEAD", "DELETE"):
        assert house.ask(method, f"{FILES}/media/a%20b.bin").status_code == 404


def test_a_file_is_replaced_over_what_its_sender_knows(house: House) -> None:
    assert house.ask("PUT", f"{FILES}/x?over=none", content=b"one").status_code == 200
    late = house.ask("PUT", f"{FILES}/x?over=none", content=b"two")
    assert (late.status_code, late.json()["type"]) == (412, "urn:strobe:problem:precondition-failed")
    known = hashlib.sha256(b"one").hexdigest()
    said = {"path": "x", "size": 3, "sha256": hashlib.sha256(b"two").hexdigest(), "over": known}
    upload = house.ask("POST", "/api/v1/runs/ada/lab/r1/uploads", json=said).json()["id"]
    assert house.ask("PUT", f"/api/v1/uploads/{upload}/parts/0", content=b"two").status_code == 204
    assert house.ask("POST", f"/api/v1/uploads/{upload}/complete?over=none").status_code == 412
    assert house.ask("GET", f"{FILES}/x").content == b"one"
    assert house.ask("POST", f"/api/v1/uploads/{upload}/complete?over={known}").status_code == 200
    assert house.ask("GET", f"{FILES}/x").content == b"two"


def test_parts_of_a_file(house: House) -> None:
    house.ask("PUT", f"{FILES}/x", content=BODY)
    got = house.ask("GET", f"{FILES}/x", headers={"Range": "bytes=10-19"})
    assert (got.status_code, got.content) == (206, BODY[10:20])
    assert got.headers["content-range"] == f"bytes 10-19/{len(BODY)}"
    head = house.ask("HEAD", f"{FILES}/x", headers={"Range": "bytes=10-19"})
    assert (head.status_code, head.headers["content-length"]) == (206, "10")
    outside = house.ask("GET", f"{FILES}/x", headers={"Range": f"bytes={len(BODY)}-"})
    assert (outside.status_code, outside.headers["content-range"]) == (416, f"bytes */{len(BODY)}")
    many = house.ask("GET", f"{FILES}/x", headers={"Range": "bytes=0-1,5-6"})
    assert (many.status_code, len(many.content)) == (200, len(BODY))


@given(st.text(alphabet="bytes=0123456789-,", max_size=20), st.integers(0, 3))
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_any_range_header_gets_a_part_or_a_clear_no(house: House, header: str, size: int) -> None:
    house.ask("PUT", f"{FILES}/small", content=b"abc"[:size])
    got = house.ask("GET", f"{FILES}/small", headers={"Range": header})
    assert got.status_code in (200, 206, 416)
    if got.status_code == 200:
        assert got.content == b"abc"[:size]


def test_conditions(house: House) -> None:
    house.ask("PUT", f"{FILES}/x", content=b"one")
    first = house.ask("GET", f"{FILES}/x")
    etag, modified = first.headers["etag"], first.headers["last-modified"]

    def ask(**headers: str) -> tuple[int, bytes]:
        got = house.ask("GET", f"{FILES}/x", headers={name.replace("_", "-"): text for name, text in headers.items()})
        return got.status_code, got.content

    assert ask(If_None_Match=etag) == (304, b"")
    assert ask(If_None_Match='"other"') == (200, b"one")
    assert ask(Range="bytes=1-", If_Range=etag) == (206, b"ne")
    assert ask(Range="bytes=1-", If_Range=modified) == (206, b"ne")
    assert ask(Range="bytes=1-", If_Range='"other"') == (200, b"one"), "it has changed: all of it, not a wrong part"
    assert ask(Range="bytes=1-", If_Range=f"W/{etag}") == (200, b"one")
    assert ask(If_Match=etag)[0] == 200
    assert ask(If_Match='"other"')[0] == 412


def test_lists_in_pages(house: House) -> None:
    for name in ("b", "a/2", "a/1", "c"):
        house.ask("PUT", f"{FILES}/{name}", content=name.encode())
    first = house.ask("GET", f"{FILES}?limit=3").json()
    assert [item["path"] for item in first["items"]] == ["a/1", "a/2", "b"]
    second = house.ask("GET", f"{FILES}?limit=3&cursor={first['cursor']}").json()
    assert ([item["path"] for item in second["items"]], second["cursor"]) == (["c"], None)
    assert [item["path"] for item in house.ask("GET", f"{FILES}?prefix=a/").json()["items"]] == ["a/1", "a/2"]
    assert house.ask("GET", f"{FILES}?prefix=").json()["cursor"] is None


@pytest.mark.parametrize(
    ("name", "kind", "how"),
    [
        ("a.html", "text/html; charset=utf-8", "inline"),
        ("a.svg", "image/svg+xml", "inline"),
        ("a.PNG", "image/png", "inline"),
        ("a.js", "text/plain; charset=utf-8", "inline"),
        ("a.css", "text/plain; charset=utf-8", "inline"),
        ("a.log", "text/plain; charset=utf-8", "inline"),
        ("a.json", "application/json", "inline"),
        ("a.pdf", "application/pdf", "attachment"),
        ("a.tar.gz", "application/octet-stream", "attachment"),
        ("model", "application/octet-stream", "attachment"),
    ],
)
def test_what_users_store_can_do_nothing_in_our_name(house: House, name: str, kind: str, how: str) -> None:
    house.ask("PUT", f"{FILES}/{name}", content=b"<script>alert(1)</script>")
    got = house.ask("GET", f"{FILES}/{name}")
    assert got.headers["content-type"] == kind
    assert got.headers["content-disposition"].startswith(f"{how};")
    assert got.headers["content-security-policy"].startswith("sandbox")
    assert "allow-same-origin" not in got.headers["content-security-policy"]
    assert got.headers["x-content-type-options"] == "nosniff"
    saved = house.ask("GET", f"{FILES}/{name}?download=true")
    assert saved.headers["content-disposition"].startswith("attachment;")


def test_a_name_can_not_break_out_of_its_header(house: House) -> None:
    house.ask("PUT", FILES + "/%22x%C3%BC%25.txt", content=b"")
    got = house.ask("GET", FILES + "/%22x%C3%BC%25.txt")
    assert got.headers["content-disposition"] == "inline; filename=\"_x__.txt\"; filename*=UTF-8''%22x%C3%BC%25.txt"


@pytest.mark.parametrize(
    "path", ["..%2Fx", "a%2F..%2Fb", "%2Fetc", "a%00b", "a%0Ab", "C:x", "a%5C..%5Cb", "a%2F%2Fb", "", "x" * 300]
)
def test_paths_that_lead_elsewhere(house: House, path: str) -> None:
    put = house.ask("PUT", f"{FILES}/{path}", content=b"x")
    assert put.status_code in (400, 404, 422), put.text
    assert put.headers["content-type"] == "application/problem+json"


def test_who_may_not(house: House) -> None:
    house.ask("PUT", f"{FILES}/x", content=b"secret")
    for method, path in (("GET", f"{FILES}/x"), ("GET", FILES), ("PUT", f"{FILES}/x"), ("DELETE", f"{FILES}/x")):
        assert house.ask(method, path, key=house.bob).status_code == 404, "as if it were not there"
        assert house.ask(method, path, key=None).status_code == 401
    assert house.ask("GET", f"{FILES}/x", key=house.reader).status_code == 200
    for method in ("PUT", "DELETE"):
        assert house.ask(method, f"{FILES}/x", key=house.reader).status_code == 403
    assert house.ask("PUT", "/api/v1/runs/ada/lab/nope/files/x", content=b"").status_code == 404


def test_a_body_that_changed_on_its_way(house: House) -> None:
    wrong = house.ask("PUT", f"{FILES}/x", content=b"abc", headers={"Strobe-Sha256": SHA256})
    assert (wrong.status_code, "send it again" in wrong.json()["detail"]) == (422, True)
    assert house.ask("GET", f"{FILES}/x").status_code == 404
    right = house.ask("PUT", f"{FILES}/x", content=BODY, headers={"Strobe-Sha256": SHA256})
    assert right.status_code == 200


def test_compressed_bodies_and_too_large_ones(house: House) -> None:
    packed = house.ask("PUT", f"{FILES}/x", content=gzip.compress(BODY), headers={"Content-Encoding": "gzip"})
    assert packed.json()["sha256"] == SHA256
    house.stage.open(ServerSettings(limits=Limits(part_bytes=1000)))
    assert house.ask("PUT", f"{FILES}/y", content=BODY).status_code == 413
    bomb = gzip.compress(b"\0" * 100_000)
    assert len(bomb) < 1000
    assert house.ask("PUT", f"{FILES}/y", content=bomb, headers={"Content-Encoding": "gzip"}).status_code == 413
    assert house.ask("GET", f"{FILES}/y").status_code == 404
    assert [blob.key.split("/")[0] for blob in house.stage.store.contents.blobs.list()] == ["sha256"]


# --- in parts


def _start(house: House, body: bytes = BODY, path: str = "big", **more: Any) -> Any:
    wanted = {"path": path, "size": len(body), "sha256": hashlib.sha256(body).hexdigest(), **more}
    return house.ask("POST", "/api/v1/runs/ada/lab/r1/uploads", json=wanted)


def test_a_file_in_parts(house: House) -> None:
    house.stage.store.uploads._part_bytes = 500_000
    started = _start(house, policy="live", mtime_ns=3).json()
    assert (started["state"], started["num_parts"], started["parts"]) == ("open", 3, [])
    place = f"/api/v1/uploads/{started['id']}"
    for number in (2, 0):
        part = BODY[number * 500_000 : (number + 1) * 500_000]
        said = {"Strobe-Sha256": hashlib.sha256(part).hexdigest()}
        assert house.ask("PUT", f"{place}/parts/{number}", content=part, headers=said).status_code == 204
    assert house.ask("GET", place).json()["parts"] == [0, 2]
    assert _start(house).json()["id"] == started["id"], "a sender that forgot everything goes on"
    early = house.ask("POST", f"{place}/complete")
    assert (early.status_code, "[1]" in early.json()["detail"]) == (409, True)
    assert house.ask("PUT", f"{place}/parts/1", content=b"short").status_code == 400
    assert house.ask("PUT", f"{place}/parts/3", content=b"").status_code == 400
    house.ask("PUT", f"{place}/parts/1", content=BODY[500_000:1_000_000][::-1])
    assert house.ask("POST", f"{place}/complete").status_code == 409, "not what was announced"
    house.ask("PUT", f"{place}/parts/1", content=BODY[500_000:1_000_000])
    done = house.ask("POST", f"{place}/complete")
    assert (done.status_code, done.json()["state"]) == (200, "there"), done.text
    assert house.ask("GET", f"{FILES}/big").content == BODY
    assert house.ask("POST", f"{place}/complete").status_code == 404
    assert _start(house).json()["state"] == "there"


def test_what_the_project_has_is_not_sent_again(house: House) -> None:
    house.ask("PUT", f"{FILES}/x", content=BODY)
    assert _start(house, path="y").json()["state"] == "there"
    assert house.ask("GET", f"{FILES}/y").content == BODY


def test_uploads_are_of_their_project_alone(house: House) -> None:
    place = f"/api/v1/uploads/{_start(house).json()['id']}"
    calls = (("GET", place), ("PUT", f"{place}/parts/0"), ("POST", f"{place}/complete"), ("DELETE", place))
    for method, path in calls:
        assert house.ask(method, path, key=house.bob).status_code == 404
        assert house.ask(method, path, key=house.reader).status_code == 403
    assert house.ask("DELETE", place).status_code == 204
    assert house.ask("GET", place).status_code == 404


@pytest.mark.parametrize(
    "change", [{"path": "../x"}, {"size": -1}, {"size": 10**15}, {"sha256": "x"}, {"policy": "x"}, {"more": 1}]
)
def test_uploads_that_can_not_be(house: House, change: dict[str, Any]) -> None:
    wanted = {"path": "a", "size": 1, "sha256": SHA256, **change}
    answer = house.ask("POST", "/api/v1/runs/ada/lab/r1/uploads", content=msgspec.json.encode(wanted),
                       headers={"Content-Type": "application/json"})  # fmt: skip
    assert answer.status_code in (400, 422)
