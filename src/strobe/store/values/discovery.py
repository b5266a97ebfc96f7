"""Which fields there are in a project, and what values: what a person who writes a filter is offered."""

from __future__ import annotations

from dataclasses import dataclass

from strobe.errors import UsageError
from strobe.store.database import Cursor
from strobe.store.projects import Access
from strobe.store.values.field import Column, check_text, find_field
from strobe.store.values.figure import SECTION
from strobe.store.values.index_condition import is_kind
from strobe.store.values.leaf import Kind, original, storable
from strobe.store.values.scope import Scope
from strobe.store.values.sql import Sql

MAX_FIELDS = 1000
#: runs are counted this far
MAX_COUNT = 10_000
_LAST = "\U0010ffff"
_KINDS = {Kind.NUMBER: "number", Kind.BOOL: "bool", Kind.TEXT: "text", Kind.NAN: "number", Kind.NULL: "null",
          Kind.LIST: "list", Kind.MAP: "map", Kind.OTHER: "other"}  # fmt: skip


@dataclass(frozen=True, slots=True)
class FieldFacts:
    """A field and the values that runs have there."""

    name: str
    #: number, bool, text, list, map, null, other: those that occur, the most usual first
    kinds: list[str]
    #: how many runs have it; MAX_COUNT may stand for more
    num_runs: int
    #: of the numbers
    min: float | None
    max: float | None


def read_fields(
    cursor: Cursor, project_id: int, *, prefix: str, contains: str, limit: int, after: str
) -> list[FieldFacts]:
    """Return fields in the order of their names, those that lie behind `after`."""
    if not 1 <= limit <= MAX_FIELDS:
        raise UsageError(f"fields are listed 1 to {MAX_FIELDS} at a time, got {limit}")
    start, part = storable(check_text("prefix", prefix)), storable(check_text("text", contains))
    sql = (
        "SELECT p.id, p.name FROM path p WHERE p.project_id = ? AND p.name > ? AND p.name >= ? AND p.name <= ?"
        f" AND NOT (p.name >= '{SECTION}.' AND p.name < '{SECTION}/')"  # which of them are held is nobody's business
        " AND (EXISTS (SELECT 1 FROM value v WHERE v.path_id = p.id AND v.kind <> 3)"
        " OR EXISTS (SELECT 1 FROM value v WHERE v.path_id = p.id AND v.kind = 3))"
    )
    parameters = [project_id, storable(check_text("cursor", after)), start, start + _LAST]
    if part:
        sql += " AND lower(p.name) LIKE ? ESCAPE '!'"
        parameters.append(f"%{_escaped(part.lower())}%")
    rows = cursor.all(f"{sql} ORDER BY p.name LIMIT ?", *parameters, limit)
    return [_facts(cursor, path_id, original(name)) for path_id, name in rows]


def read_texts(scope: Scope, field: str, *, prefix: str, limit: int) -> list[str]:
    """Return different texts of a field that begin with `prefix`."""
    where = find_field(field)
    start = storable(check_text("prefix", prefix))
    if isinstance(where, Column):
        if where.kind != "text":
            return []
        text = scope.column(where)
        rows = Sql("run r WHERE r.project_id = ? AND r.deleted_ns IS NULL", (scope.project_id,))
    else:
        text = Sql("v.text")
        rows = Sql("value v WHERE v.path_id = ? AND v.kind = 3", (scope.path_id(where),))
    sql = Sql("SELECT DISTINCT ") + text + " FROM " + rows + " AND " + text + Sql(" >= ? AND ", (start,))
    sql += text + Sql(" <= ? ORDER BY 1 LIMIT ?", (start + _LAST, limit))
    return [original(row[0]) for row in scope.cursor.all(sql.text, *sql.parameters)]


@dataclass(frozen=True, slots=True)
class ProjectWith:
    """A project, and its runs that have a text at a field."""

    entity: str
    project: str
    access: Access
    num_runs: int
    newest_ns: int
    #: another one as soon as one of these runs has changed, has come or has gone
    state: str


def read_projects_with(cursor: Cursor, field: str, text: str) -> list[ProjectWith]:
    """Return the projects that have such runs, by name; deleted runs do not count."""
    rows = cursor.all(
        "SELECT pr.entity, pr.name, pr.access, count(*), max(r.created_ns), sum(r.version), max(r.changed_ns)"
        " FROM project pr JOIN path p ON p.project_id = pr.id AND p.name = ?"
        " JOIN value v ON v.path_id = p.id AND v.text = ? AND v.kind = 3"
        " JOIN run r ON r.id = v.run_id AND r.deleted_ns IS NULL"
        " GROUP BY pr.id, pr.entity, pr.name, pr.access ORDER BY pr.entity, pr.name",
        field,
        storable(check_text("text", text)),
    )
    return [
        ProjectWith(entity, project, access, count, newest_ns, f"{count}-{version}-{changed_ns}")
        for entity, project, access, count, newest_ns, version, changed_ns in rows
    ]


def _facts(cursor: Cursor, path_id: int, name: str) -> FieldFacts:
    counts = {kind: count for kind in Kind if (count := _count(cursor, path_id, kind))}
    kinds = sorted(counts, key=lambda kind: -counts[kind])
    low = high = None
    if Kind.NUMBER in counts:
        # Each end is the first row of the index from its side.
        number = f"FROM value v WHERE v.path_id = ? AND {is_kind(Kind.NUMBER)}"
        ends = cursor.one(f"SELECT (SELECT min(v.number) {number}), (SELECT max(v.number) {number})", path_id, path_id)
        assert ends is not None
        low, high = ends
    names = list(dict.fromkeys(_KINDS[kind] for kind in kinds))
    return FieldFacts(name, names, min(MAX_COUNT, sum(counts.values())), low, high)


def _count(cursor: Cursor, path_id: int, kind: Kind) -> int:
    rows = f"SELECT 1 AS one FROM value v WHERE v.path_id = ? AND {is_kind(kind)} AND v.place = 0 LIMIT ?"
    found = cursor.one(f"SELECT count(*) FROM ({rows}) AS counted", path_id, MAX_COUNT)
    assert found is not None
    return int(found[0])


def _escaped(text: str) -> str:
    return text.replace("!", "!!").replace("%", "!%").replace("_", "!_")
