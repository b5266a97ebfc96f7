"""The summary of a run: the last value of every key (or what `define_metric` asks for), with what the user set on top.

The same answer as `strobe.journal.replay.Replay.summary` gives from the journals themselves.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from strobe.journal import value
from strobe.journal.goal import goal_of
from strobe.store.database import Cursor
from strobe.store.lines import RunBook
from strobe.store.pages import Pages
from strobe.store.series import Buckets, Points, Window, digest, read_points
from strobe.store.series_table import HISTORY
from strobe.store.state import Facts

#: (order_ns, value)
_Timed = tuple[int, Any]


def summarize(cursor: Cursor, facts: Facts, book: RunBook) -> dict[str, Any]:
    """Return the summary; `book` must hold the unfolded points of all keys that are digested or were rewound."""
    last = last_values(cursor, book)
    digests = _digests(cursor, facts, book, last)
    removed = {key: found.place[1] for key, found in facts.summary.items() if found.is_removed}
    result: dict[str, Any] = {}
    for key, (time_ns, item) in last.items():
        if removed.get(key, -1) < time_ns:
            definition, bucket = facts.definition(key), digests.get(key)
            if bucket is None:
                computed = None if "none" in (definition.get("summary") or ()) else item
            else:
                points = _last_point(cursor, book, key, bucket)
                computed = _computed(definition, bucket, _exact(cursor, book, key, points), key)
            if computed is not None or item is None:
                result[key] = computed
    for key, found in facts.summary.items():
        if not found.is_removed:
            logged = last.get(key)
            if logged is None or logged[0] <= found.place[1] or key not in result:
                result[key] = found.value
    return result


def last_values(cursor: Cursor, book: RunBook) -> dict[str, _Timed]:
    """Return when and to what each key was last set, without what a rewind gave up, with what a fork took over."""
    found: dict[str, _Timed] = {}
    gone: set[str] = set()
    tops = [row for row in book.rows if row.lane == HISTORY and row.is_top and row.last_value is not None]
    for row in sorted(tops, key=lambda row: (row.attempt, *row.last_place)):
        found[row.key] = (row.last_order, value.decode(row.last_value or b""))
        if book.rewound_to(row.attempt) is None:
            gone.discard(row.key)
        else:
            gone.add(row.key)
    for key in gone:
        del found[key]
    inherited = [key for key in book.parent.keys if key not in found and key not in gone] if book.parent else []
    for key in (*gone, *inherited):
        latest = _last_by_step(cursor, book, key)
        if latest is not None:
            found[key] = latest
    return found


def _last_by_step(cursor: Cursor, book: RunBook, key: str) -> _Timed | None:
    """Return the value at the highest step that counts: how a history that was cut off ends."""
    candidates: list[tuple[int, int, int, Any]] = []
    (bucket,) = digest(Pages(cursor), [book.line(key)])
    if len(bucket):
        points = _last_point(cursor, book, key, bucket)
        order_ns = int(points.order_ns[-1])
        candidates.append((int(bucket.last_step[0]), order_ns, int(points.time_ns[-1]), points.plain_values()[-1]))
    for owner, before in _owners(book):
        for row in owner.rows_of(key):
            bound = owner.clip(row.attempt, row.top)
            limits = [step for step in (bound, before) if step is not None]
            sql = "SELECT step, order_ns, time_ns, body FROM object WHERE run_id = ? AND key = ? AND attempt = ?"
            if limits:
                sql += f" AND step < {min(limits)}"
            body = cursor.one(sql + " ORDER BY step DESC LIMIT 1", owner.id, key, row.attempt)
            if body is not None:
                candidates.append((*body[:3], value.decode(body[3])))
    if not candidates:
        return None
    # Of a big integer, which is a point and an object, the object is exact: it comes last, and wins.
    _, _, time_ns, item = sorted(candidates, key=lambda candidate: candidate[:2])[-1]
    return time_ns, item


def _last_point(cursor: Cursor, book: RunBook, key: str, bucket: Buckets) -> Points:
    """Return the last point of what was digested."""
    step = int(bucket.last_step[0])
    (points,) = read_points(Pages(cursor), book.line(key, Window(step, step)))
    return points


def _exact(cursor: Cursor, book: RunBook, key: str, points: Points) -> float | int | bool:
    """Return the value of a single point; of an integer that a double does not hold, from its object."""
    number = points.plain_values()[-1]
    if isinstance(number, float) or abs(number) < 2**53:
        return number
    for owner, _ in _owners(book):
        found = cursor.one(
            "SELECT body FROM object WHERE run_id = ? AND key = ? AND step = ? AND order_ns = ?",
            owner.id,
            key,
            int(points.step[-1]),
            int(points.order_ns[-1]),
        )
        if found is not None:
            exact: int = value.decode(found[0])
            return exact
    return number


def _owners(book: RunBook) -> Iterable[tuple[RunBook, int | None]]:
    """Yield the run and those it was forked from, each with the first step that does not count any more."""
    bound: int | None = None
    owner: RunBook | None = book
    while owner is not None:
        yield owner, bound
        until = owner.inherited_until + 1
        bound = until if bound is None else min(bound, until)
        owner = owner.parent


def _digests(cursor: Cursor, facts: Facts, book: RunBook, last: dict[str, _Timed]) -> dict[str, Buckets]:
    wanted = [
        key
        for key in last
        if (modes := facts.definition(key).get("summary")) and modes != ["copy"] and "none" not in modes
    ]
    found = digest(Pages(cursor), [book.line(key) for key in wanted]) if wanted else []
    return {key: bucket for key, bucket in zip(wanted, found, strict=True) if len(bucket)}


def _computed(definition: dict[str, Any], bucket: Buckets, last: Any, key: str) -> dict[str, Any]:
    finite = int(bucket.count[0] - bucket.nan[0] - bucket.posinf[0] - bucket.neginf[0])
    low, high = (float(bucket.min[0]), float(bucket.max[0])) if finite else (float("inf"), float("-inf"))
    goal = goal_of(key, definition.get("goal"), definition["summary"])
    values = {
        "min": low,
        "max": high,
        "mean": float(bucket.sum[0]) / finite if finite else None,
        "first": float(bucket.first[0]),
        "last": last,
        "best": None if not finite or goal is None else high if goal == "maximize" else low,
        "copy": last,
    }
    return {mode: values[mode] for mode in definition["summary"]}
