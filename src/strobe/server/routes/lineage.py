"""Lineage: which runs logged and used a version, and the artifacts of a run."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from strobe.server.call import Visible
from strobe.server.endpoint import Call, endpoint
from strobe.server.fields import Name, Token
from strobe.server.routes.artifacts import VersionIdPlace, by_id
from strobe.server.routes.files import RunPlace, find_run
from strobe.store.artifacts import Use, Version
from strobe.store.artifacts.record import Role

_ARTIFACTS = "/api/v1/runs/{entity}/{project}/{run}/artifacts"


class UseBody(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """A version that a run uses."""

    #: the version's id
    version: Token
    use_as: Name | None = None


class RoleQuery(msgspec.Struct, kw_only=True):
    """Which artifacts of a run are listed."""

    role: Role = "logged"


class UseList(msgspec.Struct, kw_only=True):
    """Runs that had to do with a version, in order of time."""

    items: list[Use]
    cursor: str | None = None


class RunArtifacts(msgspec.Struct, kw_only=True):
    """Versions that a run logged or used, in order of time."""

    items: list[Version]
    cursor: str | None = None


def _sees(visible: Visible) -> Callable[[str, str], bool]:
    return lambda entity, access: visible.is_all or entity in visible.entities or access in visible.accesses


@endpoint(
    "GET",
    "/api/v1/artifact-versions/{version}/runs",
    path=VersionIdPlace,
    returns=UseList,
    access="read",
    tag="artifacts",
)
async def list_version_runs(call: Call, path: VersionIdPlace) -> UseList:
    """List the runs that logged or used a version; those that the caller may not see are left out."""
    version = await by_id(call, path.version)
    runs = call.services.store.artifacts.lineage.runs
    return UseList(items=await call.in_thread(runs, version.id, _sees(await call.visible())))


@endpoint("GET", _ARTIFACTS, path=RunPlace, query=RoleQuery, returns=RunArtifacts, access="read", tag="artifacts")
async def list_run_artifacts(call: Call, path: RunPlace, query: RoleQuery) -> RunArtifacts:
    """List the versions that a run logged or used; those that the caller may not see are left out."""
    run = await find_run(call, path, "read")
    of_run = call.services.store.artifacts.lineage.of_run
    return RunArtifacts(items=await call.in_thread(of_run, run.id, query.role, _sees(await call.visible())))


@endpoint("POST", _ARTIFACTS, path=RunPlace, body=UseBody, returns=Version, access="write", tag="artifacts")
async def use_artifact(call: Call, path: RunPlace, body: UseBody) -> Version:
    """Note that a run uses a version, which the caller must be able to read."""
    run = await find_run(call, path, "write")
    version = await by_id(call, body.version)
    await call.in_thread(call.services.store.artifacts.lineage.note_use, version.id, run.id, body.use_as)
    return version


ENDPOINTS = [list_version_runs, list_run_artifacts, use_artifact]
