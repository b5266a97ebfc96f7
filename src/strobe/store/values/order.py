"""Runs in the order of a field: along an index, or, when they are few, by sorting them.

The list has phases, each with keys of one kind: numbers, booleans, texts, then NaN, then the runs that lack the field.
The last two are last whichever way round; so are texts and numbers among each other turned round with the order. Runs
with equal keys are in the order in which the store met them. Both ways give the same list, so a bookmark that one of
them made is good for the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from strobe.errors import UsageError
from strobe.store.values.bookmark import Bookmark
from strobe.store.values.condition import Scope, Sql, is_kind
from strobe.store.values.field import Column, ColumnKind, Field, find_field
from strobe.store.values.leaf import Kind

Key = float | int | str
#: the phase of runs that lack the field, by the time at which they were made, and that of a column of the run's row
_MISSING, _COLUMN = 0, 1
#: columns that no run lacks
_ALWAYS = frozenset({"id", "state", "created_ns", "heartbeat_ns", "changed_ns", "num_rows", "entity", "project"})


@dataclass(frozen=True, slots=True)
class Sort:
    """By which field, and which way round."""

    field: Field
    is_descending: bool


@dataclass(frozen=True, slots=True)
class Chosen:
    """The runs that are meant: a condition on `r`, and a SELECT of few `run_id`s among which all of them are."""

    condition: Sql
    few: Sql | None = None

    @property
    def source(self) -> Sql:
        """What stands after FROM; CROSS JOIN is how SQLite is told where to begin."""
        if self.few is None:
            return Sql("run r")
        # The SELECT names each run once for each of its values that fit.
        return Sql("(SELECT DISTINCT run_id FROM (") + self.few + ") AS named) AS few CROSS JOIN run r"

    @property
    def joined(self) -> Sql:
        """What stands after WHERE."""
        return self.condition if self.few is None else Sql("r.id = few.run_id AND ") + self.condition


class Place(NamedTuple):
    """A run's place in the list."""

    phase: int
    key: Key
    run_id: int


@dataclass(frozen=True, slots=True)
class _Phase:
    number: int
    #: what stands between FROM and the condition
    rows: Sql
    key: Sql
    kind: ColumnKind
    run_id: Literal["r.id", "s.run_id"] = "r.id"


def parse_sort(sort: str) -> Sort:
    """Read "field", "+field" or "-field"."""
    found = find_field(sort[1:] if sort[:1] in ("+", "-") else sort)
    if isinstance(found, Column) and found.name == "created_at":
        found = find_field("created_ns")  # the same order, and an index has it
    return Sort(found, sort.startswith("-"))


def read(scope: Scope, chosen: Chosen, sort: Sort, start: Bookmark | None, limit: int) -> list[Place]:
    """Return up to `limit` places behind the bookmark."""
    phases = _phases(scope, sort)
    if start is not None:
        phases = _from(phases, start)
    return (_walk if chosen.few is None else _sort_few)(scope, chosen, sort, phases, start, limit)


def _phases(scope: Scope, sort: Sort) -> list[_Phase]:
    missing = Sql("run r WHERE ")
    if isinstance(sort.field, Column):
        key = scope.column(sort.field)
        if sort.field.name in _ALWAYS:
            return [_Phase(_COLUMN, missing, key, sort.field.kind)]
        return [
            _Phase(_COLUMN, missing + key + " IS NOT NULL AND ", key, sort.field.kind),
            _Phase(_MISSING, missing + key + " IS NULL AND ", Sql("r.created_ns"), "integer"),
        ]
    path_id = scope.path_id(sort.field)
    if path_id is None:
        return [_Phase(_MISSING, missing, Sql("r.created_ns"), "integer")]
    phases = [
        _indexed(path_id, Kind.NUMBER, "number", "number"),
        _indexed(path_id, Kind.BOOL, "number", "number"),
        _indexed(path_id, Kind.TEXT, "text", "text"),
    ]
    if sort.is_descending:
        phases.reverse()
    missing += Sql(
        "NOT EXISTS (SELECT 1 FROM value s WHERE s.run_id = r.id AND s.path_id = ? AND s.place = 0"
        f" AND s.kind <= {Kind.NAN:d}) AND ",
        (path_id,),
    )
    phases.append(_indexed(path_id, Kind.NAN, "run_id", "integer"))
    return [*phases, _Phase(_MISSING, missing, Sql("r.created_ns"), "integer")]


def _indexed(path_id: int, kind: Kind, key: str, key_kind: ColumnKind) -> _Phase:
    kind_is = is_kind(kind).replace("v.", "s.")
    rows = f"value s CROSS JOIN run r WHERE r.id = s.run_id AND s.path_id = ? AND {kind_is} AND s.place = 0 AND "
    # With a number to begin with, the rest of the index is in the order of runs.
    rows += "s.number IS NULL AND " if kind == Kind.NAN else ""
    return _Phase(kind, Sql(rows, (path_id,)), Sql(f"s.{key}"), key_kind, "s.run_id")


def _from(phases: list[_Phase], start: Bookmark) -> list[_Phase]:
    """Leave out the phases that were read; a bookmark that fits none was not made here."""
    kinds = {"text": str, "integer": int, "number": (int, float)}
    for index, phase in enumerate(phases):
        if phase.number == start.phase and isinstance(start.key, kinds[phase.kind]):  # type: ignore[arg-type]
            return phases[index:]
    raise UsageError("the cursor fits no place in this list; start again from the first page")


def _walk(
    scope: Scope, chosen: Chosen, sort: Sort, phases: list[_Phase], start: Bookmark | None, limit: int
) -> list[Place]:
    found: list[Place] = []
    turn = " DESC" if sort.is_descending else ""
    for phase in phases:
        rows = phase.rows
        if start is not None and phase.number == start.phase:
            sign = "<" if sort.is_descending else ">"
            last: Key = float(start.key) if phase.kind == "number" else start.key
            rows += Sql("(") + phase.key + Sql(f", {phase.run_id}) {sign} (?, ?) AND ", (last, start.run_id))
        sql = Sql("SELECT ") + phase.key + f", {phase.run_id} FROM " + rows + chosen.condition + " ORDER BY "
        sql += phase.key + Sql(f"{turn}, {phase.run_id}{turn} LIMIT ?", (limit - len(found),))
        found += [Place(phase.number, row[0], row[1]) for row in scope.cursor.all(sql.text, *sql.parameters)]
        if len(found) == limit:
            break
    return found


def _sort_few(
    scope: Scope, chosen: Chosen, sort: Sort, phases: list[_Phase], start: Bookmark | None, limit: int
) -> list[Place]:
    by_phase: dict[int, list[Place]] = {phase.number: [] for phase in phases}
    for place in _read_few(scope, chosen, sort):
        if place.phase in by_phase:  # else it lies before the bookmark
            by_phase[place.phase].append(place)
    if start is not None:
        last = (start.key, start.run_id)
        by_phase[start.phase] = [
            place
            for place in by_phase[start.phase]
            if ((place.key, place.run_id) < last if sort.is_descending else (place.key, place.run_id) > last)
        ]
    found = [sorted(places, reverse=sort.is_descending) for places in by_phase.values()]
    return [place for places in found for place in places][:limit]


def _read_few(scope: Scope, chosen: Chosen, sort: Sort) -> list[Place]:
    rest = chosen.source + " WHERE " + chosen.joined
    if isinstance(sort.field, Column):
        sql = Sql("SELECT r.id, r.created_ns, ") + scope.column(sort.field) + " FROM " + rest
        rows = scope.cursor.all(sql.text, *sql.parameters)
        return [Place(_MISSING, row[1], row[0]) if row[2] is None else Place(_COLUMN, row[2], row[0]) for row in rows]
    joined = " LEFT JOIN value s ON s.run_id = r.id AND s.path_id = ? AND s.place = 0 WHERE "
    sql = Sql("SELECT r.id, r.created_ns, s.kind, s.number, s.text FROM ") + chosen.source
    sql += Sql(joined, (scope.path_id(sort.field),)) + chosen.joined
    return [_placed(*row) for row in scope.cursor.all(sql.text, *sql.parameters)]


def _placed(run_id: int, created_ns: int, kind: int | None, number: float, text: str) -> Place:
    if kind in (Kind.NUMBER, Kind.BOOL):
        return Place(kind, number, run_id)
    if kind == Kind.TEXT:
        return Place(kind, text, run_id)
    return Place(kind, run_id, run_id) if kind == Kind.NAN else Place(_MISSING, created_ns, run_id)
