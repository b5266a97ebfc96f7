"""`GET /api/v1/live`: changes of runs and new points as they come, as Server-Sent Events."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta
from starlette.responses import Response

from strobe.errors import UsageError
from strobe.server.auth import address_of, identify
from strobe.server.endpoint import Call, endpoint
from strobe.server.live import EventStream, Interest
from strobe.server.problem import Problem
from strobe.server.routes.series import readable_runs

Text = Annotated[str, Meta(min_length=1, max_length=4000, pattern=r"^[^\x00]*\Z")]


class LiveQuery(msgspec.Struct, kw_only=True):
    """What is watched: some runs, or all of some projects."""

    #: paths: entity/project/run
    runs: Annotated[list[Text], Meta(max_length=500)] = []
    #: paths: entity/project
    project: Annotated[list[Text], Meta(max_length=50)] = []
    #: keys whose new points are sent
    keys: Annotated[list[Text], Meta(max_length=500)] = []


@endpoint("GET", "/api/v1/live", query=LiveQuery, produces="text/event-stream", access="read", tag="live")
async def watch_live(call: Call, query: LiveQuery) -> Response:
    """Send changes of runs as they happen, until one side ends it.

    Events: `hello` comes first. `run` has {run, version, state, changed_ns, started_ns, ended_ns, num_rows, is_deleted,
    stop_by}, and once it is added up what changed of {name, notes, tags, group, job_type} and in the `summary`, and
    which keys of that were `removed`. `series` has {run, key, version, steps, times_ns, values}; with `replaces_from`,
    points sent before from that step on no longer count; with `is_cut`, there are too many to send, and the series is
    to be asked for again. `reset` comes after a connection was lost for too long: {runs} changed meanwhile and are to
    be read again, null for everything. `end` has a {reason}: slow (too much was waiting; come back), stopping (the
    server), failed, or denied (a key has ended, or a project is no longer for the caller to see).

    Send the last id as `Last-Event-ID` to get what was missed. Points that come late, below steps that were sent, are
    not sent: a `version` that changed without points says that there may be some.
    """
    if not query.runs and not query.project:
        raise Problem(422, detail="say what to watch: runs=entity/project/run or project=entity/project")
    rows = await readable_runs(call, query.runs)
    interest = Interest(
        runs=frozenset(row.id for row in rows),
        projects=frozenset([await _readable_project(call, text) for text in query.project]),
        keys=frozenset(query.keys),
    )
    if call.request.method == "HEAD":
        return Response(media_type=EventStream.media_type)
    projects = {(row.entity, row.project) for row in rows} | {_parse(call, text) for text in query.project}

    async def is_allowed() -> bool:
        try:
            caller = await identify(call.request, call.services)
        except Problem:
            return False
        again = Call(call.request, call.services, caller, call.endpoint, call.place)
        return all([await again.may("read", *project) for project in projects])

    hub = call.services.live
    who = call.caller.key or ("" if call.caller.is_local else address_of(call.request))
    subscription = await hub.subscribe(interest, call.request.headers.get("last-event-id", ""), who)
    if subscription is None:
        raise Problem(503, detail="too many subscribers on this server; end some, or try again later", retry_after_s=10)
    return EventStream(hub, subscription, is_allowed=is_allowed)


def _parse(call: Call, text: str) -> tuple[str, str]:
    entity, slash, name = text.partition("/")
    if not (entity and slash and name) or "/" in name:
        raise UsageError(f"a project is named entity/project, got {text[:80]!r}")
    return call.entity(entity), name


async def _readable_project(call: Call, text: str) -> int:
    entity, name = _parse(call, text)
    await call.require("read", entity, name)
    found = await call.in_thread(call.services.store.projects.get, entity, name)
    if found is None:
        raise Problem(404, detail=f"there is no project {entity}/{name}")
    return int(found.id)


ENDPOINTS = [watch_live]
