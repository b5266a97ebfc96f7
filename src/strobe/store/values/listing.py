"""A page of runs: filtered, in order, from where the last one ended, at a cost that hardly grows with the project.

`reading` finds the runs; here a question becomes a condition, and a page gets its cursor and its total.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from strobe.errors import UsageError
from strobe.store.purge import DOOMED
from strobe.store.values import bookmark
from strobe.store.values import filter as tree
from strobe.store.values.choice import Chosen
from strobe.store.values.condition import condition, drivers, resolve_patterns
from strobe.store.values.order import parse_sort
from strobe.store.values.reading import read_places
from strobe.store.values.scope import Scope
from strobe.store.values.sql import FALSE, TRUE, Sql

MAX_PAGE = 1000
DEFAULT_SORT = "-created_ns"

Deleted = Literal["without", "with", "only"]
_DELETED = {
    "without": " AND r.deleted_ns IS NULL",
    "with": f" AND (r.deleted_ns IS NULL OR r.deleted_ns > {DOOMED})",
    "only": f" AND r.deleted_ns > {DOOMED}",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """Which runs, in which order."""

    filters: Mapping[str, Any] | None = None
    #: further conditions, as a group has them
    within: tuple[tree.Like, ...] = ()
    #: a field, with - before it for the greatest first
    sort: str = DEFAULT_SORT
    deleted: Deleted = "without"


@dataclass(frozen=True, slots=True)
class Page:
    """Runs by their numbers in the store, in order."""

    run_ids: list[int]
    #: for the next page; None after the last
    cursor: str | None
    #: of all pages, if it was asked for
    total: int | None = None


def read_page(scope: Scope, question: Question, *, limit: int, after: str | None = None, count: bool = False) -> Page:
    """Return a page. Raises UsageError for filters, orders and cursors that make no sense."""
    if not 1 <= limit <= MAX_PAGE:
        raise UsageError(f"a page has 1 to {MAX_PAGE} runs, got {limit}")
    sort = parse_sort(question.sort)
    mark = fingerprint(scope, question)
    start = bookmark.read(after, mark) if after else None
    if start is not None:
        scope = scope.at(start.now_ns)
    chosen = choose(scope, question)
    if chosen is None:
        return Page([], None, 0 if count else None)
    found = read_places(scope, chosen, sort, start, limit + 1)
    cursor = None
    if len(found) > limit:
        last = found[limit - 1]
        cursor = bookmark.write(mark, scope.now_ns, last.phase, last.key, last.run_id)
    total = count_runs(scope, chosen) if count else None
    return Page([place.run_id for place in found[:limit]], cursor, total)


def choose(scope: Scope, question: Question) -> Chosen | None:
    """Translate the filter, and find the indexes that may help; None if no run can be meant."""
    node: tree.Node = tree.All((tree.parse_filter(question.filters), *question.within))
    node = resolve_patterns(scope, node)
    wanted = condition(scope, node)
    if wanted == FALSE:
        return None
    own = Sql("r.project_id = ?", (scope.project_id,)) + _DELETED[question.deleted]
    return Chosen(own if wanted == TRUE else own + " AND " + wanted, drivers(scope, node))


def count_runs(scope: Scope, chosen: Chosen) -> int:
    """Return how many runs there are on all pages."""
    ((count,),) = chosen.rows(scope).read(scope, Sql("count(*)"))
    return int(count)


def fingerprint(scope: Scope, question: Question) -> bytes:
    """Return what a cursor must have been made for."""
    within = [[repr(like.field), repr(like.leaf)] for like in question.within]
    return bookmark.fingerprint(scope.project_id, question.filters, within, question.sort, question.deleted)
