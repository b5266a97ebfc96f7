"""Usage: how much the projects keep, and, for admins, how large the store is."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from strobe.server.endpoint import Call, endpoint
from strobe.server.fields import Limit
from strobe.store.overview import Overview, Overviews
from strobe.store.size import blob_bytes, database_bytes


class UsageQuery(msgspec.Struct, kw_only=True):
    #: from the answer before
    cursor: Annotated[str, Meta(max_length=300, pattern=r"^[^\x00]*\Z")] = ""
    limit: Limit = 100


class ProjectUsage(msgspec.Struct, kw_only=True):
    """What one project keeps: what its runs logged, their files, its artifacts; each content once."""

    entity: str
    name: str
    num_runs: int
    used_bytes: int
    quota_bytes: int | None


class Usage(msgspec.Struct, kw_only=True):
    """Projects by name, and the store as a whole."""

    items: list[ProjectUsage]
    cursor: str | None
    #: for admins: the database, and the files beside it
    database_bytes: int | None = None
    blob_bytes: int | None = None


@endpoint("GET", "/api/v1/usage", access="account", tag="projects", query=UsageQuery, returns=Usage)
async def list_usage(call: Call, query: UsageQuery) -> Usage:
    """Say how much the projects that the caller may see keep; to admins, also how large the store is."""
    visible, store = await call.visible(), call.services.store
    after_entity, _, after_name = query.cursor.partition("/")

    def read() -> Usage:
        found = Overviews(store.database).page(
            entities=None if visible.is_all else visible.entities,
            accesses=visible.accesses,
            after=(after_entity, after_name),
            limit=query.limit + 1,
            now_ns=call.services.clock(),
        )
        shown = found[: query.limit]
        last = f"{shown[-1].entity}/{shown[-1].name}" if len(found) > len(shown) else None
        usage = Usage(items=[_usage(call, one) for one in shown], cursor=last)
        if visible.is_all:
            usage.database_bytes, usage.blob_bytes = database_bytes(store.database), blob_bytes(store.database)
        return usage

    return await call.in_thread(read)


def _usage(call: Call, one: Overview) -> ProjectUsage:
    store = call.services.store
    project = store.projects.get(one.entity, one.name)
    return ProjectUsage(
        entity=one.entity,
        name=one.name,
        num_runs=one.num_runs,
        used_bytes=0 if project is None else store.quotas.used_bytes(project.id),  # deleted meanwhile
        quota_bytes=one.quota_bytes,
    )


ENDPOINTS = [list_usage]
