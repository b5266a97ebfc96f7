"""The OpenAPI 3.1 document, made from the endpoints' declarations: it cannot say anything else than what is served."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, get_type_hints

import msgspec
from msgspec import NODEFAULT

from strobe._version import __version__
from strobe.server.endpoint import Endpoint
from strobe.server.parameters import Parameters
from strobe.server.problem import PROBLEM_JSON, ProblemDocument

_REFERENCE = "#/components/schemas/{name}"
#: status → when; each is a problem document
_PROBLEMS = {
    "400": "The request makes no sense.",
    "401": "Not signed in, or the key is not valid.",
    "403": "Known, but not allowed.",
    "404": "Not there, or not for the caller to see.",
    "413": "More than the limits allow.",
    "422": "A parameter or field has a value that it cannot have.",
    "426": "The protocol's version is not spoken here.",
    "429": "Too many requests: wait as long as Retry-After says.",
    "503": "Not now: wait as long as Retry-After says.",
    "507": "There is no room left.",
    "default": "Anything else that went wrong.",
}
_SECURITY: dict[str, dict[str, str]] = {
    "key": {"type": "http", "scheme": "bearer", "description": "A key: strobe_<id>_<secret>."},
    "basic": {"type": "http", "scheme": "basic", "description": "User `api`, the key as password."},
    "session": {"type": "apiKey", "in": "cookie", "name": "strobe_session", "description": "From /api/v1/login."},
}


def document(endpoints: Sequence[Endpoint]) -> dict[str, Any]:
    """Return the document for these endpoints."""
    types = [kind for endpoint in endpoints for kind in (endpoint.body, endpoint.returns) if kind is not None]
    types += [hint for endpoint in endpoints for part in (endpoint.path, endpoint.query) for hint in _hints(part)]
    schemas, components = msgspec.json.schema_components([*types, ProblemDocument], ref_template=_REFERENCE)
    schema_of = {_identity(kind): schema for kind, schema in zip([*types, ProblemDocument], schemas, strict=True)}
    sent = _reachable([schema_of[_identity(endpoint.body)] for endpoint in endpoints if endpoint.body], components)
    components = {name: schema if name in sent else _answered(schema) for name, schema in components.items()}
    paths: dict[str, dict[str, Any]] = {}
    for endpoint in endpoints:
        paths.setdefault(_path(endpoint.route), {})[endpoint.method.lower()] = _operation(endpoint, schema_of)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Strobe",
            "version": __version__,
            "description": "Times are integer nanoseconds since the epoch in fields named *_ns. NaN and the infinities"
            ' are the strings "NaN", "Infinity" and "-Infinity".',
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/"}],
        "tags": [{"name": name} for name in dict.fromkeys(endpoint.tag for endpoint in endpoints)],
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": _SECURITY,
            "responses": {f"Problem{status}": _problem(text, schema_of) for status, text in _PROBLEMS.items()},
        },
    }


def _operation(endpoint: Endpoint, schema_of: dict[Any, Any]) -> dict[str, Any]:
    operation: dict[str, Any] = {
        "operationId": endpoint.name,
        "tags": [endpoint.tag],
        "summary": endpoint.summary,
        "responses": {
            str(endpoint.status): _answer(endpoint, schema_of),
            **{status: {"$ref": f"#/components/responses/Problem{status}"} for status in _PROBLEMS},
        },
    }
    if endpoint.description:
        operation["description"] = endpoint.description
    if parameters := [*_parameters(endpoint.path, "path", schema_of), *_parameters(endpoint.query, "query", schema_of)]:
        operation["parameters"] = parameters
    if endpoint.body is not None:
        content = {"application/json": {"schema": schema_of[_identity(endpoint.body)]}}
        operation["requestBody"] = {"required": True, "content": content}
    elif endpoint.consumes:
        operation["requestBody"] = {"required": True, "content": {endpoint.consumes: {}}}
    if endpoint.access != "open":
        every: list[dict[str, list[str]]] = [{name: []} for name in _SECURITY]
        operation["security"] = [*every, {}] if endpoint.access == "read" else every  # what is public needs none
    return operation


def _answer(endpoint: Endpoint, schema_of: dict[Any, Any]) -> dict[str, Any]:
    content: dict[str, Any] = {}
    if endpoint.returns is not None:
        content["application/json"] = {"schema": schema_of[_identity(endpoint.returns)]}
    if endpoint.produces:
        content[endpoint.produces] = {}
    return {"description": "What was asked for.", **({"content": content} if content else {})}


def _reachable(schemas: Iterable[Any], components: dict[str, Any]) -> set[str]:
    """Return the names of the components that are in these schemas, or in each other."""
    found: set[str] = set()
    waiting = list(schemas)
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            name = str(part.get("$ref", "")).rpartition("/")[2]
            if name in components and name not in found:
                found.add(name)
                waiting.append(components[name])
            waiting += part.values()
        elif isinstance(part, list):
            waiting += part
    return found


def _answered(schema: Any) -> Any:
    """Return a schema of answers, in which any number may be one that JSON has not."""
    if schema == {"type": "number"}:
        return {"anyOf": [schema, {"enum": ["NaN", "Infinity", "-Infinity"]}]}
    if isinstance(schema, dict):
        return {name: _answered(part) for name, part in schema.items()}
    return [_answered(part) for part in schema] if isinstance(schema, list) else schema


def _problem(text: str, schema_of: dict[Any, Any]) -> dict[str, Any]:
    return {"description": text, "content": {PROBLEM_JSON: {"schema": schema_of[_identity(ProblemDocument)]}}}


def _parameters(part: Parameters | None, place: str, schema_of: dict[Any, Any]) -> Iterable[dict[str, Any]]:
    if part is None:
        return
    for field, hint in zip(part.fields, _hints(part), strict=True):
        schema = dict(schema_of[_identity(hint)])
        if field.default is not NODEFAULT and field.default is not None:
            schema["default"] = msgspec.to_builtins(field.default)
        yield {
            "name": field.encode_name,
            "in": place,
            "required": place == "path" or field.required,
            "schema": schema,
        }


def _hints(part: Parameters | None) -> list[Any]:
    if part is None:
        return []
    hints = get_type_hints(part.struct, include_extras=True)
    return [hints[field.name] for field in part.fields]


def _identity(kind: Any) -> Any:
    try:
        hash(kind)
    except TypeError:  # an annotation with a list in it
        return repr(kind)
    return kind


def _path(route: str) -> str:
    return re.sub(r"\{(\w+):\w+\}", r"{\1}", route)
