"""The runs table and a plain loop in Python give the same runs in the same order, whatever they hold and is asked."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from strobe.api.filter import compile_filter
from strobe.store.database import Database
from strobe.store.values import Question, Values, reading
from tests.store.values.samples import NOW_NS, Sample, in_order, write

LONG = "x" * 600
TEXTS = ["", "a", "b", "A", "ab", "é", "a\0b", "a\x01b", "NaN", "1", LONG, LONG + "y", "𝄞", "ä" * 500]
NUMBERS = [0, 1, -1, 2, 0.5, 1.0, -0.0, 1e300, -1e300, math.inf, -math.inf, math.nan]
#: found exactly, but ordered only by the nearest double
BIG = [2**53 + 1, 2**64 + 1, -(2**70) - 1, 10**400]
PATTERNS = ["", "^a", "b$", "[ab]", "(?i)a", "é", "^$", r"\d", "x{3}", "a|b", "a.b"]
KEYS = ["a", "b", "c", "a.b", "a.b.c", "b.c", ""]

scalars = st.sampled_from([None, True, False, *NUMBERS, *BIG, *TEXTS])
plain = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=2),
    max_leaves=4,
)
mappings = st.dictionaries(st.sampled_from(KEYS), plain, max_size=4)
attributes = st.fixed_dictionaries(
    {},
    optional={
        "name": st.sampled_from(TEXTS),
        "tags": st.lists(st.sampled_from(TEXTS), max_size=3),
        "notes": st.sampled_from(TEXTS),
        "group": st.sampled_from(TEXTS),
        "host": st.sampled_from(TEXTS),
        "gpus": st.lists(st.dictionaries(st.just("name"), st.sampled_from(TEXTS)), max_size=2),
    },
)
SECOND = 1_000_000_000
samples = st.lists(
    st.builds(
        Sample,
        config=mappings,
        summary=mappings,
        attributes=attributes,
        state=st.sampled_from(["running", "finished", "failed"]),
        created_ns=st.integers(0, 3).map(lambda n: 1_700_000_000 * SECOND + n * SECOND // 2),
        ended_ns=st.none() | st.integers(1, 2).map(lambda n: (1_700_000_001 + n) * SECOND),
    ),
    min_size=1,
    max_size=6,
)
paths = st.builds(
    lambda section, keys: f"{section}.{'.'.join(keys)}",
    st.sampled_from(["config", "summary"]),
    st.lists(st.sampled_from(["a", "b", "c"]), min_size=1, max_size=3),
)
OWN = ["id", "state", "entity", "created_at", "created_ns", "ended_ns", "runtime"]
ATTRIBUTES = ["display_name", "tags", "notes", "group", "job_type", "username", "host", "metadata.gpus"]
fields = paths | st.sampled_from(OWN + ATTRIBUTES)
operands = plain | st.sampled_from(["finished", "run1", "team", "2023-11-14T22:13:20Z", 1_700_000_000 * SECOND, 1.5])
compared = st.sampled_from([*NUMBERS, "a", "b", "run1", "é", "a\0b", "2023-11-14T22:13:21", True, None, 10**9, 2.0**70])


def operators() -> st.SearchStrategy[Any]:
    base = st.one_of(
        st.builds(lambda op, value: {op: value}, st.sampled_from(["$eq", "$ne"]), operands),
        st.builds(lambda op, value: {op: value}, st.sampled_from(["$gt", "$gte", "$lt", "$lte"]), compared),
        st.builds(lambda op, value: {op: value}, st.sampled_from(["$in", "$nin"]), st.lists(operands, max_size=3)),
        st.builds(lambda value: {"$exists": value}, st.booleans()),
        st.builds(lambda value: {"$regex": value}, st.sampled_from(PATTERNS)),
    )
    return base | base.map(lambda inner: {"$not": inner}) | operands.filter(_is_plain)


def _is_plain(value: Any) -> bool:
    return not isinstance(value, dict) or not any(str(key).startswith("$") for key in value)


conditions = st.dictionaries(fields, operators(), min_size=1, max_size=2)
filters = st.recursive(
    conditions,
    lambda inner: st.one_of(
        st.builds(
            lambda op, parts: {op: parts},
            st.sampled_from(["$and", "$or", "$nor"]),
            st.lists(inner, min_size=1, max_size=3),
        ),
        inner.map(lambda one: {"$not": one}),
    ),
    max_leaves=4,
)
#: by fetching what an index says, by walking along the order, and by giving that up
WAYS = {"fetch": {"FEW": 1000}, "walk": {"FEW": 0, "MOST": 0}, "give up": {"FEW": 0, "PATIENCE": 1, "_PORTION": 1}}


@contextmanager
def by_way(way: str) -> Iterator[None]:
    with ExitStack() as changes:
        for name, item in WAYS[way].items():
            changes.enter_context(patch.object(reading, name, item))
        yield


bounded = settings(
    deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)


def everything(database: Database, project: str, question: Question, limit: int) -> list[int]:
    """Return all pages, one after the other."""
    values, after, found = Values(database), None, list[int]()
    while True:
        page = values.page("team", project, question, now_ns=NOW_NS, limit=limit, after=after, count=True)
        found += page.run_ids
        if page.cursor is None:
            assert page.total == len(found)
            return found
        assert len(page.run_ids) == limit
        after = page.cursor


@bounded
@given(runs=samples, wanted=st.lists(filters, min_size=6, max_size=6), way=st.sampled_from(list(WAYS)))
def test_a_filter_finds_what_a_loop_in_python_finds(
    database: Database, runs: list[Sample], wanted: list[dict[str, Any]], way: str
) -> None:
    project = write(database, runs)
    for one in wanted:
        matches = compile_filter(one)
        expected = {run.row for run in runs if matches(run.lookup)}
        with by_way(way):
            assert set(everything(database, project, Question(filters=one), 1000)) == expected, one


@bounded
@given(
    runs=samples,
    orders=st.lists(st.tuples(st.sampled_from(["", "+", "-"]), fields), min_size=4, max_size=4),
    limit=st.integers(1, 3),
    way=st.sampled_from(list(WAYS)),
)
def test_pages_add_up_to_the_list_in_order(
    database: Database, runs: list[Sample], orders: list[tuple[str, str]], limit: int, way: str
) -> None:
    project = write(database, runs)
    for sign, name in orders:
        question = Question(sort=sign + name, filters={"id": {"$in": [run.id for run in runs]}})
        with by_way(way):
            assert everything(database, project, question, limit) == in_order(runs, sign + name), sign + name
