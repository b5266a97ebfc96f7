"""Projects: list with figures, get, make, change."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, UnsetType

from strobe.server.asked import ProjectPlace
from strobe.server.endpoint import Call, endpoint
from strobe.server.fields import Limit, Name, Text
from strobe.server.problem import Problem
from strobe.store.overview import Overview, Overviews
from strobe.store.projects import Access

_PROJECTS = "/api/v1/projects"
_PROJECT = _PROJECTS + "/{entity}/{project}"
Bytes = Annotated[int, msgspec.Meta(ge=0, le=2**62)]
Days = Annotated[int, Meta(ge=1, le=36_500)]


class ProjectsQuery(msgspec.Struct, kw_only=True):
    """Which projects are listed."""

    entity: Name | None = None
    #: from the answer before
    cursor: Annotated[str, Meta(max_length=300, pattern=r"^[^\x00]*\Z")] = ""
    limit: Limit = 100


class ProjectList(msgspec.Struct, kw_only=True):
    """Some projects, by name."""

    items: list[Overview]
    cursor: str | None


class NewProject(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    entity: Name
    name: Name
    access: Access = "team"
    description: Text = ""
    retention_days: Days | None = None


class ProjectChange(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """What is left out stays as it is."""

    access: Access | UnsetType = UNSET
    description: Text | UnsetType = UNSET
    #: runs that ended longer ago are deleted; null keeps them
    retention_days: Days | UnsetType | None = UNSET
    #: how much the project may keep; null for as much as there is room for
    quota_bytes: Bytes | UnsetType | None = UNSET


@endpoint("GET", _PROJECTS, query=ProjectsQuery, returns=ProjectList, access="read", tag="projects")
async def list_projects(call: Call, query: ProjectsQuery) -> ProjectList:
    """List the projects that the caller may see, with how many runs they have and when something last happened."""
    visible = await call.visible()
    after_entity, _, after_name = query.cursor.partition("/")
    found = await call.in_thread(
        Overviews(call.services.store.database).page,
        entities=None if visible.is_all else visible.entities,
        accesses=visible.accesses,
        entity=None if query.entity is None else call.entity(query.entity),
        after=(after_entity, after_name),
        limit=query.limit + 1,
        now_ns=call.services.clock(),
    )
    shown = found[: query.limit]
    last = f"{shown[-1].entity}/{shown[-1].name}" if len(found) > len(shown) else None
    return ProjectList(items=shown, cursor=last)


@endpoint("GET", _PROJECT, path=ProjectPlace, returns=Overview, access="read", tag="projects")
async def get_project(call: Call, path: ProjectPlace) -> Overview:
    """Return a project."""
    entity = call.entity(path.entity)
    await call.require("read", entity, path.project)
    return await _overview(call, entity, path.project)


@endpoint("POST", _PROJECTS, body=NewProject, returns=Overview, access="write", tag="projects", status=201)
async def create_project(call: Call, body: NewProject) -> Overview:
    """Make a project. Runs make theirs by themselves; this is for one that should be private from the beginning."""
    entity = call.entity(body.entity)
    await call.require("write", entity, body.name)
    store = call.services.store
    if await call.in_thread(store.projects.get, entity, body.name) is not None:
        raise Problem(409, detail=f"there is a project {entity}/{body.name} already; change it, or choose another name")
    await call.in_thread(store.projects.ensure, entity, body.name, now_ns=call.services.clock(), access=body.access)
    changes = {"description": body.description, "retention_days": body.retention_days}
    await call.in_thread(store.projects.change, entity, body.name, **changes)
    return await _overview(call, entity, body.name)


@endpoint("PATCH", _PROJECT, path=ProjectPlace, body=ProjectChange, returns=Overview, access="write", tag="projects")
async def change_project(call: Call, path: ProjectPlace, body: ProjectChange) -> Overview:
    """Change a project's description, or, as its administrator, who may see it and how much is kept for how long."""
    entity = call.entity(path.entity)
    changes: dict[str, Any] = {
        name: found
        for name in ("access", "description", "retention_days", "quota_bytes")
        if (found := getattr(body, name)) is not UNSET
    }
    await call.require("write" if changes.keys() <= {"description"} else "admin", entity, path.project)
    await call.in_thread(call.services.store.projects.change, entity, path.project, **changes)
    return await _overview(call, entity, path.project)


async def _overview(call: Call, entity: str, project: str) -> Overview:
    now_ns = call.services.clock()
    found = await call.in_thread(Overviews(call.services.store.database).get, entity, project, now_ns=now_ns)
    if found is None:
        raise Problem(404, detail=f"there is no project {entity}/{project}")
    return found


ENDPOINTS = [list_projects, get_project, create_project, change_project]
