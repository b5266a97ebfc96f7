"""Anything may be asked of these endpoints: never a 5xx, and every error is a problem document."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import quote

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from strobe.server.endpoint import Endpoint
from strobe.server.routes import artifact_drafts, artifacts, bundles, files, lineage, links, uploads
from tests.server.files.conftest import House
from tests.server.files.test_artifacts import create, log

MODULES = (files, bundles, uploads, artifact_drafts, artifacts, lineage, links)
ENDPOINTS = [endpoint for module in MODULES for endpoint in module.ENDPOINTS]


def _json(value: Any) -> bytes:
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        return b"{}"


def _file(head: dict[str, Any]) -> bytes:
    """Return a file of a bundle that may be one or not."""
    try:
        encoded = msgspec.msgpack.encode({"path": "x", "size": 1, "sha256": "0" * 64, **head})
    except (UnicodeEncodeError, OverflowError):
        encoded = b""
    return len(encoded).to_bytes(4, "little") + encoded + b"x"


words = st.sampled_from(
    [
        "ada",
        "lab",
        "r1",
        "data",
        "v0",
        "latest",
        "a.txt",
        "..",
        ".",
        "0",
        "-1",
        "9" * 30,
        "\0",
        "ü",
        "a/b",
        "{v}",
        "{d}",
    ]
)
texts = st.one_of(words, st.text(max_size=12))
values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-(2**70), 2**70), st.floats(allow_nan=False), texts),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(texts, inner, max_size=3)),
    max_leaves=8,
)
FIELDS = sorted(
    {field for module in MODULES for kind in vars(module).values() for field in getattr(kind, "__struct_fields__", ())}
)
bodies = st.dictionaries(st.sampled_from(FIELDS), st.one_of(values, st.just({"contents": {}})), max_size=6)

bundles_of_anything = st.lists(bodies.map(_file), max_size=2).map(b"".join)


@given(
    endpoint=st.sampled_from(ENDPOINTS),
    parts=st.lists(texts, min_size=6, max_size=6),
    is_near=st.booleans(),
    query=st.dictionaries(st.sampled_from(FIELDS), texts, max_size=2),
    body=st.one_of(bodies.map(_json), st.binary(max_size=30), bundles_of_anything),
    headers=st.dictionaries(st.sampled_from(["Range", "If-Range", "If-Match", "Strobe-Sha256", "If-None-Match"]),
                            st.sampled_from(["bytes=0-1", "bytes=9-", "*", '"x"', "", "0" * 64])),
)  # fmt: skip
@settings(max_examples=400, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_anything(
    house: House,
    endpoint: Endpoint,
    parts: list[str],
    is_near: bool,
    query: dict[str, str],
    body: bytes,
    headers: dict[str, str],
) -> None:
    ids = _ids(house)
    names = {"entity": "ada", "project": "lab", "run": "r1", "name": "data", "reference": "v0"} if is_near else {}
    rest = iter(parts)

    def fill(found: re.Match[str]) -> str:
        name = found.group(1)
        known = names.get(name) or (ids.get(name) if is_near else None)
        text = known or next(rest).replace("{v}", ids["version"]).replace("{d}", ids["draft"])
        quoted = quote(text.encode("utf-8", "replace"), safe="/" if ":path" in found.group() else "")
        # A client resolves dots by itself: deleting the file `..` of a run would be deleting the run.
        return quoted.replace(".", "%2E")

    path = re.sub(r"\{(\w+)(?::path)?\}", fill, endpoint.route)
    sent = {"Content-Type": endpoint.consumes or "application/json", **headers}
    answer = house.ask(endpoint.method, path, params=query, content=body, headers=sent)
    assert answer.status_code < 500, (endpoint.name, path, query, body, answer.text)
    if answer.status_code >= 400:
        assert answer.headers["content-type"] == "application/problem+json"
        assert answer.json()["status"] == answer.status_code


def _ids(house: House) -> dict[str, str]:
    """Return the ids of a version, a draft and an upload, made anew if an example has taken them away."""
    version = log(house, {"a.txt": b"alpha"})["id"]
    draft = create(house, {"a.txt": b"beta"})["draft"]["id"]
    wanted = {"path": "big", "size": 3, "sha256": "0" * 64}
    upload = house.ask("POST", "/api/v1/runs/ada/lab/r1/uploads", json=wanted).json()["id"]
    return {"version": version, "draft": draft, "upload": upload}


def test_every_endpoint_is_in_the_fuzzer_and_documented() -> None:
    assert len(ENDPOINTS) >= 30
    for endpoint in ENDPOINTS:
        assert endpoint.summary.endswith((".", ")"))


@pytest.mark.parametrize("endpoint", ENDPOINTS, ids=lambda endpoint: endpoint.name)
def test_strangers_change_nothing(house: House, endpoint: Endpoint) -> None:
    if endpoint.access == "open":
        return
    path = re.sub(r"\{\w+(:path)?\}", "0" * 32, endpoint.route)
    answer = house.ask(endpoint.method, path, key=None, content=b"{}", headers={"Content-Type": "application/json"})
    assert answer.status_code in (401, 404, 422)
