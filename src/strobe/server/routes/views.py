"""Saved views of a project: how its runs are shown, for everybody who may see it."""

from __future__ import annotations

from typing import Any

import msgspec

from strobe.server.asked import ProjectPlace
from strobe.server.endpoint import Call, endpoint
from strobe.server.fields import Count, Name
from strobe.store.views import View

_VIEWS = "/api/v1/projects/{entity}/{project}/views"


class ViewPlace(ProjectPlace, kw_only=True):
    view: Name


class NewView(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    name: Name
    document: dict[str, Any]


class ViewChange(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """A change of the version that was seen; it is refused (409) if somebody else was quicker."""

    version: Count
    name: Name | None = None
    document: dict[str, Any] | None = None


class DeleteQuery(msgspec.Struct, kw_only=True):
    #: only if it is still this version
    version: Count | None = None


class ViewList(msgspec.Struct, kw_only=True):
    """All views of a project, by name."""

    items: list[View]
    cursor: str | None = None


@endpoint("GET", _VIEWS, path=ProjectPlace, returns=ViewList, access="read", tag="views")
async def list_views(call: Call, path: ProjectPlace) -> ViewList:
    """List the saved views of a project."""
    entity = await _allowed(call, path, "read")
    return ViewList(items=await call.in_thread(call.services.store.views.all, entity, path.project))


@endpoint("GET", _VIEWS + "/{view}", path=ViewPlace, returns=View, access="read", tag="views")
async def get_view(call: Call, path: ViewPlace) -> View:
    """Return a saved view."""
    entity = await _allowed(call, path, "read")
    return await call.in_thread(call.services.store.views.get, entity, path.project, path.view)


@endpoint("POST", _VIEWS, path=ProjectPlace, body=NewView, returns=View, access="write", tag="views", status=201)
async def create_view(call: Call, path: ProjectPlace, body: NewView) -> View:
    """Save a view under a name that is still free."""
    entity = await _allowed(call, path, "write")
    return await call.in_thread(
        call.services.store.views.create,
        entity,
        path.project,
        body.name,
        body.document,
        owner=_who(call),
        now_ns=call.services.clock(),
    )


@endpoint("PUT", _VIEWS + "/{view}", path=ViewPlace, body=ViewChange, returns=View, access="write", tag="views")
async def change_view(call: Call, path: ViewPlace, body: ViewChange) -> View:
    """Change a saved view, or its name."""
    entity = await _allowed(call, path, "write")
    return await call.in_thread(
        call.services.store.views.change,
        entity,
        path.project,
        path.view,
        version=body.version,
        by=_who(call),
        now_ns=call.services.clock(),
        document=body.document,
        rename=body.name,
    )


@endpoint("DELETE", _VIEWS + "/{view}", path=ViewPlace, query=DeleteQuery, access="write", tag="views", status=204)
async def delete_view(call: Call, path: ViewPlace, query: DeleteQuery) -> None:
    """Delete a saved view."""
    entity = await _allowed(call, path, "write")
    await call.in_thread(call.services.store.views.delete, entity, path.project, path.view, version=query.version)


async def _allowed(call: Call, place: ProjectPlace, level: str) -> str:
    entity = call.entity(place.entity)
    await call.require("write" if level == "write" else "read", entity, place.project)
    return entity


def _who(call: Call) -> str:
    return call.caller.user or call.caller.entity or "somebody"


ENDPOINTS = [list_views, get_view, create_view, change_view, delete_view]
