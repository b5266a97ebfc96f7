"""One value of a request that makes sense is odd: an answer or a clear 4xx on both databases, never a fault."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from strobe.server.app import endpoints
from strobe.store.blobs import open_blobs
from strobe.store.database import Database
from strobe.store.store import Store
from tests.server.conftest import Clock, Stage
from tests.server.world import Request, World, build
from tests.store.conftest import database, empty_database

__all__ = ["database", "empty_database"]

ODD: list[Any] = [
    "a\0b",
    "",
    "é漢\u2028",
    "x" * 5000,
    "..",
    "../../etc/passwd",
    "%",
    "'\"\\",
    2**63,
    2**70,
    -1,
    True,
    None,
    [],
    {},
]


@pytest.fixture
def world(database: Database, tmp_path: Path) -> World:
    clock = Clock()
    return build(Stage(Store(database, open_blobs(tmp_path / "blobs"), clock), clock))


def variants(value: Any) -> Iterator[Any]:
    """Yield a JSON value with one of its parts replaced by something odd."""
    if isinstance(value, dict):
        for key, part in value.items():
            yield from ({**value, key: other} for other in variants(part))
    elif isinstance(value, list) and value:
        yield from ([other, *value[1:]] for other in variants(value[0]))
    else:
        yield from ODD


def requests(world: World, request: Request, query: list[str]) -> Iterator[Request]:
    if body := request.options.get("json"):
        for other in variants(body):
            yield Request(request.method, request.path, {**request.options, "json": other})
    params = request.options.get("params", {})
    for name in query:
        for odd in ODD:
            if not isinstance(odd, (list, dict)) and odd is not None:
                yield Request(request.method, request.path, {**request.options, "params": {**params, name: str(odd)}})
    parts = request.path.split("/")
    for place in range(4, len(parts)):
        for odd in ("a%00b", "%2e%2e", "é", "x" * 2000, "%22", str(2**63), "-1", "%F0%9F%98%80", "%ff"):
            path = "/".join([*parts[:place], odd, *parts[place + 1 :]])
            yield Request(request.method, path, request.options)


@pytest.mark.slow
def test_no_value_is_a_fault(world: World) -> None:
    world.stage.services.courier.try_once = lambda delivery: ""  # type: ignore[method-assign]
    faults = []
    for endpoint in endpoints():
        query = [] if endpoint.query is None else [field.encode_name for field in endpoint.query.fields]
        if endpoint.access not in ("read", "write") and "keys" not in endpoint.route:
            continue
        for request in requests(world, world.request(endpoint, "private"), query):
            world.stage.services.rates.keys._buckets.clear()
            answer = world.ask("owner", request)
            if answer.status_code >= 500 and answer.status_code != 507:
                faults.append((endpoint.name, request, answer.text))
    assert not faults, "\n".join(f"{name} {request} {text}" for name, request, text in faults)
