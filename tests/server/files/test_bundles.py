"""Many small files in one request: each gets its own answer, and the same bundle again changes nothing."""

from __future__ import annotations

import gzip
import hashlib
from typing import Any

import httpx
import pytest

from strobe.server.services import Limits, ServerSettings
from strobe.wire import BUNDLE
from strobe.wire.bundle import FileHead, encode_file
from tests.server.files.conftest import House
from tests.server.files.test_artifacts import DATA, create
from tests.server.world import bundle_of

FILES = "/api/v1/runs/ada/lab/r1/files"


def send(house: House, body: bytes, path: str = FILES, **keywords: Any) -> httpx.Response:
    headers = {"Content-Type": BUNDLE, **keywords.pop("headers", {})}
    return house.ask("POST", path, content=body, headers=headers, **keywords)


def words(answer: httpx.Response) -> list[tuple[str, str]]:
    assert answer.status_code == 200, answer.text
    return [(word["path"], word["status"]) for word in answer.json()["files"]]


def test_files_go_in_and_come_out(house: House) -> None:
    bodies = {"media/a b.png": b"png", "empty": b"", "x.html": b"<b>"}
    for _ in range(2):
        answer = send(house, bundle_of(bodies, policy="end", mtime_ns=7, over="none"))
        assert words(answer) == [(path, "stored") for path in bodies]
    for path, body in bodies.items():
        assert house.ask("GET", f"{FILES}/{path}").content == body
    listed = house.ask("GET", FILES).json()["items"]
    assert {(it["policy"], it["mtime_ns"]) for it in listed} == {("end", 7)}
    part = house.ask("GET", f"{FILES}/media/a%20b.png", headers={"Range": "bytes=1-"})
    assert (part.status_code, part.content) == (206, b"ng")


def test_one_bad_file_holds_up_no_other(house: House) -> None:
    house.ask("PUT", f"{FILES}/taken", content=b"there")
    damaged = encode_file(FileHead(path="damaged", size=3, sha256="0" * 64), b"abc")
    odd = encode_file(FileHead(path="odd", size=0, sha256=hashlib.sha256(b"").hexdigest(), policy="never"), b"")
    body = damaged + odd + bundle_of({"../up": b"1", "a\0b": b"2", "fine": b"3", "taken": b"4"}, over="none")
    answer = send(house, body)
    assert words(answer) == [
        ("damaged", "damaged"),
        ("odd", "refused"),
        ("../up", "refused"),
        ("a\0b", "refused"),
        ("fine", "stored"),
        ("taken", "changed"),
    ]
    assert answer.json()["files"][-1]["there"] == hashlib.sha256(b"there").hexdigest()
    assert [it["path"] for it in house.ask("GET", FILES).json()["items"]] == ["fine", "taken"]
    assert house.ask("GET", f"{FILES}/taken").content == b"there"


@pytest.mark.parametrize("body", [b"x", bundle_of({"a": b"abc"})[:-1], b"\xff\xff\xff\xff"])
def test_what_is_no_bundle(house: House, body: bytes) -> None:
    assert send(house, body).status_code == 400
    assert house.ask("GET", FILES).json()["items"] == []


def test_limits(house: House) -> None:
    body = bundle_of({"a": b"\0" * 5000})
    assert house.ask("POST", FILES, content=body, headers={"Content-Type": "text/plain"}).status_code == 415
    assert words(send(house, gzip.compress(body), headers={"Content-Encoding": "gzip"})) == [("a", "stored")]
    house.stage.open(ServerSettings(limits=Limits(bundle_bytes=1000)))
    assert send(house, body).status_code == 413
    assert send(house, gzip.compress(body), headers={"Content-Encoding": "gzip"}).status_code == 413
    many = b"".join(bundle_of({str(number): b""}) for number in range(1001))
    house.stage.open(ServerSettings())
    assert send(house, many).status_code == 400


def test_who_may_not(house: House) -> None:
    for key, status in ((house.bob, 404), (house.reader, 403), (None, 401)):
        assert send(house, bundle_of({"a": b"1"}), key=key).status_code == status
    assert send(house, bundle_of({"a": b"1"}), "/api/v1/runs/ada/lab/nope/files").status_code == 404


def test_entries_of_an_artifact(house: House) -> None:
    bodies = {"a.txt": b"alpha", "dir/b": b"beta", "same": b"alpha", "empty": b""}
    draft = create(house, bodies)["draft"]["id"]
    place = f"/api/v1/artifact-drafts/{draft}"
    answer = send(house, bundle_of({"a.txt": b"wrong", "nowhere": b"1", "dir/b": b"beta"}), f"{place}/files")
    assert words(answer) == [("a.txt", "refused"), ("nowhere", "refused"), ("dir/b", "stored")]
    assert house.ask("POST", f"{place}/commit").status_code == 409
    for _ in range(2):
        answer = send(house, bundle_of({"a.txt": b"alpha", "empty": b""}), f"{place}/files")
        assert words(answer) == [("a.txt", "stored"), ("empty", "stored")]
    assert house.ask("POST", f"{place}/commit").status_code == 200
    for path, body in bodies.items():
        assert house.ask("GET", f"{DATA}/versions/v0/files/{path}").content == body
    assert send(house, bundle_of({"a.txt": b"alpha"}), f"{place}/files").status_code == 404
