"""`/chart.svg`: a chart by its address, for READMEs, papers, chat and whoever has no script to draw with.

It reads what the series endpoint reads, under the same rules. Of a project that is public it may be shown by any page;
other charts are for the server's own pages, or for whoever has a signed link to one (routes/links.py).
"""

from __future__ import annotations

import hashlib
import math
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta
from starlette.responses import Response

from strobe._version import __version__
from strobe.drawing import Figure, ScaleKind, Smoothing, Theme, XKind, draw
from strobe.server.chart_lines import lines_of
from strobe.server.endpoint import Call, endpoint, weak_etag
from strobe.server.fields import Key, PathText
from strobe.server.problem import Problem
from strobe.server.routes.series import readable_runs
from strobe.store.charts import Ask, Axis, Span
from strobe.store.runs import RunRow
from strobe.store.series.page import MAX_I64, MIN_I64

SVG = "image/svg+xml"
#: lines of one chart, and buckets of all of them: nobody sees more
MAX_LINES = 100
MAX_BUCKETS = 40_000
#: how old a chart of a public project may be that somebody else keeps for its readers
_MAX_AGE_S = 60
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'self'"


class ChartQuery(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """What is drawn: every key of every run."""

    #: paths: entity/project/run
    run: Annotated[list[PathText], Meta(min_length=1, max_length=MAX_LINES)]
    key: Annotated[list[Key], Meta(min_length=1, max_length=MAX_LINES)]
    x: Literal["step", "relative", "wall"] = "step"
    #: samples of the system instead of what was logged
    system: bool = False
    x_scale: Literal["linear", "log"] = "linear"
    y: ScaleKind = "linear"
    #: from 0, as it was logged, up to 1; the line itself stays, faint
    smooth: Annotated[float, Meta(ge=0, lt=1)] = 0.0
    smooth_kind: Smoothing = "ema"
    #: by default the key, if there is one
    title: Annotated[str, Meta(max_length=300)] | None = None
    legend: bool = True
    width: Annotated[int, Meta(ge=120, le=4000)] = 720
    height: Annotated[int, Meta(ge=80, le=4000)] = 400
    theme: Theme = "auto"
    #: a range of x, ends included: steps, seconds since the start, or seconds since the epoch
    first: float | None = None
    last: float | None = None
    #: how many buckets a line has at most; by default the width, fewer if there are many lines
    pixels: Annotated[int, Meta(ge=1, le=4000)] | None = None


_AXES: dict[str, tuple[Axis, XKind, str]] = {
    "step": ("step", "number", "step"),
    "relative": ("relative", "duration", "time since the start"),
    "wall": ("time", "time", "time (UTC)"),
}


@endpoint("GET", "/chart.svg", access="read", tag="series", query=ChartQuery, produces=SVG)
async def get_chart(call: Call, query: ChartQuery) -> Response:
    """Return a line chart of runs as SVG.

    Each line is the mean of its buckets, the band around it their extremes; crosses and arrows are NaN and infinities.
    `run` and `key` may be given many times. The address of a public project's chart can be embedded anywhere.
    """
    check(query)
    rows = await readable_runs(call, query.run)
    return await answer(call, query, rows, is_open=not call.caller.is_known and not call.caller.is_local)


async def answer(call: Call, query: ChartQuery, rows: list[RunRow], *, is_open: bool) -> Response:
    """Return the chart of runs that the caller may see; what is `open` may be kept and shown by others."""
    if is_open:
        call.headers["Cache-Control"] = f"public, max-age={_MAX_AGE_S}"
        call.headers["Cross-Origin-Resource-Policy"] = "cross-origin"
    call.headers["Content-Security-Policy"] = _POLICY
    seen = msgspec.json.encode([__version__, query, [(row.id, row.version) for row in rows]])
    if unchanged := call.unchanged(weak_etag(hashlib.blake2b(seen, digest_size=12).hexdigest())):
        return unchanged
    return Response(await call.in_thread(_drawn, call.services.store, query, rows), media_type=SVG)


def _drawn(store: Any, query: ChartQuery, rows: list[RunRow]) -> str:
    axis, x_kind, x_label = _AXES[query.x]
    asks = [Ask(row.id, key, query.system) for row in rows for key in dict.fromkeys(query.key)]
    span = Span(axis, _place(query, query.first), _place(query, query.last))
    pixels = query.pixels or min(query.width, MAX_BUCKETS // len(asks))
    charts = store.series.query(asks, span=span, pixels=pixels)
    names = dict(zip((row.id for row in rows), store.runs.names(rows), strict=True))
    lines = lines_of(charts, names, axis=axis, amount=query.smooth, kind=query.smooth_kind, is_log=query.y == "log")
    drawn = {chart.ask for chart in charts if len(chart.buckets)}
    missing = len(asks) - len(drawn)
    return draw(
        Figure(
            lines=lines,
            title=(query.key[0] if len(set(query.key)) == 1 else "") if query.title is None else query.title,
            x_label=x_label,
            x_kind=x_kind,
            x_scale=query.x_scale,
            y_scale=query.y,
            x_first=_start(query),
            x_last=query.last,
            width=query.width,
            height=query.height,
            theme=query.theme,
            has_legend=query.legend,
            note=f"{missing:,} of {len(asks):,} lines have no points here" if missing and drawn else "",
        )
    )


def check(query: ChartQuery) -> None:
    """Raise a problem for what cannot be drawn."""
    num_lines = len(set(query.run)) * len(set(query.key))
    if num_lines > MAX_LINES:
        raise Problem(422, detail=f"{num_lines} lines; a chart has {MAX_LINES} at most, name fewer runs or keys")
    if num_lines * (query.pixels or 1) > MAX_BUCKETS:
        raise Problem(422, detail=f"lines times pixels may be {MAX_BUCKETS}; ask for fewer runs, keys or pixels")
    for name, end in (("first", query.first), ("last", query.last)):
        if end is not None and not math.isfinite(end):
            raise Problem(422, detail=f"{name} is {end}; give a number, or leave it out")
    if query.first is not None and query.last is not None and query.first > query.last:
        raise Problem(422, detail=f"first ({query.first:g}) lies after last ({query.last:g})")
    if math.isnan(query.smooth):
        raise Problem(422, detail="smooth is NaN; give a number from 0 up to 1")


def _start(query: ChartQuery) -> float | None:
    """Return where x begins, if not where the data does: time since the start is seen from there."""
    is_whole = query.first is None and (query.last is None or query.last > 0)
    return 0.0 if query.x == "relative" and query.x_scale == "linear" and is_whole else query.first


def _place(query: ChartQuery, end: float | None) -> int | None:
    """Return an end of x in what the store counts in: steps or nanoseconds."""
    if end is None:
        return None
    scale = 1 if query.x == "step" else 10**9
    return max(MIN_I64, min(MAX_I64, round(max(-1e19, min(1e19, end)) * scale)))


ENDPOINTS = [get_chart]
