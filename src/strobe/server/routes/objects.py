"""Typed objects of runs (histograms, media, tables, text): which keys have them, and by step."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta
from starlette.responses import Response

from strobe.server.endpoint import Call, endpoint, weak_etag
from strobe.server.fields import Count, Key, Limit
from strobe.server.problem import Problem
from strobe.server.routes.series import RunOf, Step, question_digest, readable_run
from strobe.store.objects import LoggedValue, ObjectKey
from strobe.store.series.page import MAX_I64, MIN_I64

_OBJECTS = "/api/v1/runs/{entity}/{project}/{run}/objects"


class KeyList(msgspec.Struct, kw_only=True):
    items: list[ObjectKey]
    cursor: str | None = None


class ObjectsQuery(msgspec.Struct, kw_only=True):
    """Which objects of a key."""

    key: Key
    #: a range of steps, ends included; all by default
    first: Step | None = None
    last: Step | None = None
    order: Literal["asc", "desc"] = "asc"
    #: one attempt, superseded or not
    attempt: Count | None = None
    #: from the answer before; it takes the place of `first`, or of `last` when the order is desc
    cursor: Step | None = None
    limit: Limit = 100


class ObjectList(msgspec.Struct, kw_only=True):
    """Objects in the order of steps."""

    items: list[LoggedValue]
    cursor: str | None


class StepsQuery(msgspec.Struct, kw_only=True):
    """Whose steps."""

    keys: Annotated[list[Key], Meta(min_length=1, max_length=200)]


class Steps(msgspec.Struct, kw_only=True):
    """The steps of each key, in order; none for a key that has no objects."""

    steps: dict[str, list[int]]


class NearestQuery(msgspec.Struct, kw_only=True):
    """A step, and the keys that are to be shown at it."""

    step: Step
    keys: Annotated[list[Key], Meta(min_length=1, max_length=200)]


class Nearest(msgspec.Struct, kw_only=True):
    """The object of each key at the step, or at the last one before it; keys without one are left out."""

    values: dict[str, LoggedValue]


@endpoint("GET", _OBJECTS, path=RunOf, returns=KeyList, access="read", tag="objects")
async def list_object_keys(call: Call, path: RunOf) -> KeyList | Response:
    """List the keys that have objects, with their types and steps."""
    row = await readable_run(call, path)
    if unchanged := call.unchanged(weak_etag(row.id, row.version)):
        return unchanged
    return KeyList(items=await call.in_thread(call.services.store.objects.keys, row.id))


@endpoint("GET", _OBJECTS + "/values", path=RunOf, query=ObjectsQuery, returns=ObjectList, access="read", tag="objects")
async def list_objects(call: Call, path: RunOf, query: ObjectsQuery) -> ObjectList:
    """Return the objects of a key by step, as many as fit into one answer; follow the cursor for more."""
    row = await readable_run(call, path)
    first = MIN_I64 if query.first is None else query.first
    last = MAX_I64 if query.last is None else query.last
    is_descending = query.order == "desc"
    if query.cursor is not None:
        first, last = (first, min(last, query.cursor)) if is_descending else (max(first, query.cursor), last)
    page = await call.in_thread(
        call.services.store.objects.of_key,
        row.id,
        query.key,
        first=first,
        last=last,
        limit=query.limit,
        is_descending=is_descending,
        attempt=query.attempt,
    )
    return ObjectList(items=page.items, cursor=None if page.next_step is None else str(page.next_step))


@endpoint("GET", _OBJECTS + "/steps", path=RunOf, query=StepsQuery, returns=Steps, access="read", tag="objects")
async def list_object_steps(call: Call, path: RunOf, query: StepsQuery) -> Steps | Response:
    """Return the steps at which keys have objects: where a step slider can stand."""
    row = await readable_run(call, path)
    if unchanged := call.unchanged(weak_etag(row.id, row.version, question_digest(query))):
        return unchanged
    return Steps(steps=await call.in_thread(call.services.store.objects.steps, row.id, query.keys))


@endpoint("GET", _OBJECTS + "/nearest", path=RunOf, query=NearestQuery, returns=Nearest, access="read", tag="objects")
async def nearest_objects(call: Call, path: RunOf, query: NearestQuery) -> Nearest:
    """Return what several keys show at one step: for panels that share a step slider."""
    if len(set(query.keys)) != len(query.keys):
        raise Problem(422, detail="a key is given twice; give each once")
    row = await readable_run(call, path)
    return Nearest(values=await call.in_thread(call.services.store.objects.nearest, row.id, query.keys, query.step))


ENDPOINTS = [list_object_keys, list_objects, list_object_steps, nearest_objects]
