"""Conditions on fields of the run's own row, which may be absent (NULL), but never of another kind than they are."""

from __future__ import annotations

import math
from typing import Any

from strobe.store.values import filter as tree
from strobe.store.values.field import Column
from strobe.store.values.leaf import Leaf
from strobe.store.values.scope import Scope
from strobe.store.values.sql import FALSE, Sql, any_of, double, in_list

_INT64 = 2**63


def on_column(scope: Scope, node: tree.Node, where: Column) -> Sql:
    """Return the condition on a field of the run's row."""
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
            parts.append(Sql("(") + present + " AND " + found + in_list(scope.dialect, texts) + ")")
        return any_of(parts)
    assert isinstance(node, tree.Compare)
    if isinstance(node.operand, str) != (where.kind == "text"):
        return FALSE
    if isinstance(node.operand, str):
        operand: Any = node.operand.partition("\0")[0]  # no field of a run's row holds a NUL
    else:
        bounded = _bounded(node.comparison, node.operand) if where.kind == "integer" else double(node.operand)
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
