"""Artifacts on their way in: create a draft with its manifest, send what is missing, commit."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from strobe.artifact.manifest import Manifest
from strobe.errors import ArtifactError, MissingExtra, UsageError
from strobe.home import RunPath
from strobe.server.endpoint import Call, endpoint
from strobe.server.fields import Count, FilePath, Name, Sha256, Text, Token
from strobe.server.problem import Problem
from strobe.server.routes.uploads import UploadStatus, status_of
from strobe.server.transfer import check_sha256_header, receive
from strobe.store.artifacts import Draft, DraftFacts, Version
from strobe.store.artifacts.drafts import unknown_draft
from strobe.store.artifacts.entries import check_entries

_DRAFT = "/api/v1/artifact-drafts/{draft}"


class ProjectPlace(msgspec.Struct, kw_only=True):
    """A project."""

    entity: Name
    project: Name


class NewArtifact(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """A version that is to come."""

    name: Name
    type: Name
    #: as wandb's client and server exchange it: {"version": 1, …, "contents": {path: {"digest", "size", …}}}
    manifest: msgspec.Raw
    #: of the manifest's own digest
    algorithm: Literal["MD5", "XXH128"] = "MD5"
    #: what the sender thinks that the manifest's digest is
    digest: Name | None = None
    #: the id of the run in this project that logs it
    run: Name | None = None
    aliases: list[Name] = []
    tags: list[Name] = []
    description: Text = ""
    metadata: dict[str, Any] = {}
    ttl_s: Count | None = None
    use_as: Name | None = None
    source: Text | None = None
    step: Count | None = None
    #: when it was logged, if that was earlier
    created_ns: Count | None = None
    #: the sender's own name of this version: sending it again makes no other
    origin: Name | None = None
    #: whether to commit at once if nothing is missing
    commit: bool = False


# Made here, once: msgspec crashes when threads are the first to decode a type at the same moment.
_decode_artifact = msgspec.json.Decoder(NewArtifact).decode


class DraftAnswer(msgspec.Struct, kw_only=True):
    """What became of it: a draft that waits for contents, or a version."""

    state: Literal["draft", "committed"]
    draft: Draft | None = None
    version: Version | None = None


class DraftPlace(msgspec.Struct, kw_only=True):
    """A draft, by its id."""

    draft: Token


class DraftFilePlace(DraftPlace, kw_only=True):
    """An entry of a draft."""

    path: FilePath


class StartEntry(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """An entry that is to come in parts; its size and digest are in the manifest."""

    path: FilePath
    sha256: Sha256


async def find_draft(call: Call, token: str) -> Draft:
    """Return a draft, if the caller may write to its project."""
    draft: Draft = await call.in_thread(call.services.store.artifacts.drafts.get, token)
    await call.require("write", draft.entity, draft.project, unseen=unknown_draft(token))
    return draft


async def put_content(call: Call, token: str, path: str) -> None:
    """Make the body of the request the content of an entry."""
    store = call.services.store
    _, expected = await call.in_thread(store.artifacts.drafts.expected, token, path)
    with await call.in_thread(store.contents.incoming, expected.algorithm) as incoming:
        await receive(call, incoming.write)
        check_sha256_header(call, incoming.content.sha256)
        await call.in_thread(store.artifacts.drafts.put, token, path, incoming)


@endpoint(
    "POST",
    "/api/v1/artifacts/{entity}/{project}/drafts",
    path=ProjectPlace,
    returns=DraftAnswer,
    consumes="application/json",
    access="write",
    tag="artifacts",
    max_bytes=lambda limits: limits.request_bytes,
)
async def create_draft(call: Call, path: ProjectPlace) -> DraftAnswer:
    """Begin a version of an artifact: the answer says which contents the project does not have yet.

    The body is a NewArtifact. Its limit is that of an ingest request, because manifests can be large.
    """
    entity = call.entity(path.entity)
    await call.require("write", entity, path.project)
    await call.in_thread(call.services.store.quotas.check, entity, path.project)
    body = await _read(call)
    try:
        manifest = await call.in_thread(_manifest, body)
    except MissingExtra as error:
        raise Problem(422, detail=f"this server lacks what the digests need: {error}") from error
    store = call.services.store
    project = await call.in_thread(store.projects.ensure, entity, path.project, now_ns=call.services.clock())
    run_id = None
    if body.run is not None:
        run_id = (await call.in_thread(store.runs.find, RunPath(entity, path.project, body.run))).id
    facts = msgspec.convert(body, DraftFacts, from_attributes=True)
    made = await call.in_thread(store.artifacts.drafts.create, project.id, facts, manifest, run_id=run_id)
    if isinstance(made, Draft) and body.commit and not made.missing:
        made = await call.in_thread(store.artifacts.drafts.commit, made.id)
    if isinstance(made, Version):
        return DraftAnswer(state="committed", version=made)
    return DraftAnswer(state="draft", draft=made)


@endpoint("GET", _DRAFT, path=DraftPlace, returns=Draft, access="write", tag="artifacts")
async def get_draft(call: Call, path: DraftPlace) -> Draft:
    """Ask what a draft still misses. 404: it is committed, was given up or expired."""
    return await find_draft(call, path.draft)


@endpoint(
    "PUT",
    _DRAFT + "/files/{path:path}",
    path=DraftFilePlace,
    consumes="application/octet-stream",
    access="write",
    tag="artifacts",
    status=204,
    max_bytes=lambda limits: limits.part_bytes,
)
async def put_draft_file(call: Call, path: DraftFilePlace) -> None:
    """Send the content of an entry, and with it of all entries that have the same; larger ones come in parts."""
    await find_draft(call, path.draft)
    await put_content(call, path.draft, path.path)


@endpoint(
    "POST",
    _DRAFT + "/uploads",
    path=DraftPlace,
    body=StartEntry,
    returns=UploadStatus,
    access="write",
    tag="artifacts",
)
async def start_draft_upload(call: Call, path: DraftPlace, body: StartEntry) -> UploadStatus:
    """Start the upload of an entry's content in parts, or go on with the same one; see `/api/v1/uploads`."""
    draft = await find_draft(call, path.draft)
    store = call.services.store
    row_id, expected = await call.in_thread(store.artifacts.drafts.expected, draft.id, body.path)
    if all(it.digest != expected.digest or it.algorithm != expected.algorithm for it in draft.missing):
        return UploadStatus(state="there", path=body.path, size=expected.size, sha256=body.sha256)
    upload = await call.in_thread(
        store.uploads.start,
        "draft",
        row_id,
        body.path,
        size=expected.size,
        sha256=body.sha256,
        algorithm=expected.algorithm,
    )
    return status_of(upload)


@endpoint("POST", _DRAFT + "/commit", path=DraftPlace, returns=Version, access="write", tag="artifacts")
async def commit_draft(call: Call, path: DraftPlace) -> Version:
    """Make a draft a version, which is visible from then on; committing again returns the same.

    What the latest version holds too makes no new version: that one gets the aliases. 409: contents are missing.
    """
    drafts = call.services.store.artifacts.drafts
    entity, project = await call.in_thread(drafts.project_of_token, path.draft)
    await call.require("write", entity, project, unseen=unknown_draft(path.draft))
    try:
        version: Version = await call.in_thread(drafts.commit, path.draft)
    except UsageError as error:
        raise Problem(409, detail=str(error)) from error
    return version


@endpoint("DELETE", _DRAFT, path=DraftPlace, access="write", tag="artifacts", status=204)
async def abort_draft(call: Call, path: DraftPlace) -> None:
    """Give a draft up."""
    draft = await find_draft(call, path.draft)
    await call.in_thread(call.services.store.artifacts.drafts.abort, draft.id)


async def _read(call: Call) -> NewArtifact:
    body = await call.whole(max_bytes=call.services.settings.limits.request_bytes)
    try:
        return await call.in_thread(_decode_artifact, body)
    except (UnicodeDecodeError, RecursionError) as error:
        raise Problem(400, detail=f"the body cannot be read as JSON: {error}") from error


def _manifest(body: NewArtifact) -> Manifest:
    try:
        manifest = Manifest.decode(bytes(body.manifest), algorithm=body.algorithm)
        check_entries(manifest)
        digest = manifest.digest
    except ArtifactError as error:
        raise Problem(422, detail=str(error)) from error
    if body.digest is not None and digest != body.digest:
        raise Problem(422, detail=f"the manifest's digest is {digest}, {body.digest!r} was announced; send it again")
    return manifest


ENDPOINTS = [create_draft, get_draft, put_draft_file, start_draft_upload, commit_draft, abort_draft]
