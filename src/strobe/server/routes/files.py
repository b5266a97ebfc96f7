"""Files of runs: put, get with ranges, list, delete. Bigger ones than a request may bring come in parts (`uploads`)."""

from __future__ import annotations

import msgspec
from starlette.responses import Response

from strobe.home import RunPath
from strobe.server.endpoint import Call, endpoint
from strobe.server.fields import Count, FilePath, Limit, Name, Over
from strobe.server.transfer import Served, check_sha256_header, receive, serve
from strobe.store.files import Policy, RunFile, check_place
from strobe.store.runs import RunRow

_FILES = "/api/v1/runs/{entity}/{project}/{run}/files"


class RunPlace(msgspec.Struct, kw_only=True):
    """A run, by its path."""

    entity: Name
    project: Name
    run: Name


class FilePlace(RunPlace, kw_only=True):
    """A file of a run."""

    path: FilePath


class PutQuery(msgspec.Struct, kw_only=True):
    """What is said about a file besides its content."""

    policy: Policy = "now"
    mtime_ns: Count | None = None
    #: the sha256 of the content that it replaces, `none` for none; 412 if something else is there
    over: Over | None = None


class GetQuery(msgspec.Struct, kw_only=True):
    """How a file is to be sent."""

    #: as a download, whatever it is
    download: bool = False


class ListQuery(msgspec.Struct, kw_only=True):
    """Which files are listed."""

    prefix: FilePath = ""
    #: from the answer before
    cursor: FilePath = ""
    limit: Limit = 200


class FileList(msgspec.Struct, kw_only=True):
    """Some files of a run, by path."""

    items: list[RunFile]
    #: for the next ones; none if these were the last
    cursor: str | None


async def find_run(call: Call, place: RunPlace, level: str) -> RunRow:
    """Return the run's row, if the caller may read (or write) its project."""
    entity = call.entity(place.entity)
    await call.require("write" if level == "write" else "read", entity, place.project)
    row: RunRow = await call.in_thread(call.services.store.runs.find, RunPath(entity, place.project, place.run))
    return row


async def put_content(call: Call, run_id: int, path: str, query: PutQuery) -> RunFile:
    """Make the body of the request the content of a file."""
    check_place(path, query.policy)
    files = call.services.store.files
    with await call.in_thread(files.contents.incoming) as incoming:
        await receive(call, incoming.write)
        check_sha256_header(call, incoming.content.sha256)
        file: RunFile = await call.in_thread(
            files.put, run_id, path, incoming, policy=query.policy, mtime_ns=query.mtime_ns, over=query.over
        )
    return file


async def get_content(call: Call, run_id: int, path: str, *, is_download: bool) -> Response:
    """Return a file's content."""
    files = call.services.store.files
    file: RunFile = await call.in_thread(files.get, run_id, path)
    content = Served(
        path=file.path,
        sha256=file.sha256,
        size=file.size,
        modified_ns=file.uploaded_ns,
        read=lambda start, stop: files.read(file, start, stop),
    )
    return await serve(call, content, is_download=is_download)


@endpoint("GET", _FILES, path=RunPlace, query=ListQuery, returns=FileList, access="read", tag="files")
async def list_files(call: Call, path: RunPlace, query: ListQuery) -> FileList:
    """List the files of a run, by path."""
    run = await find_run(call, path, "read")
    files = call.services.store.files
    items = await call.in_thread(files.list, run.id, prefix=query.prefix, after=query.cursor, limit=query.limit + 1)
    shown = items[: query.limit]
    return FileList(items=shown, cursor=shown[-1].path if len(items) > len(shown) else None)


@endpoint(
    "GET",
    _FILES + "/{path:path}",
    path=FilePlace,
    query=GetQuery,
    produces="application/octet-stream",
    access="read",
    tag="files",
)
async def get_file(call: Call, path: FilePlace, query: GetQuery) -> Response:
    """Get a file of a run, or a part of it.

    `Range` with one range is understood (206, 416), as are `If-Range`, `If-None-Match` and `If-Match`; the `ETag` is
    the content's sha256. HTML and SVG come under a policy that makes them pages of no origin.
    """
    run = await find_run(call, path, "read")
    return await get_content(call, run.id, path.path, is_download=query.download)


@endpoint(
    "PUT",
    _FILES + "/{path:path}",
    path=FilePlace,
    query=PutQuery,
    returns=RunFile,
    consumes="application/octet-stream",
    access="write",
    tag="files",
    max_bytes=lambda limits: limits.part_bytes,
)
async def put_file(call: Call, path: FilePlace, query: PutQuery) -> RunFile:
    """Put a file of a run; it replaces what is there.

    The body is the content, up to the limit `part_bytes`; larger files come in parts. With the header `Strobe-Sha256`
    a body that has changed on its way is refused (422). With `over` it replaces that content only (412): so a request
    that is delivered late does not undo a newer one.
    """
    call.refuse_at_home("files")
    run = await find_run(call, path, "write")
    await call.in_thread(call.services.store.quotas.check, run.entity, run.project)
    return await put_content(call, run.id, path.path, query)


@endpoint("DELETE", _FILES + "/{path:path}", path=FilePlace, access="write", tag="files", status=204)
async def delete_file(call: Call, path: FilePlace) -> None:
    """Delete a file of a run."""
    call.refuse_at_home("changes of files")
    run = await find_run(call, path, "write")
    await call.in_thread(call.services.store.files.delete, run.id, path.path)


ENDPOINTS = [list_files, get_file, put_file, delete_file]
