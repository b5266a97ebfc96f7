"""Which runs are meant: wandb's filter dictionaries, the small part that needs no query engine.

    {"state": "finished", "config.lr": {"$lt": 0.1}, "$or": [{"tags": "good"}, {"tags": "maybe"}]}

Fields are looked up by a function given by the caller, so that nothing here knows what a run is. A field that
is absent matches only `None`, `$exists: False`, `$ne` and `$nin`, as in MongoDB. Values of different kinds
are neither less nor greater than each other.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from strobe.errors import UsageError

Lookup = Callable[[str], Any]
Predicate = Callable[[Lookup], bool]


class _Absent:
    def __repr__(self) -> str:
        return "ABSENT"


#: what a lookup returns for a field that the run does not have
ABSENT: Any = _Absent()


def compile_filter(filters: Mapping[str, Any] | None) -> Predicate:
    """Return a test for runs; raise UsageError for what is not understood, before any run is read."""
    if not filters:
        return lambda lookup: True
    if not isinstance(filters, Mapping):
        raise UsageError(f"filters must be a dict such as {{'state': 'finished'}}, got {filters!r}")
    parts = [_part(key, condition) for key, condition in filters.items()]
    return lambda lookup: all(part(lookup) for part in parts)


def _part(key: str, condition: Any) -> Predicate:
    if key in ("$and", "$or", "$nor"):
        if not isinstance(condition, (list, tuple)) or not condition:
            raise UsageError(f"{key} takes a non-empty list of filters, got {condition!r}")
        parts = [compile_filter(item) for item in condition]
        if key == "$and":
            return lambda lookup: all(part(lookup) for part in parts)
        if key == "$or":
            return lambda lookup: any(part(lookup) for part in parts)
        return lambda lookup: not any(part(lookup) for part in parts)
    if key == "$not":
        inner = compile_filter(condition)
        return lambda lookup: not inner(lookup)
    if key.startswith("$"):
        raise _unknown(key)
    test = _condition(condition)
    return lambda lookup: test(lookup(key))


def _condition(condition: Any) -> Callable[[Any], bool]:
    if isinstance(condition, Mapping) and any(str(key).startswith("$") for key in condition):
        tests = [_operator(str(operator), operand) for operator, operand in condition.items()]
        return lambda value: all(test(value) for test in tests)
    return lambda value: _equal(value, condition)


def _operator(operator: str, operand: Any) -> Callable[[Any], bool]:
    if operator == "$not":
        inner = _condition(operand)
        return lambda value: not inner(value)
    if operator == "$exists":
        return lambda value: (value is not ABSENT) == bool(operand)
    if operator == "$regex":
        return _regex(operand)
    if operator in ("$in", "$nin"):
        if not isinstance(operand, (list, tuple, set, frozenset)):
            raise UsageError(f"{operator} takes a list, got {operand!r}")
        wanted = operator == "$in"
        return lambda value: any(_equal(value, item) for item in operand) == wanted
    if operator == "$eq":
        return lambda value: _equal(value, operand)
    if operator == "$ne":
        return lambda value: not _equal(value, operand)
    if operator in _COMPARISONS:
        compare = _COMPARISONS[operator]
        return lambda value: _comparable(value, operand) and compare(value, operand)
    raise _unknown(operator)


_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "$gt": lambda value, operand: value > operand,
    "$gte": lambda value, operand: value >= operand,
    "$lt": lambda value, operand: value < operand,
    "$lte": lambda value, operand: value <= operand,
}


def _equal(value: Any, wanted: Any) -> bool:
    if value is ABSENT:
        return wanted is None
    if isinstance(value, list) and not isinstance(wanted, list):
        return any(_same(item, wanted) for item in value)  # {"tags": "good"}: one of them
    return _same(value, wanted)


def _same(value: Any, wanted: Any) -> bool:
    if isinstance(value, bool) != isinstance(wanted, bool):
        return False  # True is 1 in Python, but not in anybody's config
    if isinstance(value, list) and isinstance(wanted, list):
        return len(value) == len(wanted) and all(map(_same, value, wanted))
    if isinstance(value, Mapping) and isinstance(wanted, Mapping):
        return value.keys() == wanted.keys() and all(_same(value[key], wanted[key]) for key in value)
    if isinstance(value, float) and isinstance(wanted, float) and value != value:
        return wanted != wanted  # NaN is what a run that went wrong has: it can be asked for
    return bool(value == wanted)


def _comparable(value: Any, operand: Any) -> bool:
    def kind(item: Any) -> type:
        return float if isinstance(item, (int, float)) and not isinstance(item, bool) else type(item)

    return value is not ABSENT and kind(value) is kind(operand) and kind(value) in (float, str)


def _regex(pattern: Any) -> Callable[[Any], bool]:
    try:
        compiled = re.compile(pattern)
    except (re.error, TypeError) as exc:
        raise UsageError(f"$regex takes a regular expression, got {pattern!r}: {exc}") from exc

    def matches(value: Any) -> bool:
        texts = value if isinstance(value, list) else [value]
        return any(isinstance(text, str) and compiled.search(text) is not None for text in texts)

    return matches


def _unknown(operator: str) -> UsageError:
    known = "$and $or $nor $not $eq $ne $gt $gte $lt $lte $in $nin $exists $regex"
    return UsageError(f"filter operator {operator} is not supported on a local home; use {known}, or filter in Python")


def dig(mapping: Mapping[str, Any], path: str) -> Any:
    """Return what lies at a dotted path, or ABSENT; keys that themselves contain dots are found too."""
    if path in mapping:
        return mapping[path]
    for cut in range(len(path) - 1, 0, -1):
        if path[cut] == "." and isinstance(inner := mapping.get(path[:cut]), Mapping):
            found = dig(inner, path[cut + 1 :])
            if found is not ABSENT:
                return found
    return ABSENT
