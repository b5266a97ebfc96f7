"""Links that carry the permission in themselves: for downloads and charts in a browser, and uploads without a key.

A link is good for one method on one thing until it ends. It is made by somebody who may do that, and signed with the
secret that all servers of the store share; a key that is revoked later does not end it, so links are short-lived.
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from starlette.responses import Response

from strobe.home import RunPath
from strobe.server.endpoint import Call, endpoint
from strobe.server.fields import Count, FilePath, Name, Token
from strobe.server.problem import Problem
from strobe.server.routes import artifact_drafts, artifacts, chart, files, uploads
from strobe.server.routes.chart import ChartQuery
from strobe.server.routes.files import GetQuery, PutQuery
from strobe.server.routes.series import readable_runs
from strobe.server.signing import MAX_TOKEN

_PURPOSE = "link"
_LINK = "/api/v1/links/{token}"
_DAY_S = 24 * 3600


class RunFileGoal(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="file", forbid_unknown_fields=True):
    """A file of a run."""

    entity: Name
    project: Name
    run: Name
    path: FilePath


class EntryGoal(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="entry", forbid_unknown_fields=True):
    """An entry of a version, for GET."""

    version: Token
    path: FilePath


class DraftGoal(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="draft", forbid_unknown_fields=True):
    """An entry of a draft, for PUT."""

    draft: Token
    path: FilePath


class PartGoal(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="part", forbid_unknown_fields=True):
    """A part of an upload, for PUT."""

    upload: Token
    number: Count


class ChartGoal(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="chart", forbid_unknown_fields=True):
    """A chart, for GET: what `/chart.svg` would draw."""

    chart: ChartQuery


Goal = RunFileGoal | EntryGoal | DraftGoal | PartGoal | ChartGoal
#: goals by the method that they are for
_GOALS: dict[str, tuple[type, ...]] = {
    "GET": (RunFileGoal, EntryGoal, ChartGoal),
    "PUT": (RunFileGoal, DraftGoal, PartGoal),
}


class NewLink(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """A link that is wanted."""

    method: Literal["GET", "PUT"]
    goal: Goal
    expires_s: Annotated[int, msgspec.Meta(ge=1, le=7 * _DAY_S)] = 3600


class Link(msgspec.Struct, kw_only=True):
    """Where to send the request, without a key."""

    method: str
    #: a path on this server
    url: str
    expires_ns: int


class LinkPlace(msgspec.Struct, kw_only=True):
    """A link."""

    token: Annotated[str, msgspec.Meta(max_length=MAX_TOKEN)]


class _Permit(msgspec.Struct, frozen=True):
    method: str
    goal: Goal


@endpoint("POST", "/api/v1/links", body=NewLink, returns=Link, access="read", tag="files")
async def create_link(call: Call, body: NewLink) -> Link:
    """Make a link for one method on one thing.

    GET a `file`, an `entry` or a `chart`; PUT a `file`, a `draft`'s entry or a `part`.

    The caller must be able to do the same with its key. The link ends with the key at the latest.
    """
    if not isinstance(body.goal, _GOALS[body.method]):
        raise Problem(422, detail=f"there are no links to {body.method} that; see the kinds of goals for each method")
    goal = await _permitted(call, body.method, body.goal)
    expires_ns = call.services.clock() + body.expires_s * 10**9
    if call.caller.expires_ns is not None:
        expires_ns = min(expires_ns, call.caller.expires_ns)
    text = msgspec.json.encode(_Permit(body.method, goal)).decode()
    token = call.services.signer.sign(_PURPOSE, text, expires_ns=expires_ns)
    if len(token) > MAX_TOKEN:
        raise Problem(
            422, detail=f"the link would be {len(token)} characters long, {MAX_TOKEN} are possible; name fewer runs"
        )
    return Link(method=body.method, url=_LINK.format(token=token), expires_ns=expires_ns)


@endpoint("GET", _LINK, path=LinkPlace, query=GetQuery, produces="application/octet-stream", access="open", tag="files")
async def get_link(call: Call, path: LinkPlace, query: GetQuery) -> Response:
    """Get what a link is for; as it is got with a key, ranges included."""
    goal = _read(call, path.token, "GET")
    store = call.services.store
    if isinstance(goal, RunFileGoal):
        run = await call.in_thread(store.runs.find, RunPath(goal.entity, goal.project, goal.run))
        return await files.get_content(call, run.id, goal.path, is_download=query.download)
    if isinstance(goal, ChartGoal):
        paths = [RunPath.parse(text) for text in goal.chart.run]
        return await chart.answer(call, goal.chart, await call.in_thread(store.runs.find_all, paths), is_open=True)
    assert isinstance(goal, EntryGoal)
    version = await call.in_thread(store.artifacts.versions.by_id, goal.version)
    if version.deleted_ns is not None:
        raise Problem(404, detail="the artifact version was deleted")
    return await artifacts.get_content(call, version, goal.path, is_download=query.download)


@endpoint(
    "PUT",
    _LINK,
    path=LinkPlace,
    query=PutQuery,
    consumes="application/octet-stream",
    access="open",
    tag="files",
    status=204,
    max_bytes=lambda limits: limits.part_bytes,
)
async def put_link(call: Call, path: LinkPlace, query: PutQuery) -> None:
    """Put what a link is for; as it is put with a key."""
    goal = _read(call, path.token, "PUT")
    store = call.services.store
    if isinstance(goal, RunFileGoal):
        run = await call.in_thread(store.runs.find, RunPath(goal.entity, goal.project, goal.run))
        await call.in_thread(store.quotas.check, run.entity, run.project)
        await files.put_content(call, run.id, goal.path, query)
    elif isinstance(goal, DraftGoal):
        await artifact_drafts.put_content(call, goal.draft, goal.path)
    else:
        assert isinstance(goal, PartGoal)
        upload = await call.in_thread(store.uploads.get, goal.upload)
        await uploads.put_content(call, upload, goal.number)


async def _permitted(call: Call, method: str, goal: Goal) -> Goal:
    """Return the goal in full, if the caller may do that with it."""
    level: Literal["read", "write"] = "read" if method == "GET" else "write"
    store = call.services.store
    if level == "write":
        call.refuse_at_home("files")
    if isinstance(goal, RunFileGoal):
        goal = msgspec.structs.replace(goal, entity=call.entity(goal.entity))
        await call.require(level, goal.entity, goal.project)
        await call.in_thread(store.runs.find, RunPath(goal.entity, goal.project, goal.run))
    elif isinstance(goal, EntryGoal):
        await artifacts.by_id(call, goal.version, level)
    elif isinstance(goal, ChartGoal):
        chart.check(goal.chart)
        rows = await readable_runs(call, goal.chart.run)
        goal = ChartGoal(chart=msgspec.structs.replace(goal.chart, run=[str(row.path) for row in rows]))
    elif isinstance(goal, DraftGoal):
        await artifact_drafts.find_draft(call, goal.draft)
    else:
        await uploads.find_upload(call, goal.upload)
    return goal


def _read(call: Call, token: str, method: str) -> Goal:
    text = call.services.signer.read(_PURPOSE, token, now_ns=call.services.clock())
    if text is None:
        raise Problem(403, detail="the link is not valid, or has ended; ask for a new one")
    permit = msgspec.json.decode(text, type=_Permit)
    if permit.method != method:
        raise Problem(403, detail=f"the link is for {permit.method}, not for {method}")
    return permit.goal


ENDPOINTS = [create_link, get_link, put_link]
