"""Conditions on values of the index: that a run has a row which shows it, or has none."""

from __future__ import annotations

from collections.abc import Iterable

from strobe.store.database import Dialect
from strobe.store.values import filter as tree
from strobe.store.values.field import Indexed
from strobe.store.values.leaf import Kind, Leaf, storable
from strobe.store.values.scope import Scope
from strobe.store.values.sql import FALSE, TRUE, Sql, any_of, double, in_list


def on_index(scope: Scope, node: tree.Node, where: Indexed) -> Sql:
    """Return the condition on a value of the index."""
    path_id = scope.path_id(where)
    is_absence_meant = (isinstance(node, tree.Like) and node.leaf is None) or (
        isinstance(node, tree.OneOf) and node.is_absence_meant
    )
    if path_id is None:
        return TRUE if is_absence_meant else FALSE
    rows = rows_of(scope, node, path_id)
    found = FALSE if rows is None else _exists(scope.dialect, rows)
    if not is_absence_meant:
        return found
    return any_of([found, Sql("NOT ") + _exists(scope.dialect, Sql("v.path_id = ? AND v.place = 0", (path_id,)))])


def rows_of(scope: Scope, node: tree.Node, path_id: int, *, roughly: bool = False) -> Sql | None:
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
            name, kind, operand = "number", Kind.NUMBER, double(node.operand)
        return start + Sql(f" AND v.place = 0 AND {is_kind(kind)} AND v.{name} {node.comparison} ?", (operand,))
    assert isinstance(node, tree.OneOf)
    parts = _one_of(scope.dialect, node.leaves, roughly=roughly or node.by_beginning)
    return start + " AND " + any_of(parts) if parts else None


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
        parts.append(Sql(f"({is_kind(Kind.TEXT)}{whole} AND v.text") + in_list(dialect, texts) + ")")
    if numbers:
        exact = "" if roughly else " AND v.text IS NULL"
        parts.append(Sql(f"({is_kind(Kind.NUMBER)}{exact} AND v.number") + in_list(dialect, numbers) + ")")
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
    # Runs are tried one by one. The databases are kept from going through all values of a path instead: no index has
    # the kind plus nothing, and an OFFSET keeps PostgreSQL from making a join of it.
    tried = Sql(rows.text.replace("v.kind", "(v.kind + 0)"), rows.parameters)
    barrier = " OFFSET 0" if dialect.name == "postgres" else ""
    return Sql("EXISTS (SELECT 1 FROM value v WHERE v.run_id = r.id AND ") + tried + f"{barrier})"
