"""Filters as SQL: a tree becomes a condition on the run `r`, and, where it can, a way to find the runs by an index.

A condition is true or false, never NULL, so that negation means the same as in Python. Regular expressions are not left
to the databases, which read them differently and without an end: they are matched here, against each different text
that the project has under the path, and become the list of texts that match.
"""

from __future__ import annotations

from strobe.store.values import filter as tree
from strobe.store.values.field import Column, Field
from strobe.store.values.index_condition import on_index, rows_of
from strobe.store.values.leaf import Kind, Leaf, original, storable
from strobe.store.values.own_condition import on_column
from strobe.store.values.scope import Scope
from strobe.store.values.sql import FALSE, TRUE, Sql, joined


def condition(scope: Scope, node: tree.Node) -> Sql:
    """Return the condition that a run `r` must meet; TRUE or FALSE if it is the same for all."""
    if isinstance(node, tree.All):
        return joined([condition(scope, part) for part in node.parts], " AND ", TRUE, FALSE)
    if isinstance(node, tree.AnyOf):
        return joined([condition(scope, part) for part in node.parts], " OR ", FALSE, TRUE)
    if isinstance(node, tree.Not):
        found = condition(scope, node.part)
        if found in (TRUE, FALSE):
            return TRUE if found == FALSE else FALSE
        return Sql("NOT (") + found + ")"
    if isinstance(node.field, Column):
        return on_column(scope, node, node.field)
    return on_index(scope, node, node.field)


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
    if isinstance(node, tree.Not) or (isinstance(node, tree.OneOf) and node.is_absence_meant):
        return []
    if isinstance(node.field, Column):
        if not node.field.is_indexed or not isinstance(node, tree.OneOf):
            return []
        start = Sql("SELECT r.id AS run_id FROM run r WHERE r.project_id = ? AND ", (scope.project_id,))
        return [start + on_column(scope, node, node.field)]
    path_id = scope.path_id(node.field)
    rows = None if path_id is None else rows_of(scope, node, path_id, roughly=True)
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
