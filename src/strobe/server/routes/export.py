"""Exports: the runs table of a project, and the history of a run, as CSV, JSON lines or Parquet, streamed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import msgspec
from msgspec import Meta
from starlette.responses import Response, StreamingResponse

from strobe.home import RunPath
from strobe.server.asked import FieldName, ProjectPlace, SortedRunsQuery
from strobe.server.endpoint import Call, endpoint
from strobe.server.fields import Key
from strobe.server.routes.files import RunPlace, find_run
from strobe.server.tabular import MEDIA_TYPES, ColumnKind, Format, Row, TableColumn, check_parquet, write_table
from strobe.store.database import Cursor as DatabaseCursor
from strobe.store.series import Window
from strobe.store.series.page import MAX_I64, MIN_I64
from strobe.store.store import Store
from strobe.store.values import Question
from strobe.store.values.field import split_field
from strobe.store.values.figure import SECTION as FIGURES
from strobe.store.values.measured import figures_asked

#: how long an export waits for figures that nobody has asked for before
_PATIENCE_S = 120.0
_RUNS_AT_ONCE = 500
_ROWS_AT_ONCE = 2000
_MAX_COLUMNS = 2000
#: the columns that a table of runs begins with
_OWN: dict[str, str] = {
    "id": "text", "display_name": "text", "state": "text", "created_at": "text", "runtime": "number", "tags": "json",
    "notes": "text", "group": "text", "job_type": "text", "username": "text", "host": "text",
}  # fmt: skip
_INTEGERS = ("created_ns", "started_ns", "ended_ns", "heartbeat_ns", "changed_ns", "num_rows")


class ExportQuery(SortedRunsQuery, kw_only=True):
    """Which runs, in which order, which fields, in which form."""

    format: Format = "csv"
    #: fields; all by default
    columns: Annotated[list[FieldName], Meta(max_length=_MAX_COLUMNS)] = msgspec.field(default_factory=list)


class HistoryExportQuery(msgspec.Struct, kw_only=True):
    format: Format = "csv"
    #: all that were logged by default
    keys: list[Key] = []
    attempt: Annotated[int, Meta(ge=0, le=MAX_I64)] | None = None


@endpoint(
    "GET",
    "/api/v1/projects/{entity}/{project}/export",
    path=ProjectPlace,
    query=ExportQuery,
    access="read",
    tag="export",
    produces="application/octet-stream",
)
async def export_runs(call: Call, path: ProjectPlace, query: ExportQuery) -> Response:
    """Export runs of a project, one row each."""
    entity = call.entity(path.entity)
    await call.require("read", entity, path.project)
    if query.format == "parquet":
        check_parquet()
    store, now_ns = call.services.store, call.services.clock()
    question = query.question(query.sort)

    def begin() -> tuple[list[TableColumn], Iterator[list[Row]]]:
        figures = figures_asked(question, query.columns)
        store.settler.measure(entity, path.project, figures, patience_s=_PATIENCE_S)
        columns = _columns(store, entity, path.project, query.columns)
        portions = _runs(store, entity, path.project, question, [column.name for column in columns], now_ns)
        return columns, portions

    return await _streamed(call, query.format, f"{path.project}-runs", begin)


@endpoint(
    "GET",
    "/api/v1/runs/{entity}/{project}/{run}/export",
    path=RunPlace,
    query=HistoryExportQuery,
    access="read",
    tag="export",
    produces="application/octet-stream",
)
async def export_history(call: Call, path: RunPlace, query: HistoryExportQuery) -> Response:
    """Export what a run logged, one row per step, with `_step`, `_runtime` and `_timestamp` (seconds)."""
    run = await find_run(call, path, "read")
    if query.format == "parquet":
        check_parquet()
    store = call.services.store

    def begin() -> tuple[list[TableColumn], Iterator[list[Row]]]:
        columns = _history_columns(store, run.path, run.id, query.keys)
        keys = [column.name for column in columns[3:]]
        return columns, _history(store, run.id, keys, query.attempt)

    return await _streamed(call, query.format, f"{path.run}-history", begin)


async def _streamed(call: Call, form: Format, name: str, begin: Any) -> Response:
    """Return the file; what is wrong with the question is found out before the answer begins."""

    def first() -> tuple[bytes, Iterator[bytes]]:
        columns, portions = begin()
        pieces = write_table(form, columns, portions)
        return next(pieces, b""), pieces

    beginning, rest = await call.in_thread(first)

    async def body() -> Any:
        yield beginning
        async for piece in call.in_pieces(rest):
            if piece:
                yield piece

    file_name = "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in name)
    headers = {"Content-Disposition": f'attachment; filename="{file_name}.{form}"', "Cache-Control": "no-store"}
    return StreamingResponse(body(), media_type=MEDIA_TYPES[form], headers=headers)


def _columns(store: Store, entity: str, project: str, wanted: list[str]) -> list[TableColumn]:
    found: dict[str, Any] = {}
    after = ""
    while len(found) < _MAX_COLUMNS:
        page = store.values.fields(entity, project, limit=_RUNS_AT_ONCE, after=after)
        found.update((facts.name, facts.kinds) for facts in page)
        if len(page) < _RUNS_AT_ONCE:
            break
        after = page[-1].name
    # A map is exported as its parts.
    names = wanted or [*_OWN, *(n for n in found if n.startswith(("config.", "summary.")) and found[n] != ["map"])]
    return [TableColumn(name, _kind(name, found.get(name, []))) for name in dict.fromkeys(names)]


def _kind(name: str, kinds: list[str]) -> Any:
    section, key = split_field(name)
    if not key:
        return "integer" if section in _INTEGERS else _OWN.get(section, "text")
    if section == FIGURES:
        return "number"
    plain = [kind for kind in kinds if kind != "null"]
    return plain[0] if len(plain) == 1 and plain[0] in ("number", "bool", "text") else "json"


def _runs(
    store: Store, entity: str, project: str, question: Question, names: list[str], now_ns: int
) -> Iterator[list[Row]]:
    after = None
    while True:
        page = store.values.page(entity, project, question, now_ns=now_ns, limit=_RUNS_AT_ONCE, after=after)
        items = store.values.items(page.run_ids)
        yield [{name: item.field(name, now_ns) for name in names} for item in items]
        if (after := page.cursor) is None:
            return


def _history_columns(store: Store, path: RunPath, run_id: int, keys: list[str]) -> list[TableColumn]:
    kinds = store.database.read(lambda cursor: _history_kinds(cursor, run_id))
    names = keys or store.runs.get(path).keys
    axes = [TableColumn("_step", "integer"), TableColumn("_runtime", "number"), TableColumn("_timestamp", "number")]
    return [*axes, *(TableColumn(name, kinds.get(name, "json")) for name in dict.fromkeys(names))]


def _history_kinds(cursor: DatabaseCursor, run_id: int) -> dict[str, ColumnKind]:
    """Return what the keys of a run hold that hold nothing but numbers, or nothing but text."""
    own = "run_id = ? AND lane = ''"
    logged = cursor.all(f"SELECT key, max(has_points), max(has_objects) FROM series WHERE {own} GROUP BY key", run_id)
    types: dict[str, set[str]] = {}
    for key, kind in cursor.all("SELECT DISTINCT key, type FROM object WHERE run_id = ?", run_id):
        types.setdefault(key, set()).add(kind)
    kinds: dict[str, ColumnKind] = {key: "number" for key, _, has_objects in logged if not has_objects}
    return kinds | {key: "text" for key, has_points, _ in logged if not has_points and types.get(key) == {"text"}}


def _history(store: Store, run_id: int, keys: list[str], attempt: int | None) -> Iterator[list[Row]]:
    first: int | None = MIN_I64
    while first is not None:
        window = Window(first_step=first, last_step=MAX_I64)
        rows, first = store.history.page(run_id, keys, window=window, attempt=attempt, limit=_ROWS_AT_ONCE)
        yield list(rows)


ENDPOINTS = [export_runs, export_history]
