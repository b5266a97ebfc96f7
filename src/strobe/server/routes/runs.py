"""One run: its document, edits, deletion with undo, and the wish that it should stop."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, UnsetType
from starlette.responses import Response

from strobe.home import RunPath
from strobe.journal import event as ev
from strobe.journal.attempt import Attempt
from strobe.server.endpoint import Call, endpoint, weak_etag
from strobe.server.fields import Text
from strobe.server.routes.files import RunPlace
from strobe.store.runs import RunView
from strobe.store.values import document

_RUN = "/api/v1/runs/{entity}/{project}/{run}"
Label = Annotated[str, Meta(max_length=1000, pattern=r"^[^\x00]*\Z")]
Keys = Annotated[list[str], Meta(max_length=10_000)]


class RunQuery(msgspec.Struct, kw_only=True):
    #: whether to find it among deleted ones too
    deleted: bool = False


class AttemptFacts(msgspec.Struct, kw_only=True):
    """One start of the run."""

    number: int
    state: str
    started_ns: int | None
    ended_ns: int | None
    host: str
    #: the step that it was rewound to
    from_step: int | None
    #: the names of the processes that wrote in it
    writers: list[str]
    #: rows that could not be recorded
    rejected: int
    exit_code: int | None
    error: str | None
    #: Strobe's own part of its time
    share: float | None


class RunDocument(msgspec.Struct, kw_only=True):
    """Everything about a run but its rows, files and console."""

    entity: str
    project: str
    id: str
    name: str
    state: str
    created_ns: int
    started_ns: int | None
    ended_ns: int | None
    heartbeat_ns: int
    changed_ns: int
    version: int
    deleted_ns: int | None
    stop_by: str | None
    num_rows: int
    tags: list[Any]
    notes: str
    group: str | None
    job_type: str | None
    user: str
    host: str | None
    config: dict[str, Any]
    summary: dict[str, Any]
    #: where and how it ran
    metadata: dict[str, Any]
    attempts: list[AttemptFacts]
    #: the keys that it logged
    keys: list[str]
    #: the highest step
    last_step: int | None
    #: what `define_metric` said, by name or pattern
    metrics: dict[str, dict[str, Any]]
    #: what it was forked from, and the last step taken over
    parent: str | None
    fork_step: int | None


class Edit(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """What is left out stays as it is."""

    name: Label | UnsetType = UNSET
    notes: Text | UnsetType = UNSET
    tags: Annotated[list[Label], Meta(max_length=1000)] | UnsetType = UNSET
    group: Label | UnsetType | None = UNSET
    job_type: Label | UnsetType | None = UNSET
    #: keys to be set, whole, and keys to be removed
    config: dict[str, Any] = {}
    config_removed: Keys = []
    summary: dict[str, Any] = {}
    summary_removed: Keys = []


@endpoint("GET", _RUN, path=RunPlace, query=RunQuery, returns=RunDocument, access="read", tag="runs")
async def get_run(call: Call, path: RunPlace, query: RunQuery) -> RunDocument | Response:
    """Return a run as it is now."""
    found = await _allowed(call, path, "read")
    runs = call.services.store.runs
    row = await call.in_thread(runs.find, found, with_deleted=query.deleted)
    if unchanged := call.unchanged(weak_etag(row.id, row.version)):
        return unchanged
    return _document(await call.in_thread(runs.get, found, with_deleted=query.deleted))


@endpoint("PATCH", _RUN, path=RunPlace, body=Edit, returns=RunDocument, access="write", tag="runs")
async def edit_run(call: Call, path: RunPlace, body: Edit) -> RunDocument:
    """Change a run's name, notes, tags, group, job type, config or summary.

    Edits are events like those of the run itself; the latest one counts, also while the run is going.
    """
    found = await _allowed(call, path, "write")
    now_ns = call.services.clock()
    events = _events(body, now_ns)
    store = call.services.store
    await call.in_thread(store.runs.find, found)
    if events:
        await call.in_thread(store.edits.write, found, events, now_ns=now_ns)
    return _document(await call.in_thread(store.runs.get, found))


@endpoint("DELETE", _RUN, path=RunPlace, access="write", tag="runs", status=204)
async def delete_run(call: Call, path: RunPlace) -> None:
    """Delete a run. It is hidden at once, and can be restored until it is purged."""
    found = await _allowed(call, path, "write")
    await call.in_thread(call.services.store.runs.find, found)
    await call.in_thread(call.services.store.runs.delete, found, now_ns=call.services.clock())


@endpoint("POST", _RUN + "/restore", path=RunPlace, returns=RunDocument, access="write", tag="runs")
async def restore_run(call: Call, path: RunPlace) -> RunDocument:
    """Bring a deleted run back."""
    found = await _allowed(call, path, "write")
    await call.in_thread(call.services.store.runs.undelete, found, now_ns=call.services.clock())
    return _document(await call.in_thread(call.services.store.runs.get, found))


@endpoint("POST", _RUN + "/stop", path=RunPlace, returns=RunDocument, access="write", tag="runs")
async def stop_run(call: Call, path: RunPlace) -> RunDocument:
    """Ask a run to stop. Its process hears of it with its next sign of life, within seconds."""
    found = await _allowed(call, path, "write")
    by = call.caller.user or call.caller.entity or "somebody"
    await call.in_thread(call.services.store.runs.request_stop, found, by=by, now_ns=call.services.clock())
    return _document(await call.in_thread(call.services.store.runs.get, found))


async def _allowed(call: Call, place: RunPlace, level: str) -> RunPath:
    entity = call.entity(place.entity)
    await call.require("write" if level == "write" else "read", entity, place.project)
    return RunPath(entity, place.project, place.run)


def _events(edit: Edit, now_ns: int) -> list[ev.Event]:
    events: list[ev.Event] = []
    attributes = {
        name: found
        for name in ("name", "notes", "tags", "group", "job_type")
        if (found := getattr(edit, name)) is not UNSET
    }
    if attributes:
        events.append(ev.Attributes(time_ns=now_ns, changes=attributes))
    if edit.config or edit.config_removed:
        events.append(ev.Config(time_ns=now_ns, changes=edit.config, removed=edit.config_removed))
    if edit.summary or edit.summary_removed:
        events.append(ev.Summary(time_ns=now_ns, changes=edit.summary, removed=edit.summary_removed))
    return events


def _document(view: RunView) -> RunDocument:
    row = view.row
    known = document(
        run=row.name, entity=row.entity, attributes=view.attributes, config=view.config, summary=view.summary
    )
    return RunDocument(
        entity=row.entity,
        project=row.project,
        id=row.name,
        name=str(known["display_name"]),
        state=row.state,
        created_ns=row.created_ns,
        started_ns=row.started_ns or None,
        ended_ns=row.ended_ns,
        heartbeat_ns=row.heartbeat_ns,
        changed_ns=row.changed_ns,
        version=row.version,
        deleted_ns=row.deleted_ns,
        stop_by=row.stop_by,
        num_rows=row.num_rows,
        tags=known["tags"],
        notes=str(known["notes"]),
        group=known.get("group"),
        job_type=known.get("job_type"),
        user=str(known["username"]),
        host=known.get("host"),
        config=view.config,
        summary=view.summary,
        metadata=known["metadata"],
        attempts=[_attempt(attempt) for attempt in view.attempts],
        keys=view.keys,
        last_step=view.last_step,
        metrics={name: view.facts.definition(name) for name in view.facts.metrics},
        parent=view.facts.parent,
        fork_step=view.facts.fork_step,
    )


def _attempt(attempt: Attempt) -> AttemptFacts:
    primary, end = attempt.primary, attempt.end
    return AttemptFacts(
        number=attempt.number,
        state=attempt.state,
        started_ns=attempt.started_ns,
        ended_ns=attempt.ended_ns,
        host=primary.header.host if primary else "",
        from_step=attempt.from_step,
        writers=sorted(attempt.writers),
        rejected=attempt.rejected,
        exit_code=end.exit_code if end else None,
        error=end.error if end else None,
        share=end.share if end else None,
    )


ENDPOINTS = [get_run, edit_run, delete_run, restore_run, stop_run]
