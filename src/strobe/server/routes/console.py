"""What runs printed: lines by number, from the end, around a time; searched; or all of it as text."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Annotated

import msgspec
from msgspec import Meta
from starlette.responses import Response, StreamingResponse

from strobe.journal.cell import STYLE
from strobe.server.endpoint import Call, endpoint, weak_etag
from strobe.server.fields import Count
from strobe.server.problem import Problem
from strobe.server.routes.series import RunOf, readable_run
from strobe.store.console import Answer, Choice, Lane, Line, Pattern
from strobe.store.console.console import MAX_LINES
from strobe.store.console.search import MAX_PATTERN
from strobe.store.runs import RunRow

_CONSOLE = "/api/v1/runs/{entity}/{project}/{run}/console"
Lines = Annotated[int, Meta(ge=0, le=MAX_LINES)]
LaneName = Annotated[str, Meta(max_length=256, pattern=r"^[^\x00]*\Z")]


class LaneQuery(msgspec.Struct, kw_only=True):
    """Whose lines: all, put together by time, or those of one attempt, writer (rank) or stream."""

    attempt: Count | None = None
    writer: LaneName | None = None
    stream: LaneName | None = None

    @property
    def choice(self) -> Choice:
        return Choice(attempt=self.attempt, writer=self.writer, stream=self.stream)


class ConsoleQuery(LaneQuery, kw_only=True):
    """Which lines: from `start` on, or those around `time_ns`, else the last ones."""

    start: Count | None = None
    #: how many, from `start` or from the end
    limit: Lines = 1000
    time_ns: Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)] | None = None
    #: how many lines before that time; `limit` is how many from it on
    before: Lines = 0
    #: whether colours are kept, as ANSI sequences
    styles: bool = True


class ConsoleAnswer(msgspec.Struct, kw_only=True):
    """Lines in the order of time; `lane` of a line is its place among the lanes."""

    lanes: list[Lane]
    total: int
    items: list[Line]
    #: the `start` of the following lines; none at the end
    cursor: str | None


class SearchQuery(LaneQuery, kw_only=True):
    """What to look for, in lines without their colours."""

    text: Annotated[str, Meta(min_length=1, max_length=MAX_PATTERN)]
    regex: bool = False
    match_case: bool = False
    #: the line to begin with: the cursor of the answer before
    start: Count = 0
    limit: Annotated[int, Meta(ge=1, le=1000)] = 100
    styles: bool = True


class TextQuery(LaneQuery, kw_only=True):
    styles: bool = False


@endpoint("GET", _CONSOLE, path=RunOf, query=ConsoleQuery, returns=ConsoleAnswer, access="read", tag="console")
async def read_console(call: Call, path: RunOf, query: ConsoleQuery) -> ConsoleAnswer | Response:
    """Return console lines as they stand on the screen: a progress bar is one line.

    Lines below a lane's `settled` are final; those after it may still be drawn over.
    """
    if query.start is not None and query.time_ns is not None:
        raise Problem(422, detail="start and time_ns are two ways to say where; give one of them")
    row = await readable_run(call, path)
    if unchanged := call.unchanged(_etag(row, query)):
        return unchanged
    console = call.services.store.console
    if query.start is not None:
        found = await call.in_thread(console.lines, row.id, query.start, query.start + query.limit, query.choice)
    elif query.time_ns is not None:
        found = await call.in_thread(console.around, row.id, query.time_ns, query.before, query.limit, query.choice)
    else:
        found = await call.in_thread(console.tail, row.id, query.limit, query.choice)
    return _answer(found, query.styles)


@endpoint(
    "GET", _CONSOLE + "/search", path=RunOf, query=SearchQuery, returns=ConsoleAnswer, access="read", tag="console"
)
async def search_console(call: Call, path: RunOf, query: SearchQuery) -> ConsoleAnswer:
    """Return lines that hold a text or match a regular expression.

    Searches for half a second at most: follow the cursor, also where nothing was found.
    """
    row = await readable_run(call, path)
    pattern = Pattern(text=query.text, is_regex=query.regex, match_case=query.match_case)
    console = call.services.store.console
    found = await call.in_thread(
        console.search, row.id, pattern, start=query.start, limit=query.limit, choice=query.choice
    )
    items = found.lines if query.styles else [_plain(line) for line in found.lines]
    cursor = None if found.next is None else str(found.next)
    return ConsoleAnswer(lanes=found.lanes, total=found.total, items=items, cursor=cursor)


@endpoint("GET", _CONSOLE + "/text", path=RunOf, query=TextQuery, produces="text/plain", access="read", tag="console")
async def download_console(call: Call, path: RunOf, query: TextQuery) -> Response:
    """Return the whole console as text."""
    row = await readable_run(call, path)
    headers = {"Content-Disposition": "attachment; filename=console.log", "X-Content-Type-Options": "nosniff"}
    return StreamingResponse(_text(call, row, query), media_type="text/plain; charset=utf-8", headers=headers)


async def _text(call: Call, row: RunRow, query: TextQuery) -> AsyncIterator[bytes]:
    start = 0
    while True:
        found: Answer = await call.in_thread(
            call.services.store.console.lines, row.id, start, start + MAX_LINES, query.choice
        )
        if not found.lines:
            return
        lines = (line.text if query.styles else _plain(line).text for line in found.lines)
        yield "".join(f"{line}\n" for line in lines).encode()
        start = found.lines[-1].number + 1


def _answer(found: Answer, styles: bool) -> ConsoleAnswer:
    following = found.lines[-1].number + 1 if found.lines else found.total
    return ConsoleAnswer(
        lanes=found.lanes,
        total=found.total,
        items=found.lines if styles else [_plain(line) for line in found.lines],
        cursor=str(following) if following < found.total else None,
    )


def _plain(line: Line) -> Line:
    return msgspec.structs.replace(line, text=STYLE.sub("", line.text))


def _etag(row: RunRow, query: ConsoleQuery) -> str:
    import zlib

    return weak_etag(row.id, row.version, f"{zlib.crc32(msgspec.json.encode(query)):x}")


ENDPOINTS = [read_console, search_console, download_console]
