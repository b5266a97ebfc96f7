"""Filters of runs, taken apart: wandb's dictionaries become a small tree that knows neither runs nor SQL.

The language is that of `strobe.api.filter`, which reads a local home without a database; a test holds the two together.
It is bounded, so that no filter makes a statement that a database refuses.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from strobe.errors import UsageError
from strobe.store.values.field import Field, check_text, find_field
from strobe.store.values.leaf import MAX_TEXT, Leaf, leaf_of
from strobe.store.values.pattern import Pattern, compile_pattern

Comparison = Literal["<", "<=", ">", ">="]
_COMPARISONS: dict[str, Comparison] = {"$gt": ">", "$gte": ">=", "$lt": "<", "$lte": "<="}
_MAX_DEPTH = 20
_MAX_CONDITIONS = 500
_MAX_OPERANDS = 10_000


@dataclass(frozen=True, slots=True)
class All:
    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Not:
    part: Node


@dataclass(frozen=True, slots=True)
class Exists:
    field: Field


@dataclass(frozen=True, slots=True)
class OneOf:
    """The field, or an element of the list that it is, equals one of the values; None stands for absence too."""

    field: Field
    values: tuple[Any, ...]
    leaves: tuple[Leaf, ...]
    #: whether a long text counts by the beginning that the index has of it
    by_beginning: bool = False

    @property
    def is_absence_meant(self) -> bool:
        return any(value is None for value in self.values)


@dataclass(frozen=True, slots=True)
class Compare:
    """The field is of the operand's kind, and so much less or greater."""

    field: Field
    comparison: Comparison
    operand: float | int | str


@dataclass(frozen=True, slots=True)
class Matches:
    """The field, or an element of the list that it is, is a text in which the pattern occurs."""

    field: Field
    pattern: Pattern


@dataclass(frozen=True, slots=True)
class Like:
    """The field's own leaf is this one; None: it has none. What a group has in common."""

    field: Field
    leaf: Leaf | None


Node = All | AnyOf | Not | Exists | OneOf | Compare | Matches | Like
NOTHING = AnyOf(())
EVERYTHING = All(())


def parse_filter(filters: Mapping[str, Any] | None) -> Node:
    """Return the tree; raise UsageError for what is not understood."""
    return _Parser().filter(filters, 0)


class _Parser:
    def __init__(self) -> None:
        self._conditions = 0
        self._operands = 0

    def filter(self, filters: Any, depth: int) -> Node:
        if filters is None:
            return EVERYTHING
        if not isinstance(filters, Mapping):
            raise UsageError(f"filters must be a dict such as {{'state': 'finished'}}, got {_shown(filters)}")
        if depth > _MAX_DEPTH:
            raise UsageError(f"the filter is nested more than {_MAX_DEPTH} deep; write it flatter")
        return _all([self._part(str(key), condition, depth) for key, condition in filters.items()])

    def _part(self, key: str, condition: Any, depth: int) -> Node:
        if key in ("$and", "$or", "$nor"):
            if not isinstance(condition, (list, tuple)) or not condition:
                raise UsageError(f"{key} takes a non-empty list of filters, got {_shown(condition)}")
            parts = [self.filter(item, depth + 1) for item in condition]
            if key == "$and":
                return _all(parts)
            return AnyOf(tuple(parts)) if key == "$or" else Not(AnyOf(tuple(parts)))
        if key == "$not":
            return Not(self.filter(condition, depth + 1))
        if key.startswith("$"):
            raise _unknown(key)
        return self._condition(find_field(key), condition, depth)

    def _condition(self, field: Field, condition: Any, depth: int) -> Node:
        self._conditions += 1
        if self._conditions > _MAX_CONDITIONS or depth > _MAX_DEPTH:
            raise UsageError(f"the filter has more than {_MAX_CONDITIONS} conditions; use $in for many values")
        if isinstance(condition, Mapping) and any(str(key).startswith("$") for key in condition):
            return _all([self._operator(field, str(key), operand, depth) for key, operand in condition.items()])
        return self._one_of(field, [condition])

    def _operator(self, field: Field, operator: str, operand: Any, depth: int) -> Node:
        if operator == "$not":
            return Not(self._condition(field, operand, depth + 1))
        if operator == "$exists":
            return Exists(field) if operand else Not(Exists(field))
        if operator == "$regex":
            return Matches(field, compile_pattern(operand))
        if operator in ("$in", "$nin"):
            if not isinstance(operand, (list, tuple, set, frozenset)):
                raise UsageError(f"{operator} takes a list, got {_shown(operand)}")
            found = self._one_of(field, list(operand))
            return found if operator == "$in" else Not(found)
        if operator == "$eq":
            return self._one_of(field, [operand])
        if operator == "$ne":
            return Not(self._one_of(field, [operand]))
        if operator in _COMPARISONS:
            return _compare(field, operator, operand)
        raise _unknown(operator)

    def _one_of(self, field: Field, values: list[Any]) -> Node:
        self._operands += len(values)
        if self._operands > _MAX_OPERANDS:
            raise UsageError(f"the filter names more than {_MAX_OPERANDS} values; ask in several parts")
        for value in values:
            _check_texts(value, 0)
        return OneOf(field, tuple(values), tuple(map(leaf_of, values)))


def _compare(field: Field, operator: str, operand: Any) -> Node:
    comparison = _COMPARISONS[operator]
    if isinstance(operand, str):
        if len(check_text("value", operand)) >= MAX_TEXT:
            raise UsageError(f"{operator} compares texts of less than {MAX_TEXT} characters, got {len(operand)}")
        return Compare(field, comparison, operand)
    if isinstance(operand, (int, float)) and not isinstance(operand, bool) and not _is_nan(operand):
        return Compare(field, comparison, operand)
    return NOTHING  # values of other kinds are neither less nor greater than anything


def _is_nan(number: float) -> bool:
    return isinstance(number, float) and math.isnan(number)


def _check_texts(value: Any, depth: int) -> None:
    if depth > _MAX_DEPTH:
        raise UsageError(f"a value in the filter is nested more than {_MAX_DEPTH} deep")
    if isinstance(value, str):
        check_text("value", value)
    elif isinstance(value, Mapping):
        for key, item in value.items():
            check_text("key", str(key))
            _check_texts(item, depth + 1)
    elif isinstance(value, (list, tuple)):
        for item in value:
            _check_texts(item, depth + 1)


def _all(parts: list[Node]) -> Node:
    if len(parts) == 1:
        return parts[0]
    return All(tuple(inner for part in parts for inner in (part.parts if isinstance(part, All) else (part,))))


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:80]}…"


def _unknown(operator: str) -> UsageError:
    known = "$and $or $nor $not $eq $ne $gt $gte $lt $lte $in $nin $exists $regex"
    return UsageError(f"filter operator {operator[:40]} is not supported; use {known}")
