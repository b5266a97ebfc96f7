"""The order of runs by a field, as far as indexes have it.

The list has phases, each with keys of one kind: numbers, booleans, texts, then NaN, then the runs that lack the field.
The last two are last whichever way round; so are texts and numbers among each other turned round with the order. Runs
with equal keys are in the order in which the store met them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from strobe.errors import UsageError
from strobe.store.values.bookmark import Bookmark
from strobe.store.values.field import Column, ColumnKind, Field, find_field
from strobe.store.values.index_condition import is_kind
from strobe.store.values.leaf import Kind
from strobe.store.values.scope import Scope
from strobe.store.values.sql import Sql

Key = float | int | str
#: the phase of runs that lack the field, by the time at which they were made, and that of a column of the run's row
MISSING, COLUMN = 0, 1
#: columns that no run lacks
_ALWAYS = frozenset({"id", "state", "created_ns", "heartbeat_ns", "changed_ns", "num_rows", "entity", "project"})


@dataclass(frozen=True, slots=True)
class Sort:
    """By which field, and which way round."""

    field: Field
    is_descending: bool


class Place(NamedTuple):
    """A run's place in the list."""

    phase: int
    key: Key
    run_id: int


@dataclass(frozen=True, slots=True)
class Phase:
    """Runs whose keys are of one kind, and how they are read in order."""

    number: int
    #: what stands after FROM, up to a last AND
    rows: Sql
    key: Sql
    kind: ColumnKind
    run_id: Literal["r.id", "s.run_id"] = "r.id"
    #: whether an index has them in this order
    is_indexed: bool = True


def parse_sort(sort: str) -> Sort:
    """Read "field", "+field" or "-field"."""
    found = find_field(sort[1:] if sort[:1] in ("+", "-") else sort)
    if isinstance(found, Column) and found.name == "created_at":
        found = find_field("created_ns")  # the same order, and an index has it
    return Sort(found, sort.startswith("-"))


def phases(scope: Scope, sort: Sort) -> list[Phase]:
    """Return the phases of a list, in its order."""
    missing = Sql("run r WHERE r.project_id = ? AND ", (scope.project_id,))
    if isinstance(sort.field, Column):
        key = scope.column(sort.field)
        if sort.field.name in _ALWAYS:
            is_indexed = sort.field.name in ("id", "created_ns")
            return [Phase(COLUMN, missing, key, sort.field.kind, is_indexed=is_indexed)]
        return [
            Phase(COLUMN, missing + key + " IS NOT NULL AND ", key, sort.field.kind, is_indexed=False),
            Phase(MISSING, missing + key + " IS NULL AND ", Sql("r.created_ns"), "integer"),
        ]
    path_id = scope.path_id(sort.field)
    if path_id is None:
        return [Phase(MISSING, missing, Sql("r.created_ns"), "integer")]
    found = [
        _indexed(path_id, Kind.NUMBER, "number", "number"),
        _indexed(path_id, Kind.BOOL, "number", "number"),
        _indexed(path_id, Kind.TEXT, "text", "text"),
    ]
    if sort.is_descending:
        found.reverse()
    missing += Sql(
        "NOT EXISTS (SELECT 1 FROM value s WHERE s.run_id = r.id AND s.path_id = ? AND s.place = 0"
        f" AND s.kind <= {Kind.NAN:d}) AND ",
        (path_id,),
    )
    found.append(_indexed(path_id, Kind.NAN, "run_id", "integer"))
    return [*found, Phase(MISSING, missing, Sql("r.created_ns"), "integer")]


def _indexed(path_id: int, kind: Kind, key: str, key_kind: ColumnKind) -> Phase:
    kind_is = is_kind(kind).replace("v.", "s.")
    rows = f"value s WHERE s.path_id = ? AND {kind_is} AND s.place = 0 AND "
    # With a number to begin with, the rest of the index is in the order of runs.
    rows += "s.number IS NULL AND " if kind == Kind.NAN else ""
    return Phase(kind, Sql(rows, (path_id,)), Sql(f"s.{key}"), key_kind, "s.run_id")


def phases_from(found: list[Phase], start: Bookmark) -> list[Phase]:
    """Leave out the phases that were read; a bookmark that fits none was not made here."""
    for index, phase in enumerate(found):
        if phase.number == start.phase and _fits(start.key, phase.kind):
            return found[index:]
    raise UsageError("the cursor fits no place in this list; start again from the first page")


def _fits(key: Key, kind: ColumnKind) -> bool:
    if kind == "text":
        return isinstance(key, str)
    return isinstance(key, int) or (kind == "number" and isinstance(key, float))
