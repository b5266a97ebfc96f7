"""Series: curves of runs at the cost of the screen, and history rows."""

from __future__ import annotations

import hashlib
from typing import Annotated, Any, Literal

import msgspec
from starlette.responses import Response

from strobe.home import RunPath
from strobe.server.curve_shelf import EncodedCurve
from strobe.server.curves import COLUMNS, curve_bytes, curve_json
from strobe.server.endpoint import Call, endpoint, weak_etag
from strobe.server.fields import Key, Name, PathText
from strobe.server.problem import Problem
from strobe.store.charts import Ask, Axis, Chart, Span
from strobe.store.runs import RunRow
from strobe.store.series import Window
from strobe.store.series.page import MAX_I64, MIN_I64
from strobe.wire.series import SERIES, encode_series

#: curves of one request, and buckets of all of them: what it may hold in memory
MAX_CURVES = 1000
MAX_BUCKETS = 2_000_000
Step = Annotated[int, msgspec.Meta(ge=MIN_I64, le=MAX_I64)]


class SeriesBody(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """Which curves: every key of every run."""

    #: paths: entity/project/run
    runs: Annotated[list[PathText], msgspec.Meta(min_length=1, max_length=MAX_CURVES)]
    keys: Annotated[list[Key], msgspec.Meta(min_length=1, max_length=MAX_CURVES)]
    #: what lies along the width: step, wall time (ns) or time since the run's start (ns)
    axis: Axis = "step"
    #: a range of the axis, ends included; all of it by default
    first: Step | None = None
    last: Step | None = None
    #: how many buckets at most
    pixels: Annotated[int, msgspec.Meta(ge=1, le=20_000)] = 1000
    #: samples of the system instead of what was logged
    system: bool = False
    #: one attempt, superseded or not
    attempt: Annotated[int, msgspec.Meta(ge=0, le=MAX_I64)] | None = None
    #: another logged key as the x axis
    x_key: Key | None = None
    #: columns of buckets; all by default
    columns: list[str] | None = None
    format: Literal["binary", "json"] = "binary"


class Curve(msgspec.Struct, kw_only=True):
    """One curve of a JSON answer; which columns there are depends on whether each bucket is one point."""

    run: str
    key: str
    lane: str
    is_raw: bool
    is_approximate: bool
    started_ns: int
    version: int
    columns: dict[str, list[Any]]


class Curves(msgspec.Struct, kw_only=True):
    series: list[Curve]


class RunOf(msgspec.Struct, kw_only=True):
    entity: Name
    project: Name
    run: Name


@endpoint("POST", "/api/v1/series", access="read", tag="series", body=SeriesBody, returns=Curves, produces=SERIES)
async def query_series(call: Call, body: SeriesBody) -> Response | Curves:
    """Return curves of runs, each at most so many buckets wide.

    A bucket stands for consecutive points and has their extremes, sum and count, NaN and infinities counted apart; if
    there are no more points than pixels, every bucket is one point. The binary answer is documented in wire-format.md.
    """
    if len(body.runs) * len(body.keys) > MAX_CURVES:
        raise Problem(
            422, detail=f"{len(body.runs)} runs times {len(body.keys)} keys; ask for {MAX_CURVES} curves at a time"
        )
    if len(body.runs) * len(body.keys) * body.pixels > MAX_BUCKETS:
        raise Problem(422, detail=f"curves times pixels may be {MAX_BUCKETS}; ask for fewer runs, keys or pixels")
    unknown = set(body.columns or ()) - COLUMNS.keys()
    if unknown:
        raise Problem(422, detail=f"there is no column {min(unknown)!r}; there are {', '.join(COLUMNS)}")
    rows = await readable_runs(call, body.runs)
    if etag := call.unchanged(_etag(body, rows)):
        return etag
    asks = [Ask(row.id, key, body.system, body.attempt, body.x_key) for row in rows for key in body.keys]
    if body.format == "binary":
        return Response(encode_series(await _encoded(call, body, rows, asks)), media_type=SERIES)
    names = {row.id: str(row.path) for row in rows}
    wanted = None if body.columns is None else set(body.columns)
    charts = await _charts(call, body, asks)

    def write() -> Curves:
        return Curves(series=[Curve(**curve_json(names[chart.ask.run_id], chart, wanted)) for chart in charts])

    return await call.in_thread(write)


async def _charts(call: Call, body: SeriesBody, asks: list[Ask]) -> list[Chart]:
    span = Span(body.axis, body.first, body.last)
    charts: list[Chart] = await call.in_thread(call.services.store.series.query, asks, span=span, pixels=body.pixels)
    return charts


async def _encoded(call: Call, body: SeriesBody, rows: list[RunRow], asks: list[Ask]) -> list[EncodedCurve]:
    """Return the curves as bytes; only those are made whose runs have changed since they were made last."""
    shelf, wanted = call.services.curves, None if body.columns is None else frozenset(body.columns)
    view = (body.axis, body.first, body.last, body.pixels, wanted)
    paths, versions = {row.id: str(row.path) for row in rows}, {row.id: row.version for row in rows}
    found = {ask: shelf.find((ask, paths[ask.run_id], versions[ask.run_id], view)) for ask in asks}
    missing = [ask for ask, curves in found.items() if curves is None]
    made: dict[Ask, list[EncodedCurve]] = {ask: [] for ask in missing}
    for chart in await _charts(call, body, missing) if missing else ():
        path = paths[chart.ask.run_id]
        made[chart.ask].append(curve_bytes(path, chart, wanted))
        if not (chart.is_forked or chart.ask.is_system):
            # By the chart's own version: the run may have moved on since its row was read.
            shelf.put((chart.ask, path, chart.version, view), made[chart.ask])
    encoded: list[EncodedCurve] = []
    for ask in asks:
        encoded += found[ask] or made[ask]
    return encoded


class HistoryQuery(msgspec.Struct, kw_only=True):
    """Which rows."""

    keys: list[Key] | None = None
    #: what was logged, or samples of the system; of those all keys, and `first` and `last` are times (ns)
    stream: Literal["default", "system"] = "default"
    first: Step | None = None
    last: Step | None = None
    #: from the answer before
    cursor: Step | None = None
    attempt: Annotated[int, msgspec.Meta(ge=0, le=MAX_I64)] | None = None
    limit: Annotated[int, msgspec.Meta(ge=1, le=10_000)] = 1000


class History(msgspec.Struct, kw_only=True):
    """Rows in step order, fewer than `limit` if they are wide."""

    items: list[dict[str, Any]]
    #: for the next page, with the same question; null after the last
    cursor: str | None


@endpoint(
    "GET",
    "/api/v1/runs/{entity}/{project}/{run}/history",
    access="read",
    tag="series",
    path=RunOf,
    query=HistoryQuery,
    returns=History,
)
async def read_history(call: Call, path: RunOf, query: HistoryQuery) -> History | Response:
    """Return what was logged, row by row, with `_step`, `_timestamp` and `_runtime`."""
    row = await readable_run(call, path)
    if unchanged := call.unchanged(weak_etag(row.id, row.version, question_digest(query))):
        return unchanged
    begin = query.first if query.cursor is None else query.cursor
    first = MIN_I64 if begin is None else begin
    last = MAX_I64 if query.last is None else query.last
    history = call.services.store.history
    if query.stream == "system":
        window = Window(first_time=first, last_time=last)
        items, following = await call.in_thread(history.system_page, row.id, window=window, limit=query.limit)
    else:
        window = Window(first_step=first, last_step=last)
        items, following = await call.in_thread(
            history.page, row.id, query.keys, window=window, attempt=query.attempt, limit=query.limit
        )
    return History(items=items, cursor=None if following is None else str(following))


async def readable_run(call: Call, path: RunOf) -> RunRow:
    """Return the row of the run that an address names, if the caller may see it."""
    entity = call.entity(path.entity)
    await call.require("read", entity, path.project)
    row: RunRow = await call.in_thread(call.services.store.runs.find, RunPath(entity, path.project, path.run))
    return row


async def readable_runs(call: Call, texts: list[str]) -> list[RunRow]:
    """Return the rows of runs by their paths, if the caller may see all of them."""
    paths = []
    for text in dict.fromkeys(texts):
        found = RunPath.parse(text)
        paths.append(RunPath(call.entity(found.entity), found.project, found.id))
    for entity, project in dict.fromkeys((path.entity, path.project) for path in paths):
        await call.require("read", entity, project)
    rows: list[RunRow] = await call.in_thread(call.services.store.runs.find_all, paths)
    return rows


def _etag(body: SeriesBody, rows: list[RunRow]) -> str:
    return weak_etag(question_digest([body, [(row.id, row.version) for row in rows]]))


def question_digest(question: Any) -> str:
    """Return what tells one question from another, in every process."""
    return hashlib.blake2b(msgspec.json.encode(question), digest_size=12).hexdigest()


ENDPOINTS = [query_series, read_history]
