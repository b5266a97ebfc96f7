"""Artifacts that are there: types, collections, versions and what they hold; edits, deletion and undo."""

from __future__ import annotations

import msgspec
from starlette.responses import Response

from strobe.errors import NotInStore
from strobe.server.caller import Scope
from strobe.server.endpoint import Call, endpoint
from strobe.server.fields import Count, FilePath, Limit, Name, Text, Token
from strobe.server.problem import Problem
from strobe.server.routes.artifact_drafts import ProjectPlace
from strobe.server.routes.files import GetQuery
from strobe.server.transfer import Served, serve
from strobe.store.artifacts import Collection, TypeCount, Version
from strobe.store.artifacts.record import EntryFacts
from strobe.store.artifacts.versions import Edits, unknown_version
from strobe.store.projects import Project

_PROJECT = "/api/v1/artifacts/{entity}/{project}"
_COLLECTION = _PROJECT + "/collections/{name}"
_VERSION = _COLLECTION + "/versions/{reference}"


class CollectionPlace(ProjectPlace, kw_only=True):
    """All versions of a name."""

    name: Name


class VersionPlace(CollectionPlace, kw_only=True):
    """A version, by number (`v3`) or alias (`latest`)."""

    reference: Name


class EntryPlace(VersionPlace, kw_only=True):
    """An entry of a version."""

    path: FilePath


class VersionIdPlace(msgspec.Struct, kw_only=True):
    """A version, by its id."""

    version: Token


class CollectionsQuery(msgspec.Struct, kw_only=True):
    """Which collections are listed."""

    type: Name | None = None
    cursor: Text = ""
    limit: Limit = 100


class VersionsQuery(msgspec.Struct, kw_only=True):
    """Which versions are listed."""

    tag: Name | None = None
    #: those that were deleted and can be brought back, instead of those that are there
    deleted: bool = False
    #: the number before which the list goes on
    cursor: Count | None = None
    limit: Limit = 100


class EntriesQuery(msgspec.Struct, kw_only=True):
    """Which entries are listed."""

    prefix: FilePath = ""
    cursor: FilePath = ""
    limit: Limit = 1000


class DeleteQuery(msgspec.Struct, kw_only=True):
    """How a version is deleted."""

    #: even if it has aliases besides `latest`
    aliases: bool = False


class CollectionEdits(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """What may be changed of a collection."""

    description: Text


class VersionEdits(Edits, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What may be changed of a version; what is not given stays."""


class TypeList(msgspec.Struct, kw_only=True):
    """All types of a project's artifacts."""

    items: list[TypeCount]
    cursor: str | None = None


class CollectionList(msgspec.Struct, kw_only=True):
    """Some collections, by name."""

    items: list[Collection]
    cursor: str | None


class VersionList(msgspec.Struct, kw_only=True):
    """Some versions, newest first."""

    items: list[Version]
    cursor: str | None


class EntryList(msgspec.Struct, kw_only=True):
    """Some entries, by path."""

    items: list[EntryFacts]
    cursor: str | None


async def _project(call: Call, place: ProjectPlace, level: str = "read") -> Project:
    entity = call.entity(place.entity)
    await call.require("write" if level == "write" else "read", entity, place.project)
    project: Project | None = await call.in_thread(call.services.store.projects.get, entity, place.project)
    if project is None:
        raise Problem(404, detail=f"there is no project {entity}/{place.project}")
    return project


async def _version(call: Call, place: VersionPlace, level: str = "read") -> Version:
    project = await _project(call, place, level)
    versions = call.services.store.artifacts.versions
    version: Version = await call.in_thread(versions.get, project.id, place.name, place.reference)
    return version


async def by_id(call: Call, version_id: str, level: str = "read") -> Version:
    """Return a version by its id, deleted or not, if the caller may read (or write) its project."""
    unseen: Exception = unknown_version(version_id)
    if not call.caller.is_known:  # to a stranger all ids look alike, those that there are not too
        unseen = Problem(401, detail=f"{unseen} that is public; send a key as `Authorization: Bearer …`, or sign in")
    try:
        version: Version = await call.in_thread(call.services.store.artifacts.versions.by_id, version_id)
    except NotInStore:
        raise unseen from None
    scope: Scope = "write" if level == "write" else "read"
    await call.require(scope, version.entity, version.project, unseen=unseen)
    return version


async def get_content(call: Call, version: Version, path: str, *, is_download: bool) -> Response:
    """Return the content of an entry."""
    versions = call.services.store.artifacts.versions
    entry: EntryFacts = await call.in_thread(versions.entry, version, path)
    if entry.sha256 is None:
        raise Problem(409, detail=f"{path!r} refers to {entry.ref!r}, which is not kept here; fetch it from there")
    content = Served(
        path=entry.path,
        sha256=entry.sha256,
        size=entry.size or 0,
        modified_ns=version.created_ns,
        read=lambda start, stop: versions.read(entry, start, stop),
    )
    return await serve(call, content, is_download=is_download)


@endpoint("GET", _PROJECT + "/types", path=ProjectPlace, returns=TypeList, access="read", tag="artifacts")
async def list_artifact_types(call: Call, path: ProjectPlace) -> TypeList:
    """List the types of a project's artifacts."""
    project = await _project(call, path)
    return TypeList(items=await call.in_thread(call.services.store.artifacts.collections.types, project.id))


@endpoint(
    "GET",
    _PROJECT + "/collections",
    path=ProjectPlace,
    query=CollectionsQuery,
    returns=CollectionList,
    access="read",
    tag="artifacts",
)
async def list_collections(call: Call, path: ProjectPlace, query: CollectionsQuery) -> CollectionList:
    """List the artifacts of a project, by name."""
    project = await _project(call, path)
    page = call.services.store.artifacts.collections.page
    items = await call.in_thread(page, project.id, type=query.type, after=query.cursor, limit=query.limit + 1)
    shown = items[: query.limit]
    return CollectionList(items=shown, cursor=shown[-1].name if len(items) > len(shown) else None)


@endpoint("GET", _COLLECTION, path=CollectionPlace, returns=Collection, access="read", tag="artifacts")
async def get_collection(call: Call, path: CollectionPlace) -> Collection:
    """Get what is known of an artifact besides its versions."""
    project = await _project(call, path)
    found: Collection = await call.in_thread(call.services.store.artifacts.collections.get, project.id, path.name)
    return found


@endpoint(
    "PATCH",
    _COLLECTION,
    path=CollectionPlace,
    body=CollectionEdits,
    returns=Collection,
    access="write",
    tag="artifacts",
)
async def edit_collection(call: Call, path: CollectionPlace, body: CollectionEdits) -> Collection:
    """Change what is said about an artifact as a whole."""
    project = await _project(call, path, "write")
    collections = call.services.store.artifacts.collections
    await call.in_thread(collections.describe, project.id, path.name, body.description)
    found: Collection = await call.in_thread(collections.get, project.id, path.name)
    return found


@endpoint(
    "GET",
    _COLLECTION + "/versions",
    path=CollectionPlace,
    query=VersionsQuery,
    returns=VersionList,
    access="read",
    tag="artifacts",
)
async def list_versions(call: Call, path: CollectionPlace, query: VersionsQuery) -> VersionList:
    """List the versions of an artifact, newest first."""
    project = await _project(call, path)
    items = await call.in_thread(
        call.services.store.artifacts.versions.page,
        project.id,
        path.name,
        before=query.cursor,
        limit=query.limit + 1,
        tag=query.tag,
        deleted=query.deleted,
    )
    shown = items[: query.limit]
    return VersionList(items=shown, cursor=str(shown[-1].number) if len(items) > len(shown) else None)


@endpoint("GET", _VERSION, path=VersionPlace, returns=Version, access="read", tag="artifacts")
async def get_version(call: Call, path: VersionPlace) -> Version:
    """Get a version by its number or an alias."""
    return await _version(call, path)


@endpoint("PATCH", _VERSION, path=VersionPlace, body=VersionEdits, returns=Version, access="write", tag="artifacts")
async def edit_version(call: Call, path: VersionPlace, body: VersionEdits) -> Version:
    """Change a version's description, metadata, tags, time to live and aliases; what is not given stays."""
    version = await _version(call, path, "write")
    edited: Version = await call.in_thread(call.services.store.artifacts.versions.edit, version.id, body)
    return edited


@endpoint("DELETE", _VERSION, path=VersionPlace, query=DeleteQuery, access="write", tag="artifacts", status=204)
async def delete_version(call: Call, path: VersionPlace, query: DeleteQuery) -> None:
    """Delete a version; `restore` brings it back for some days. 400 if it has aliases, unless `aliases=true`."""
    version = await _version(call, path, "write")
    delete = call.services.store.artifacts.versions.delete
    await call.in_thread(delete, version.id, with_aliases=query.aliases)


@endpoint("GET", _VERSION + "/manifest", path=VersionPlace, produces="application/json", access="read", tag="artifacts")
async def get_manifest(call: Call, path: VersionPlace) -> Response:
    """Get all that a version holds, in the form in which it came in."""
    version = await _version(call, path)
    if (unchanged := call.unchanged(f'"{version.id}"')) is not None:
        return unchanged

    def read() -> bytes:
        encoded: bytes = call.services.store.artifacts.versions.manifest(version).encode()
        return encoded

    return Response(await call.in_thread(read), media_type="application/json")


@endpoint(
    "GET",
    _VERSION + "/entries",
    path=VersionPlace,
    query=EntriesQuery,
    returns=EntryList,
    access="read",
    tag="artifacts",
)
async def list_entries(call: Call, path: VersionPlace, query: EntriesQuery) -> EntryList:
    """List what a version holds, by path."""
    version = await _version(call, path)
    entries = call.services.store.artifacts.versions.entries
    items = await call.in_thread(entries, version, prefix=query.prefix, after=query.cursor, limit=query.limit + 1)
    shown = items[: query.limit]
    return EntryList(items=shown, cursor=shown[-1].path if len(items) > len(shown) else None)


@endpoint(
    "GET",
    _VERSION + "/files/{path:path}",
    path=EntryPlace,
    query=GetQuery,
    produces="application/octet-stream",
    access="read",
    tag="artifacts",
)
async def get_entry(call: Call, path: EntryPlace, query: GetQuery) -> Response:
    """Get the content of an entry, or a part of it; as files of runs are got. 409 if it refers to another place."""
    version = await _version(call, path)
    return await get_content(call, version, path.path, is_download=query.download)


@endpoint(
    "GET", "/api/v1/artifact-versions/{version}", path=VersionIdPlace, returns=Version, access="read", tag="artifacts"
)
async def get_version_by_id(call: Call, path: VersionIdPlace) -> Version:
    """Get a version by its id, even if it was deleted."""
    return await by_id(call, path.version)


@endpoint(
    "POST",
    "/api/v1/artifact-versions/{version}/restore",
    path=VersionIdPlace,
    returns=Version,
    access="write",
    tag="artifacts",
)
async def restore_version(call: Call, path: VersionIdPlace) -> Version:
    """Undo the deletion of a version, with those of its aliases that have not moved on."""
    version = await by_id(call, path.version, "write")
    restored: Version = await call.in_thread(call.services.store.artifacts.versions.restore, version.id)
    return restored


ENDPOINTS = [
    list_artifact_types,
    list_collections,
    get_collection,
    edit_collection,
    list_versions,
    get_version,
    edit_version,
    delete_version,
    get_manifest,
    list_entries,
    get_entry,
    get_version_by_id,
    restore_version,
]
