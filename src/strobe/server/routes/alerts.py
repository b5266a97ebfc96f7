"""Alerts of projects and runs, the rules that raise them, and the sinks that they are sent to."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from strobe.server.alerts.address import parse_url
from strobe.server.alerts.mail import check_address
from strobe.server.asked import ProjectPlace
from strobe.server.caller import Scope
from strobe.server.endpoint import Call, endpoint
from strobe.server.fields import Count, Limit, Name
from strobe.server.problem import Problem
from strobe.server.routes.series import RunOf, readable_run
from strobe.store.alerts import AlertPage, Condition, Delivery, Level, LoggedAlert, Rule, Sink
from strobe.store.alerts.sinks import Format, Kind

_PROJECT = "/api/v1/projects/{entity}/{project}"
_RULES = _PROJECT + "/alert-rules"
_SINKS = _PROJECT + "/alert-sinks"
MAX_ADDRESSES = 20

Addresses = Annotated[
    list[Annotated[str, Meta(min_length=1, max_length=2000)]], Meta(min_length=1, max_length=MAX_ADDRESSES)
]
SinkIds = Annotated[list[Count], Meta(max_length=100)]


class RulePlace(ProjectPlace, kw_only=True):
    rule: Count


class SinkPlace(ProjectPlace, kw_only=True):
    sink: Count


class AlertsQuery(msgspec.Struct, kw_only=True):
    #: from the answer before
    cursor: Count | None = None
    limit: Limit = 100


class AlertList(msgspec.Struct, kw_only=True):
    """Alerts, the latest first."""

    items: list[LoggedAlert]
    cursor: str | None


class NewRule(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    name: Name
    condition: Condition
    level: Level = "WARN"
    #: ids of sinks; none for all of the project
    sinks: SinkIds = []
    is_enabled: bool = True


class RuleChange(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """What is left out stays as it is."""

    name: Name | None = None
    condition: Condition | None = None
    level: Level | None = None
    sinks: SinkIds | None = None
    is_enabled: bool | None = None


class RuleList(msgspec.Struct, kw_only=True):
    items: list[Rule]
    cursor: str | None = None


class NewSink(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    name: Name
    kind: Kind
    #: one URL of a webhook, or e-mail addresses
    addresses: Addresses
    #: what a webhook's body looks like
    format: Format = "strobe"
    #: alerts below this level are not sent there
    min_level: Level = "INFO"
    is_enabled: bool = True


class SinkChange(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """What is left out stays as it is."""

    name: Name | None = None
    addresses: Addresses | None = None
    format: Format | None = None
    min_level: Level | None = None
    is_enabled: bool | None = None


class SinkList(msgspec.Struct, kw_only=True):
    items: list[Sink]
    cursor: str | None = None


class Tried(msgspec.Struct, kw_only=True):
    """Whether a test arrived, and if not, why."""

    is_delivered: bool
    error: str


# --- alerts


@endpoint(
    "GET", _PROJECT + "/alerts", path=ProjectPlace, query=AlertsQuery, returns=AlertList, access="read", tag="alerts"
)
async def list_alerts(call: Call, path: ProjectPlace, query: AlertsQuery) -> AlertList:
    """List the alerts of a project, the latest first, with what became of their delivery.

    Why one failed is told to who may write, like the sink's address, which it may hold.
    """
    project_id = await _project(call, path, "read")
    alerts = call.services.store.alerts
    found = await call.in_thread(alerts.of_project, project_id, before=query.cursor, limit=query.limit)
    return await _list(call, path, found)


@endpoint(
    "GET",
    "/api/v1/runs/{entity}/{project}/{run}/alerts",
    path=RunOf,
    query=AlertsQuery,
    returns=AlertList,
    access="read",
    tag="alerts",
)
async def list_run_alerts(call: Call, path: RunOf, query: AlertsQuery) -> AlertList:
    """List the alerts of a run, the latest first."""
    row = await readable_run(call, path)
    alerts = call.services.store.alerts
    return await _list(call, path, await call.in_thread(alerts.of_run, row.id, before=query.cursor, limit=query.limit))


# --- rules


@endpoint("GET", _RULES, path=ProjectPlace, returns=RuleList, access="read", tag="alerts")
async def list_alert_rules(call: Call, path: ProjectPlace) -> RuleList:
    """List the alert rules of a project."""
    project_id = await _project(call, path, "read")
    return RuleList(items=await call.in_thread(call.services.store.alerts.rules.of_project, project_id))


@endpoint("POST", _RULES, path=ProjectPlace, body=NewRule, returns=Rule, access="write", tag="alerts", status=201)
async def create_alert_rule(call: Call, path: ProjectPlace, body: NewRule) -> Rule:
    """Make an alert rule; it looks at what comes in from now on."""
    project_id = await _project(call, path, "write")
    return await call.in_thread(
        call.services.store.alerts.rules.add,
        project_id,
        body.name,
        body.condition,
        level=body.level,
        sinks=body.sinks,
        is_enabled=body.is_enabled,
        by=_who(call),
    )


@endpoint("GET", _RULES + "/{rule}", path=RulePlace, returns=Rule, access="read", tag="alerts")
async def get_alert_rule(call: Call, path: RulePlace) -> Rule:
    """Return an alert rule."""
    project_id = await _project(call, path, "read")
    return await call.in_thread(call.services.store.alerts.rules.get, project_id, path.rule)


@endpoint("PATCH", _RULES + "/{rule}", path=RulePlace, body=RuleChange, returns=Rule, access="write", tag="alerts")
async def change_alert_rule(call: Call, path: RulePlace, body: RuleChange) -> Rule:
    """Change an alert rule; with another condition it starts over."""
    project_id = await _project(call, path, "write")
    changes = {name: getattr(body, name) for name in body.__struct_fields__}
    return await call.in_thread(call.services.store.alerts.rules.change, project_id, path.rule, **changes)


@endpoint("DELETE", _RULES + "/{rule}", path=RulePlace, access="write", tag="alerts", status=204)
async def delete_alert_rule(call: Call, path: RulePlace) -> None:
    """Remove an alert rule; alerts that it raised stay."""
    project_id = await _project(call, path, "write")
    await call.in_thread(call.services.store.alerts.rules.remove, project_id, path.rule)


# --- sinks: their addresses may hold tokens, so they are for those who may write


@endpoint("GET", _SINKS, path=ProjectPlace, returns=SinkList, access="write", tag="alerts")
async def list_alert_sinks(call: Call, path: ProjectPlace) -> SinkList:
    """List where the alerts of a project go; secrets of webhooks are left out."""
    project_id = await _project(call, path, "write")
    found = await call.in_thread(call.services.store.alerts.sinks.of_project, project_id)
    return SinkList(items=[_without_secret(sink) for sink in found])


@endpoint("POST", _SINKS, path=ProjectPlace, body=NewSink, returns=Sink, access="write", tag="alerts", status=201)
async def create_alert_sink(call: Call, path: ProjectPlace, body: NewSink) -> Sink:
    """Make a sink. The answer has the secret by which a webhook tells that a request is ours; it is not shown again."""
    project_id = await _project(call, path, "write")
    _check_addresses(body.kind, body.addresses)
    return await call.in_thread(
        call.services.store.alerts.sinks.add,
        project_id,
        body.name,
        body.kind,
        body.addresses,
        format=body.format,
        min_level=body.min_level,
        is_enabled=body.is_enabled,
        by=_who(call),
    )


@endpoint("PATCH", _SINKS + "/{sink}", path=SinkPlace, body=SinkChange, returns=Sink, access="write", tag="alerts")
async def change_alert_sink(call: Call, path: SinkPlace, body: SinkChange) -> Sink:
    """Change a sink; its secret stays the same."""
    project_id = await _project(call, path, "write")
    sinks = call.services.store.alerts.sinks
    if body.addresses is not None:
        known = await call.in_thread(sinks.get, project_id, path.sink)
        _check_addresses(known.kind, body.addresses)
    changes = {name: getattr(body, name) for name in body.__struct_fields__}
    return _without_secret(await call.in_thread(sinks.change, project_id, path.sink, **changes))


@endpoint("DELETE", _SINKS + "/{sink}", path=SinkPlace, access="write", tag="alerts", status=204)
async def delete_alert_sink(call: Call, path: SinkPlace) -> None:
    """Remove a sink, and what was still to be delivered there."""
    project_id = await _project(call, path, "write")
    await call.in_thread(call.services.store.alerts.sinks.remove, project_id, path.sink)


@endpoint("POST", _SINKS + "/{sink}/test", path=SinkPlace, returns=Tried, access="write", tag="alerts")
async def test_alert_sink(call: Call, path: SinkPlace) -> Tried:
    """Send a test to a sink, and say what went wrong if it did not arrive."""
    project_id = await _project(call, path, "write")
    sink = await call.in_thread(call.services.store.alerts.sinks.get, project_id, path.sink)
    now_ns = call.services.clock()
    test = Delivery(
        alert_id=0, sink=sink, tries=1, entity=call.entity(path.entity), project=path.project, run="test", kind="test",
        rule_id=None, level="INFO", title="A test of this sink", text=f"Sent by {_who(call)}.",
        time_ns=now_ns, raised_ns=now_ns,
    )  # fmt: skip
    with call.services.trying.enter():  # each may take a worker thread for as long as the other side likes
        error = await call.in_thread(call.services.courier.try_once, test)
    return Tried(is_delivered=not error, error=error)


async def _project(call: Call, place: ProjectPlace, level: Scope) -> int:
    """Return the id of the project, if the caller may."""
    entity = call.entity(place.entity)
    await call.require(level, entity, place.project)
    found = await call.in_thread(call.services.store.projects.get, entity, place.project)
    if found is None:
        raise Problem(404, detail=f"there is no project {entity}/{place.project}")
    return int(found.id)


def _check_addresses(kind: Kind, addresses: list[str]) -> None:
    if kind == "webhook":
        if len(addresses) != 1:
            raise Problem(422, detail=f"a webhook has one URL, got {len(addresses)}; make a sink for each")
        parse_url(addresses[0])
    else:
        for address in addresses:
            check_address(address)


def _without_secret(sink: Sink) -> Sink:
    return replace(sink, secret="")


async def _list(call: Call, place: ProjectPlace | RunOf, page: AlertPage) -> AlertList:
    items = page.items
    if not await call.may("write", call.entity(place.entity), place.project):
        items = [replace(item, deliveries=[replace(it, error="") for it in item.deliveries]) for item in items]
    return AlertList(items=items, cursor=None if page.before is None else str(page.before))


def _who(call: Call) -> str:
    return call.caller.user or call.caller.entity or "somebody"


ENDPOINTS = [
    list_alerts,
    list_run_alerts,
    list_alert_rules,
    create_alert_rule,
    get_alert_rule,
    change_alert_rule,
    delete_alert_rule,
    list_alert_sinks,
    create_alert_sink,
    change_alert_sink,
    delete_alert_sink,
    test_alert_sink,
]
