"""Groups of runs: those with equal values at some fields, how many they are, and statistics of their metrics.

Statistics are computed here and not in SQL: the databases differ in what they do with infinities and overflow, and sums
of squares lose the deviation of large numbers. A metric is read once along its index, whatever the number of groups.
"""

from __future__ import annotations

import base64
import binascii
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from strobe.errors import UsageError
from strobe.store.values import bookmark, listing
from strobe.store.values.choice import Chosen
from strobe.store.values.field import Column, Field, find_field
from strobe.store.values.filter import Like
from strobe.store.values.leaf import Kind, Leaf, leaf_of, original
from strobe.store.values.scope import Scope
from strobe.store.values.sql import Sql

MAX_GROUPS = 1000
_MAX_FIELDS = 8
_MAX_METRICS = 50


@dataclass(frozen=True, slots=True)
class Statistics:
    """What the numbers of one metric in a group look like."""

    #: runs that have a number; NaN is counted apart
    count: int
    num_nan: int
    mean: float | None
    min: float | None
    max: float | None
    #: of the sample; None for less than two numbers
    std: float | None


@dataclass(frozen=True, slots=True)
class Group:
    """Runs that have the same values at the fields."""

    #: one for each field; texts and lists may be cut, None also stands for absence
    values: list[Any]
    #: names the group exactly, in `within`
    key: str
    num_runs: int
    metrics: dict[str, Statistics]


@dataclass(frozen=True, slots=True)
class Groups:
    groups: list[Group]
    cursor: str | None
    num_groups: int


GroupKey = tuple[Leaf | None, ...]


def read_groups(
    scope: Scope,
    question: listing.Question,
    *,
    by: Sequence[str],
    metrics: Sequence[str] = (),
    limit: int = 100,
    after: str | None = None,
) -> Groups:
    """Return groups, the largest first."""
    if not 1 <= len(by) <= _MAX_FIELDS or len(metrics) > _MAX_METRICS:
        raise UsageError(f"group by 1 to {_MAX_FIELDS} fields and at most {_MAX_METRICS} metrics")
    if not 1 <= limit <= MAX_GROUPS:
        raise UsageError(f"groups come 1 to {MAX_GROUPS} at a time, got {limit}")
    mark = bookmark.fingerprint(listing.fingerprint(scope, question).hex(), list(by))
    start = bookmark.read(after, mark) if after else None
    if start is not None:
        scope = scope.at(start.now_ns)
    chosen = listing.choose(scope, question)
    members: dict[GroupKey, list[int]] = {}
    if chosen is not None:
        for run_id, key in _keys(scope, chosen, [find_field(name) for name in by]):
            members.setdefault(key, []).append(run_id)
    ordered = sorted(((-len(runs), write_key(key)), key) for key, runs in members.items())
    if start is not None:
        ordered = [item for item in ordered if item[0] > (-start.run_id, start.key)]
    shown = ordered[:limit]
    statistics = _statistics(scope, {key: members[key] for _, key in shown}, metrics)
    groups = [Group([_shown(leaf) for leaf in key], place[1], -place[0], statistics[key]) for place, key in shown]
    cursor = None
    if len(ordered) > limit:
        cursor = bookmark.write(mark, scope.now_ns, 0, groups[-1].key, groups[-1].num_runs)
    return Groups(groups, cursor, len(members))


def within(by: Sequence[str], key: str) -> tuple[Like, ...]:
    """Return the conditions that the runs of a group meet, for a `Question`."""
    leaves = read_key(key)
    if len(leaves) != len(by):
        raise UsageError(f"the group has {len(leaves)} values for {len(by)} fields; name those that it was made by")
    return tuple(Like(find_field(name), leaf) for name, leaf in zip(by, leaves, strict=True))


def write_key(key: GroupKey) -> str:
    """Return the opaque name of a group."""
    return base64.urlsafe_b64encode(msgspec.msgpack.encode(key)).decode().rstrip("=")


_decode_key = msgspec.msgpack.Decoder(list[tuple[int, float | None, str | None, bytes | None] | None]).decode


def read_key(text: str) -> GroupKey:
    """Return the group that a name means."""
    try:
        found = _decode_key(base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True))
    except (binascii.Error, msgspec.MsgspecError, ValueError) as error:
        raise UsageError(f"{text[:40]!r} is not the key of a group; give it back as it was received") from error
    leaves = tuple(None if item is None else Leaf(*item) for item in found)
    if any(leaf is not None and ((leaf.text and "\0" in leaf.text) or not 1 <= leaf.kind <= 8) for leaf in leaves):
        raise UsageError(f"{text[:40]!r} is not the key of a group; give it back as it was received")
    return leaves


def _keys(scope: Scope, chosen: Chosen, by: list[Field]) -> list[tuple[int, GroupKey]]:
    """Return each run with its values at the fields."""
    columns, joins = Sql("r.id"), Sql("")
    for number, field in enumerate(by):
        if isinstance(field, Column):
            columns += Sql(", ") + scope.column(field) + ", NULL, NULL, NULL"
        else:
            alias = f"g{number}"
            columns += f", {alias}.kind, {alias}.number, {alias}.text, {alias}.digest"
            joins += Sql(
                f" LEFT JOIN value {alias} ON {alias}.run_id = r.id AND {alias}.path_id = ? AND {alias}.place = 0",
                (scope.path_id(field),),
            )
    return [
        (row[0], tuple(_leaf(field, row[1 + 4 * n : 5 + 4 * n]) for n, field in enumerate(by)))
        for row in chosen.rows(scope).read(scope, columns, joins)
    ]


def _leaf(field: Field, cells: tuple[Any, ...]) -> Leaf | None:
    if cells[0] is None:
        return None
    return leaf_of(cells[0]) if isinstance(field, Column) else Leaf(*cells)


def _shown(leaf: Leaf | None) -> Any:
    if leaf is None or leaf.kind in (Kind.NULL, Kind.OTHER, Kind.MAP):
        return None
    if leaf.kind == Kind.NAN:
        return math.nan
    if leaf.kind == Kind.BOOL:
        return bool(leaf.number)
    if leaf.kind == Kind.NUMBER:
        return int(leaf.text, 16) if leaf.text and not leaf.digest else leaf.number
    assert leaf.text is not None
    return original(leaf.text)


def _statistics(
    scope: Scope, members: dict[GroupKey, list[int]], metrics: Sequence[str]
) -> dict[GroupKey, dict[str, Statistics]]:
    found: dict[GroupKey, dict[str, Statistics]] = {key: {} for key in members}
    for name in metrics:
        numbers = _numbers(scope, find_field(name), members)
        for key, runs in members.items():
            found[key][name] = _summary([numbers[run] for run in runs if run in numbers])
    return found


def _numbers(scope: Scope, field: Field, members: dict[GroupKey, list[int]]) -> dict[int, float]:
    """Return the metric's number in each run that has one, NaN included."""
    if isinstance(field, Column):
        sql = (
            Sql("SELECT r.id, ") + scope.column(field) + Sql(" FROM run r WHERE r.project_id = ?", (scope.project_id,))
        )
        rows = scope.cursor.all(sql.text, *sql.parameters)
        return {run: float(number) for run, number in rows if isinstance(number, (int, float))}
    path_id = scope.path_id(field)
    if path_id is None:
        return {}
    numeric = f"kind IN ({Kind.NUMBER:d}, {Kind.NAN:d}) AND kind <> {Kind.TEXT:d}"
    text = f"SELECT run_id, number FROM value WHERE path_id = ? AND place = 0 AND {numeric}"
    return {run: math.nan if number is None else number for run, number in scope.cursor.all(text, path_id)}


def _summary(numbers: list[float]) -> Statistics:
    counted = [number for number in numbers if number == number]
    num_nan = len(numbers) - len(counted)
    if not counted:
        return Statistics(0, num_nan, None, None, None, None)
    if not all(map(math.isfinite, counted)):
        infinite = sum(number for number in counted if math.isinf(number))
        return Statistics(len(counted), num_nan, infinite, min(counted), max(counted), None)
    try:
        mean = math.fsum(counted) / len(counted)
        std = None
        if len(counted) > 1:
            std = math.sqrt(math.fsum((number - mean) ** 2 for number in counted) / (len(counted) - 1))
    except OverflowError:  # numbers near the largest that there are
        mean, std = math.fsum(number / len(counted) for number in counted), math.inf
    return Statistics(len(counted), num_nan, mean, min(counted), max(counted), std)
