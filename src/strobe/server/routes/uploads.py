"""Uploads in parts: for files that are larger than a request may be, over connections that may break.

Start (as often as one likes: the same upload goes on), put the parts that are missing, complete.
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from strobe.errors import UsageError
from strobe.server.endpoint import Call, endpoint
from strobe.server.fields import Count, FilePath, Over, Sha256, Token
from strobe.server.problem import Problem
from strobe.server.routes.files import RunPlace, find_run
from strobe.server.transfer import check_sha256_header, receive
from strobe.store.files import Policy, RunFile, check_place
from strobe.store.upload import Upload
from strobe.store.uploads import unknown_upload


class StartFile(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """A file of a run that is to come."""

    path: FilePath
    size: Count
    sha256: Sha256
    policy: Policy = "now"
    mtime_ns: Count | None = None
    #: the content that it replaces: see `PUT …/files/{path}`
    over: Over | None = None


class CompleteQuery(msgspec.Struct, kw_only=True):
    """What is said as an upload is completed."""

    #: the content that it replaces: see `PUT …/files/{path}`
    over: Over | None = None


class UploadStatus(msgspec.Struct, kw_only=True):
    """What is there of a file."""

    #: open: parts are missing, or `complete` is; there: the file is, nothing needs to be sent
    state: Literal["open", "there"]
    #: names the upload; none if the file is there
    id: str | None = None
    path: str
    size: int
    sha256: str
    #: all parts have so many bytes, but the last
    part_bytes: int = 0
    num_parts: int = 0
    #: the numbers of the parts that are there, from 0
    parts: list[int] = []


class UploadPlace(msgspec.Struct, kw_only=True):
    """An upload."""

    upload: Token


class PartPlace(UploadPlace, kw_only=True):
    """A part of an upload, by its number from 0."""

    number: Annotated[int, msgspec.Meta(ge=0, lt=2**31)]


def status_of(upload: Upload) -> UploadStatus:
    """Return an upload that is open as an answer."""
    return UploadStatus(
        state="open",
        id=upload.id,
        path=upload.path,
        size=upload.size,
        sha256=upload.sha256,
        part_bytes=upload.part_bytes,
        num_parts=upload.num_parts,
        parts=upload.parts,
    )


async def put_content(call: Call, upload: Upload, number: int) -> None:
    """Make the body of the request a part of an upload."""
    uploads = call.services.store.uploads
    with await call.in_thread(uploads.part, upload, number) as part:
        await receive(call, part.write)
        check_sha256_header(call, part.finish())
        await call.in_thread(uploads.put_part, upload.id, part)


async def find_upload(call: Call, upload_id: str) -> Upload:
    """Return an upload, if the caller may write to its project."""
    uploads = call.services.store.uploads
    upload: Upload = await call.in_thread(uploads.get, upload_id)
    entity, project = await call.in_thread(uploads.project_of, upload)
    await call.require("write", entity, project, unseen=unknown_upload(upload_id))
    return upload


@endpoint(
    "POST",
    "/api/v1/runs/{entity}/{project}/{run}/uploads",
    path=RunPlace,
    body=StartFile,
    returns=UploadStatus,
    access="write",
    tag="files",
)
async def start_upload(call: Call, path: RunPlace, body: StartFile) -> UploadStatus:
    """Start the upload of a file of a run in parts, or go on with the same one.

    If the project has the content already, the file is made of it at once: `state` is "there".
    """
    call.refuse_at_home("files")
    run = await find_run(call, path, "write")
    await call.in_thread(call.services.store.quotas.check, run.entity, run.project)
    check_place(body.path, body.policy)
    store = call.services.store
    said = {"policy": body.policy, "mtime_ns": body.mtime_ns}
    known: RunFile | None = await call.in_thread(
        store.files.put_known, run.id, body.path, body.sha256, body.size, over=body.over, **said
    )
    if known is not None:
        return UploadStatus(state="there", path=known.path, size=known.size, sha256=known.sha256)
    upload = await call.in_thread(
        store.uploads.start, "run", run.id, body.path, size=body.size, sha256=body.sha256, **said
    )
    return status_of(upload)


@endpoint("GET", "/api/v1/uploads/{upload}", path=UploadPlace, returns=UploadStatus, access="write", tag="files")
async def get_upload(call: Call, path: UploadPlace) -> UploadStatus:
    """Ask which parts of an upload are there. 404: it is complete, was given up or expired; start it again."""
    return status_of(await find_upload(call, path.upload))


@endpoint(
    "PUT",
    "/api/v1/uploads/{upload}/parts/{number}",
    path=PartPlace,
    consumes="application/octet-stream",
    access="write",
    tag="files",
    status=204,
    max_bytes=lambda limits: limits.part_bytes,
)
async def put_part(call: Call, path: PartPlace) -> None:
    """Put a part: exactly its bytes. The same one again changes nothing, another content replaces it."""
    await put_content(call, await find_upload(call, path.upload), path.number)


@endpoint(
    "POST",
    "/api/v1/uploads/{upload}/complete",
    path=UploadPlace,
    query=CompleteQuery,
    returns=UploadStatus,
    access="write",
    tag="files",
)
async def complete_upload(call: Call, path: UploadPlace, query: CompleteQuery) -> UploadStatus:
    """Complete an upload: size and sha256 are checked, then the file is there.

    409: parts are missing, or they are not what was announced; nothing has changed, `DELETE` it and start anew, or put
    the right parts. 503: another request is completing it; ask again. 404 then means that it is complete: start it
    again to hear so.
    """
    upload = await find_upload(call, path.upload)
    if upload.missing:
        raise Problem(409, detail=f"parts {upload.missing[:20]} are missing; put them first")
    try:
        await call.in_thread(call.services.store.uploads.complete, path.upload, over=query.over)
    except UsageError as error:
        raise Problem(409, detail=str(error)) from error
    return UploadStatus(state="there", path=upload.path, size=upload.size, sha256=upload.sha256)


@endpoint("DELETE", "/api/v1/uploads/{upload}", path=UploadPlace, access="write", tag="files", status=204)
async def abort_upload(call: Call, path: UploadPlace) -> None:
    """Give an upload up."""
    upload = await find_upload(call, path.upload)
    await call.in_thread(call.services.store.uploads.abort, upload.id)


ENDPOINTS = [start_upload, get_upload, put_part, complete_upload, abort_upload]
