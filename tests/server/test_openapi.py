"""The OpenAPI document: valid, complete, and true to what is served."""

from __future__ import annotations

import typing
from typing import Annotated, Any, Literal

import msgspec
import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator

from strobe.server.app import endpoints
from strobe.server.endpoint import Call, Endpoint, endpoint
from strobe.server.openapi import document
from tests.server.conftest import Stage


class Where(msgspec.Struct):
    entity: str
    rest: str


class Query(msgspec.Struct, kw_only=True):
    key: str
    pixels: Annotated[int, msgspec.Meta(ge=1, le=100)] = 10
    tag: list[str] = []


class Point(msgspec.Struct):
    step: int
    value: float | None


class Body(msgspec.Struct):
    points: list[Point]


@endpoint("PUT", "/t/{entity}/{rest:path}", access="write", tag="t", path=Where, query=Query, body=Body, returns=Point)
async def put_it(call: Call, path: Where, query: Query, body: Body) -> Point:
    """Put it there.

    And say more.
    """
    raise NotImplementedError


def test_the_document_is_served_and_valid(stage: Stage) -> None:
    stage.serve(put_it)
    served = stage.ask("GET", "/api/v1/openapi.json").json()
    OpenAPIV31SpecValidator(served).validate()
    assert served["openapi"] == "3.1.0"
    assert "/t/{entity}/{rest}" in served["paths"]


@pytest.mark.parametrize("found", endpoints(), ids=lambda found: f"{found.method} {found.route}")
def test_every_endpoint_is_in_it(found: Endpoint) -> None:
    paths: dict[str, Any] = document(endpoints())["paths"]
    operation = paths[found.route.replace(":path", "")][found.method.lower()]
    assert operation["operationId"] == found.name
    assert operation["summary"].endswith("."), "a sentence"
    assert str(found.status) in operation["responses"]
    assert operation["responses"]["default"] == {"$ref": "#/components/responses/Problemdefault"}


def test_names_of_operations_are_taken_once() -> None:
    names = [found.name for found in endpoints()]
    assert sorted(set(names)) == sorted(names)


def test_a_declaration_in_full() -> None:
    made = document([put_it])
    operation = made["paths"]["/t/{entity}/{rest}"]["put"]
    assert (operation["summary"], operation["description"]) == ("Put it there.", "And say more.")
    assert operation["parameters"] == [
        {"name": "entity", "in": "path", "required": True, "schema": {"type": "string"}},
        {"name": "rest", "in": "path", "required": True, "schema": {"type": "string"}},
        {"name": "key", "in": "query", "required": True, "schema": {"type": "string"}},
        {
            "name": "pixels",
            "in": "query",
            "required": False,
            "schema": {"type": "integer", "minimum": 1, "maximum": 100, "default": 10},
        },
        {"name": "tag", "in": "query", "required": False, "schema": {"type": "array", "items": {"type": "string"}}},
    ]
    assert operation["requestBody"]["content"]["application/json"]["schema"] == {"$ref": "#/components/schemas/Body"}
    assert operation["security"] == [{"key": []}, {"basic": []}, {"session": []}]
    assert set(made["components"]["schemas"]) == {"Body", "Point", "ProblemDocument"}


@pytest.mark.parametrize("found", endpoints(), ids=lambda found: found.name)
def test_every_list_goes_on_by_a_cursor(found: Endpoint) -> None:
    """One way through all lists: `items`, and in `cursor` a text, or nothing, for the parameter `cursor`."""
    hints = typing.get_type_hints(found.returns) if hasattr(found.returns, "__struct_fields__") else {}
    if "items" not in hints:
        return
    cursor = hints.get("cursor", Literal[None])  # none: the list always comes whole
    assert cursor in (str | None, Literal[None]), f"{found.name}: cursor is {cursor}"
    assert "next" not in hints
