"""The runs of a project: filtered, sorted, in pages; groups of them; the fields that they have."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from strobe.server.asked import Cursor, FieldName, ProjectPlace, RunsQuery, SortedRunsQuery
from strobe.server.endpoint import Call, endpoint
from strobe.server.fields import Limit
from strobe.store.values import FieldFacts, Item, Page
from strobe.store.values.field import NAMES, split_field
from strobe.store.values.grouping import Group, Groups
from strobe.store.values.measured import figures_asked

_PROJECT = "/api/v1/projects/{entity}/{project}"


class ListQuery(SortedRunsQuery, kw_only=True):
    """Which runs, in which order, and what of them."""

    cursor: Cursor = ""
    limit: Limit = 50
    #: whether to count the runs of all pages, which costs more the more there are
    count: bool = False
    #: fields; without them config and summary are sent whole
    columns: Annotated[list[FieldName], Meta(max_length=500)] = msgspec.field(default_factory=list)


class RunItem(msgspec.Struct, kw_only=True):
    """A run in a list."""

    entity: str
    project: str
    id: str
    name: str
    state: str
    created_ns: int
    started_ns: int | None
    ended_ns: int | None
    heartbeat_ns: int
    runtime_s: float | None
    version: int
    deleted_ns: int | None
    #: who wants it to stop
    stop_by: str | None
    num_rows: int
    #: the run that it was forked from, and the last step taken over
    parent: str | None
    fork_step: int | None
    #: the highest step
    last_step: int | None
    tags: list[Any]
    notes: str
    group: str | None
    job_type: str | None
    user: str
    host: str | None
    #: with `columns`: their values, null where the run has none
    values: dict[str, Any] | None = None
    #: without `columns`
    config: dict[str, Any] | None = None
    summary: dict[str, Any] | None = None


class RunList(msgspec.Struct, kw_only=True):
    """A page of runs."""

    items: list[RunItem]
    #: for the next page, with the same question; null after the last
    cursor: str | None
    #: of all pages, if it was asked for
    total: int | None = None
    #: runs that are over and have no place yet, because a figure such as min(loss) is asked for for the first time:
    #: ask again in a moment
    pending: int = 0


class GroupsQuery(RunsQuery, kw_only=True):
    """Which runs, grouped by what."""

    by: Annotated[list[FieldName], Meta(min_length=1, max_length=8)]
    #: fields whose mean, extremes and deviation are wanted
    metrics: Annotated[list[FieldName], Meta(max_length=50)] = msgspec.field(default_factory=list)
    cursor: Cursor = ""
    limit: Limit = 100


class GroupList(msgspec.Struct, kw_only=True):
    """Groups, the largest first. Their runs: the list of runs with `group` (the same fields) and `group_key`."""

    items: list[Group]
    cursor: str | None
    num_groups: int


class FieldsQuery(msgspec.Struct, kw_only=True):
    prefix: Annotated[str, Meta(max_length=4000)] = ""
    #: anywhere in the name, in upper or lower case
    contains: Annotated[str, Meta(max_length=4000)] = ""
    cursor: Annotated[str, Meta(max_length=4000)] = ""
    limit: Limit = 100


class FieldList(msgspec.Struct, kw_only=True):
    """Fields that runs of the project have, by name; those that every run has are in `own`."""

    items: list[FieldFacts]
    cursor: str | None
    own: list[str]


class TextsQuery(msgspec.Struct, kw_only=True):
    field: FieldName
    prefix: Annotated[str, Meta(max_length=400)] = ""
    limit: Limit = 20


class TextList(msgspec.Struct, kw_only=True):
    items: list[str]
    cursor: Literal[None] = None


@endpoint("GET", _PROJECT + "/runs", path=ProjectPlace, query=ListQuery, returns=RunList, access="read", tag="runs")
async def list_runs(call: Call, path: ProjectPlace, query: ListQuery) -> RunList:
    """List runs of a project: those that a filter means, in the order of any field.

    Runs that lack the field of the order come last, whichever way round. A cursor is good for the question that it was
    given for, and goes on behind the last run of its page whatever was added or removed meanwhile.
    """
    entity = call.entity(path.entity)
    await call.require("read", entity, path.project)
    for name in query.columns:
        split_field(name)
    now_ns, values = call.services.clock(), call.services.store.values

    def read() -> tuple[Page, list[Item], int]:
        question = query.question(query.sort)
        pending = call.services.store.settler.measure(entity, path.project, figures_asked(question, query.columns))
        page = values.page(
            entity,
            path.project,
            question,
            now_ns=now_ns,
            limit=query.limit,
            after=query.cursor or None,
            count=query.count,
        )
        return page, values.items(page.run_ids), pending

    page, items, pending = await call.in_thread(read)
    return RunList(
        items=[run_item(item, now_ns, query.columns or None) for item in items],
        cursor=page.cursor,
        total=page.total,
        pending=pending,
    )


@endpoint(
    "GET", _PROJECT + "/groups", path=ProjectPlace, query=GroupsQuery, returns=GroupList, access="read", tag="runs"
)
async def list_groups(call: Call, path: ProjectPlace, query: GroupsQuery) -> GroupList:
    """Group runs by the values of fields, with statistics of metrics."""
    entity = call.entity(path.entity)
    await call.require("read", entity, path.project)
    now_ns, store = call.services.clock(), call.services.store

    def read() -> Groups:
        question = query.question()
        store.settler.measure(entity, path.project, figures_asked(question, [*query.by, *query.metrics]))
        return store.values.groups(
            entity,
            path.project,
            question,
            by=query.by,
            metrics=query.metrics,
            now_ns=now_ns,
            limit=query.limit,
            after=query.cursor or None,
        )

    found = await call.in_thread(read)
    return GroupList(items=found.groups, cursor=found.cursor, num_groups=found.num_groups)


@endpoint(
    "GET", _PROJECT + "/fields", path=ProjectPlace, query=FieldsQuery, returns=FieldList, access="read", tag="runs"
)
async def list_fields(call: Call, path: ProjectPlace, query: FieldsQuery) -> FieldList:
    """List the fields of config, summary and attributes that runs have, with kinds, counts and ranges."""
    entity = call.entity(path.entity)
    await call.require("read", entity, path.project)
    found = await call.in_thread(
        call.services.store.values.fields,
        entity,
        path.project,
        prefix=query.prefix,
        contains=query.contains,
        limit=query.limit,
        after=query.cursor,
    )
    own = [name for name in NAMES if name.startswith(query.prefix) and query.contains.lower() in name]
    return FieldList(items=found, cursor=found[-1].name if len(found) == query.limit else None, own=own)


@endpoint(
    "GET", _PROJECT + "/fields/texts", path=ProjectPlace, query=TextsQuery, returns=TextList, access="read", tag="runs"
)
async def list_texts(call: Call, path: ProjectPlace, query: TextsQuery) -> TextList:
    """List different texts that runs have at a field, those that begin with a prefix: what a filter is completed to."""
    entity = call.entity(path.entity)
    await call.require("read", entity, path.project)
    texts = call.services.store.values.texts
    found = await call.in_thread(texts, entity, path.project, query.field, prefix=query.prefix, limit=query.limit)
    return TextList(items=found)


def run_item(item: Item, now_ns: int, columns: list[str] | None) -> RunItem:
    """Return a run as a list shows it."""
    known = item.document
    return RunItem(
        entity=item.entity,
        project=item.project,
        id=item.id,
        name=str(known["display_name"]),
        state=item.state,
        created_ns=item.created_ns,
        started_ns=item.started_ns or None,
        ended_ns=item.ended_ns,
        heartbeat_ns=item.heartbeat_ns,
        runtime_s=item.runtime_s(now_ns),
        version=item.version,
        deleted_ns=item.deleted_ns,
        stop_by=item.stop_by,
        num_rows=item.num_rows,
        parent=item.parent,
        fork_step=item.fork_step,
        last_step=known.get("last_step"),
        tags=known["tags"],
        notes=str(known["notes"]),
        group=_text(known.get("group")),
        job_type=_text(known.get("job_type")),
        user=str(known["username"]),
        host=_text(known.get("host")),
        values=None if columns is None else {name: item.field(name, now_ns) for name in columns},
        config=known["config"] if columns is None else None,
        summary=known["summary"] if columns is None else None,
    )


def _text(found: Any) -> str | None:
    return None if found is None else str(found)


ENDPOINTS = [list_runs, list_groups, list_fields, list_texts]
