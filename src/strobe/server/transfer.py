"""Contents over HTTP, both ways: bodies into the store piece by piece, stored contents out with ranges and tags.

Neither direction holds more than a piece in memory. The tag of a content is its sha256, which is a strong one: the same
tag is the same bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime, timezone
from email.utils import format_datetime

import msgspec
from starlette.responses import Response, StreamingResponse

from strobe.server.endpoint import Call
from strobe.server.media import disposition, type_of
from strobe.server.problem import Problem
from strobe.server.ranges import NoSuchRange, names_etag, parse_range
from strobe.server.security import CONTENT_POLICY

#: what a sender may say about a body, to be told if it has changed on its way
SHA256_HEADER = "Strobe-Sha256"
#: written to the store at once: a thread is asked for each of these, not for each packet
_PIECE_BYTES = 1 << 20


class Served(msgspec.Struct, frozen=True, kw_only=True):
    """A stored content that is about to be sent."""

    path: str
    sha256: str
    size: int
    #: since when it is what it is
    modified_ns: int
    read: Callable[[int, int], Iterator[bytes]]


async def receive(call: Call, write: Callable[[bytes], None]) -> None:
    """Hand the body to `write`, which blocks, in pieces of about a megabyte."""
    held = bytearray()
    async for piece in call.stream(max_bytes=call.services.settings.limits.part_bytes):
        held += piece
        if len(held) >= _PIECE_BYTES:
            await call.in_thread(write, bytes(held))
            held.clear()
    if held:
        await call.in_thread(write, bytes(held))


def check_sha256_header(call: Call, sha256: str) -> None:
    """Raise a 422 if the sender says that the body has another sha256."""
    said = call.request.headers.get(SHA256_HEADER)
    if said is not None and said.lower() != sha256:
        raise Problem(
            422, detail=f"the body has the sha256 {sha256}, {SHA256_HEADER} says {said[:80]!r}; send it again"
        )


async def serve(call: Call, content: Served, *, is_download: bool = False) -> Response:
    """Return a content, or the part of it that was asked for, or that nothing has changed."""
    etag, modified = f'"{content.sha256}"', _date(content.modified_ns)
    headers = call.request.headers
    if (wanted := headers.get("if-match")) is not None and wanted.strip() != "*" and not names_etag(wanted, etag):
        raise Problem(412, detail=f"{content.path!r} has changed; its tag is {etag} now", headers={"ETag": etag})
    kind = type_of(content.path)
    call.headers.update(
        {
            "Last-Modified": modified,
            "Accept-Ranges": "bytes",
            "Content-Type": kind,
            "Content-Disposition": disposition(content.path, kind, is_download=is_download),
            "Content-Security-Policy": CONTENT_POLICY,
        }
    )
    if (unchanged := call.unchanged(etag)) is not None:
        return unchanged
    condition = headers.get("if-range")
    is_same = condition is None or names_etag(condition, etag) or condition.strip() == modified
    try:
        part = parse_range(headers.get("range"), content.size) if is_same else None
    except NoSuchRange as error:
        raise Problem(
            416, detail=f"there is no such part: {error}", headers={"Content-Range": f"bytes */{content.size}"}
        ) from error
    start, stop = part or (0, content.size)
    if part is not None:
        call.headers["Content-Range"] = f"bytes {start}-{stop - 1}/{content.size}"
    call.headers["Content-Length"] = str(stop - start)
    status = 200 if part is None else 206
    if call.request.method == "HEAD":
        return Response(status_code=status)
    # Asked for before the answer begins, so that a content that is lost is an error and not a torn answer.
    pieces = await call.in_thread(content.read, start, stop)
    return StreamingResponse(call.in_pieces(pieces), status_code=status)


def _date(moment_ns: int) -> str:
    return format_datetime(datetime.fromtimestamp(moment_ns // 10**9, timezone.utc), usegmt=True)
