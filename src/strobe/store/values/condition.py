"""Filters as SQL: a tree becomes a condition on the run `r`, and, where it can, a way to find the runs by an index.

A condition is true or false, never NULL, so that negation means the same as in Python. Regular expressions are not left
to the databases, which read them differently and without an end: they are matched here, against each different text
that the project has under the path, and become the list of texts that match.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from strobe.store.database import Cursor, Dialect
from strobe.store.values import filter as tree
from strobe.store.values.field import Column, Field, Indexed
from strobe.store.values.leaf import Kind, Leaf, original, storable
from strobe.store.values.writing import path_ids

_INT64 = 2**63
_ISO = {
    "sqlite": "strftime('%Y-%m-%dT%H:%M:%SZ', r.created_ns / 1000000000, 'unixepoch')",
    "postgres": "to_char(to_timestamp(r.created_ns / 1000000000) AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"')",
}


@dataclass(frozen=True, slots=True)
class Sql:
    """A piece of SQL and its parameters."""

    text: str
    parameters: tuple[Any, ...] = ()

    def __add__(self, other: Sql | str) -> Sql:
        if isinstance(other, str):
            return Sql(self.text + other, self.parameters)
        return Sql(self.text + other.text, self.parameters + other.parameters)


TRUE, FALSE = Sql("1 = 1"), Sql("1 = 0")


@dataclass(frozen=True, slots=True)
class Scope:
    """What a filter is about: the runs of a project, and what is the same for all of them."""

    cursor: Cursor
    project_id: int
    entity: str
    project: str
    #: the time by which runs that are still running are measured
    now_ns: int
    _ids: dict[str, int | None] = field(default_factory=dict)

    @property
    def dialect(self) -> Dialect:
        return self.cursor.dialect

    def at(self, now_ns: int) -> Scope:
        """Return the same at another time."""
        return replace(self, now_ns=now_ns)

    def path_id(self, path: Indexed) -> int | None:
        """Return the path's number; None if no run of the project ever had it."""
        for name in (path.path, path.otherwise):
            if name is not None and name not in self._ids:
                self._ids[name] = path_ids(self.cursor, self.project_id, [name]).get(name)
            if name is not None and self._ids[name] is not None:
                return self._ids[name]
        return None

    def column(self, column: Column) -> Sql:
        """Return a field of the run's row."""
        text = _ISO[self.dialect.name] if column.sql == "{iso}" else column.sql
        return Sql(text, tuple(getattr(self, name) for name in column.parameters))


def condition(scope: Scope, node: tree.Node) -> Sql:
    """Return the condition that a run `r` must meet; TRUE or FALSE if it is the same for all."""
    if isinstance(node, tree.All):
        return _joined([condition(scope, part) for part in node.parts], " AND ", TRUE, FALSE)
    if isinstance(node, tree.AnyOf):
        return _joined([condition(scope, part) for part in node.parts], " OR ", FALSE, TRUE)
    if isinstance(node, tree.Not):
        found = condition(scope, node.part)
        if found in (TRUE, FALSE):
            return TRUE if found == FALSE else FALSE
        return Sql("NOT (") + found + ")"
    if isinstance(node.field, Column):
        return _on_column(scope, node, node.field)
    return _on_index(scope, node, node.field)


def drivers(scope: Scope, node: tree.Node) -> list[Sql]:
    """Return SELECTs of a `run_id`, by an index each, none of which leaves out a run that meets the condition."""
    if isinstance(node, tree.All):
        return [found for part in node.parts for found in drivers(scope, part)]
    if isinstance(node, tree.AnyOf):
        branches = [drivers(scope, part) for part in node.parts]
        if not branches or not all(branches):
            return []
        parts = [branch[0] for branch in branches]
        return [Sql(" UNION ".join(part.text for part in parts), tuple(p for part in parts for p in part.parameters))]
    if isinstance(node, tree.Not) or (isinstance(node, tree.OneOf) and _has_none(node)):
        return []
    if isinstance(node.field, Column):
        if not node.field.is_indexed or not isinstance(node, tree.OneOf):
            return []
        start = Sql("SELECT r.id AS run_id FROM run r WHERE r.project_id = ? AND ", (scope.project_id,))
        return [start + _on_column(scope, node, node.field)]
    path_id = scope.path_id(node.field)
    rows = None if path_id is None else _rows(scope, node, path_id, roughly=True)
    if rows is None or isinstance(node, tree.Exists):
        return []
    return [Sql("SELECT v.run_id FROM value v WHERE ") + rows]


def resolve_patterns(scope: Scope, node: tree.Node) -> tree.Node:
    """Return the tree with every regular expression replaced by the texts of this project that it matches."""
    if isinstance(node, (tree.All, tree.AnyOf)):
        return type(node)(tuple(resolve_patterns(scope, part) for part in node.parts))
    if isinstance(node, tree.Not):
        return tree.Not(resolve_patterns(scope, node.part))
    if not isinstance(node, tree.Matches):
        return node
    texts = _texts(scope, node.field)
    found = node.pattern.matching(map(original, texts))
    if not found:
        return tree.NOTHING
    leaves = tuple(Leaf(Kind.TEXT, None, storable(text)) for text in found)
    return tree.OneOf(node.field, tuple(found), leaves, by_beginning=True)


def _texts(scope: Scope, where: Field) -> list[str]:
    if isinstance(where, Column):
        expression = scope.column(where)
        sql = Sql("SELECT DISTINCT ") + expression + Sql(" FROM run r WHERE r.project_id = ?", (scope.project_id,))
        return [row[0] for row in scope.cursor.all(sql.text, *sql.parameters) if isinstance(row[0], str)]
    path_id = scope.path_id(where)
    if path_id is None:
        return []
    sql_text = "SELECT DISTINCT v.text FROM value v WHERE v.path_id = ? AND v.kind = 3"
    return [row[0] for row in scope.cursor.all(sql_text, path_id)]


# --- fields of the run's row


def _on_column(scope: Scope, node: tree.Node, where: Column) -> Sql:
    found = scope.column(where)
    present = found + " IS NOT NULL"
    if isinstance(node, tree.Exists):
        return present
    if isinstance(node, tree.Like):
        return _column_like(found, where, node.leaf)
    if isinstance(node, tree.OneOf):
        parts = [_column_equals(found, where, value) for value in node.values if not isinstance(value, str)]
        texts = [value for value in node.values if isinstance(value, str) and "\0" not in value]
        if texts and where.kind == "text":
            parts.append(Sql("(") + present + " AND " + found + _in(scope.dialect, texts) + ")")
        return _any(parts)
    assert isinstance(node, tree.Compare)
    if isinstance(node.operand, str) != (where.kind == "text"):
        return FALSE
    if isinstance(node.operand, str):
        operand: Any = node.operand.partition("\0")[0]  # no field of a run's row holds a NUL
    else:
        bounded = _bounded(node.comparison, node.operand) if where.kind == "integer" else _double(node.operand)
        if isinstance(bounded, bool):
            return present if bounded else FALSE
        operand = bounded
    return Sql("(") + present + " AND " + found + Sql(f" {node.comparison} ?)", (operand,))


def _column_equals(found: Sql, where: Column, value: Any) -> Sql:
    if value is None:
        return found + " IS NULL"
    if isinstance(value, bool) or not isinstance(value, (int, float)) or where.kind == "text":
        return FALSE
    if where.kind == "integer":
        if not (-_INT64 <= value < _INT64) or value != int(value):
            return FALSE
        value = int(value)
    elif value != value:
        return FALSE
    return Sql("(") + found + " IS NOT NULL AND " + found + Sql(" = ?)", (value,))


def _column_like(found: Sql, where: Column, leaf: Leaf | None) -> Sql:
    if leaf is None:
        return found + " IS NULL"
    if where.kind == "text":
        return Sql("(") + found + " IS NOT NULL AND " + found + Sql(" = ?)", (leaf.text,))
    if where.kind == "integer" and leaf.text:
        try:
            return _column_equals(found, where, int(leaf.text, 16))
        except ValueError:  # somebody made that group up
            return FALSE
    return _column_equals(found, where, leaf.number)


def _bounded(comparison: tree.Comparison, operand: float) -> int | bool:
    """Return the 64-bit integer that integers compare with as they do with `operand`, or the answer for all of them."""
    if operand >= _INT64:
        return comparison in ("<", "<=")
    if operand < -_INT64:
        return comparison in (">", ">=")
    return math.floor(operand) if comparison in ("<=", ">") else math.ceil(operand)


# --- values of the index


def _on_index(scope: Scope, node: tree.Node, where: Indexed) -> Sql:
    path_id = scope.path_id(where)
    is_absence_meant = (isinstance(node, tree.Like) and node.leaf is None) or (
        isinstance(node, tree.OneOf) and _has_none(node)
    )
    if path_id is None:
        return TRUE if is_absence_meant else FALSE
    rows = _rows(scope, node, path_id)
    found = FALSE if rows is None else _exists(scope.dialect, rows)
    if not is_absence_meant:
        return found
    return _any([found, Sql("NOT ") + _exists(scope.dialect, Sql("v.path_id = ? AND v.place = 0", (path_id,)))])


def _rows(scope: Scope, node: tree.Node, path_id: int, *, roughly: bool = False) -> Sql | None:
    """Return the condition on rows `v` of the index that show that the run is meant; None if no row can.

    `roughly` leaves out what the indexes do not have, so that rows may be found that do not show it.
    """
    start = Sql("v.path_id = ?", (path_id,))
    if isinstance(node, tree.Exists):
        return start + " AND v.place = 0"
    if isinstance(node, tree.Like):
        return None if node.leaf is None else start + " AND v.place = 0 AND " + _leaf_is(node.leaf, roughly)
    if isinstance(node, tree.Compare):
        operand: float | str
        if isinstance(node.operand, str):
            name, kind, operand = "text", Kind.TEXT, storable(node.operand)
        else:
            name, kind, operand = "number", Kind.NUMBER, _double(node.operand)
        return start + Sql(f" AND v.place = 0 AND {is_kind(kind)} AND v.{name} {node.comparison} ?", (operand,))
    assert isinstance(node, tree.OneOf)
    parts = _one_of(scope.dialect, node.leaves, roughly=roughly or node.by_beginning)
    return start + " AND " + _any(parts) if parts else None


def is_kind(kind: int) -> str:
    """Return the condition that rows `v` are of a kind, in the words that the indexes are declared with."""
    return f"v.kind = {kind:d}" + ("" if kind == Kind.TEXT else f" AND v.kind <> {Kind.TEXT:d}")


def _one_of(dialect: Dialect, leaves: Iterable[Leaf], *, roughly: bool) -> list[Sql]:
    """Return conditions on rows `v`, one for all short texts and one for all numbers together."""
    texts, numbers, others = [], [], []
    for leaf in leaves:
        if leaf.kind == Kind.TEXT and leaf.digest is None:
            texts.append(leaf.text)
        elif leaf.kind == Kind.NUMBER and leaf.text is None:
            numbers.append(leaf.number)
        else:
            others.append(leaf)
    parts = [_leaf_is(leaf, roughly) for leaf in dict.fromkeys(others)]
    if texts:
        whole = "" if roughly else " AND v.digest IS NULL"
        parts.append(Sql(f"({is_kind(Kind.TEXT)}{whole} AND v.text") + _in(dialect, texts) + ")")
    if numbers:
        exact = "" if roughly else " AND v.text IS NULL"
        parts.append(Sql(f"({is_kind(Kind.NUMBER)}{exact} AND v.number") + _in(dialect, numbers) + ")")
    return parts


def _leaf_is(leaf: Leaf, roughly: bool) -> Sql:
    text, parameters = is_kind(leaf.kind), []
    indexed = ("text",) if leaf.kind == Kind.TEXT else ("number",)
    for name in indexed if roughly else ("number", "text", "digest"):
        found = getattr(leaf, name)
        if found is not None:
            text += f" AND v.{name} = ?"
            parameters.append(found)
        elif name != "number":
            text += f" AND v.{name} IS NULL"
    return Sql(f"({text})", tuple(parameters))


def _exists(dialect: Dialect, rows: Sql) -> Sql:
    if dialect.name == "sqlite":
        # The plus keeps it from going through all values of the path, rather than all values of the run.
        rows = Sql(rows.text.replace("v.kind", "+v.kind"), rows.parameters)
    return Sql("EXISTS (SELECT 1 FROM value v WHERE v.run_id = r.id AND ") + rows + ")"


def _in(dialect: Dialect, items: Sequence[Any]) -> Sql:
    """Return ` = one of them`, with one parameter however many there are."""
    if len(items) == 1:
        return Sql(" = ?", (items[0],))
    if dialect.name == "postgres":
        return Sql(" = ANY(?)", (list(items),))
    # JSON has no infinities, but SQLite reads a number that is too large as one.
    text = json.dumps(items, ensure_ascii=False).replace("Infinity", "1e999") if _are_numbers(items) else None
    return Sql(" IN (SELECT value FROM json_each(?))", (text or json.dumps(items, ensure_ascii=False),))


def _are_numbers(items: Sequence[Any]) -> bool:
    return not isinstance(items[0], str)


def _double(number: float) -> float:
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def _has_none(node: tree.OneOf) -> bool:
    return any(value is None for value in node.values)


def _joined(parts: Sequence[Sql], by: str, neutral: Sql, deciding: Sql) -> Sql:
    if deciding in parts:
        return deciding
    parts = [part for part in parts if part != neutral]
    if len(parts) < 2:
        return parts[0] if parts else neutral
    text = by.join(f"({part.text})" for part in parts)
    return Sql(f"({text})", tuple(parameter for part in parts for parameter in part.parameters))


def _any(parts: Sequence[Sql]) -> Sql:
    return _joined(parts, " OR ", FALSE, TRUE)
