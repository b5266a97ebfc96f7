"""Rules about numbers: NaN and infinities, and thresholds. Looked at while points are taken in, in that transaction.

So every point is seen exactly once, late ones too. Points count in the order in which their writer logged them. What a
rule has to remember is a row per key that it looks at; a project without such rules costs nothing.
"""

from __future__ import annotations

import fnmatch
import operator
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from strobe.store.alerts.condition import Nonfinite, Threshold
from strobe.store.alerts.raising import News, raise_alert
from strobe.store.alerts.rules import Rule, enabled_rules
from strobe.store.database import Cursor, in_parts, marks
from strobe.store.series import Points

#: how long a server goes by the rules that it has read
_REMEMBERED_S = 2.0
_MAX_PROJECTS = 10_000
_SPOKEN = -1
_NAMED = 5
_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq, "!=": operator.ne,
}  # fmt: skip


class PointRules:
    """The rules of projects about numbers, read now and then."""

    def __init__(self, clock: Callable[[], int], monotonic: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._monotonic = monotonic
        self._known: dict[int, tuple[float, list[Rule]]] = {}

    def inspect(
        self,
        cursor: Cursor,
        project_id: int,
        run_id: int,
        attempt: int,
        writer: str,
        points: Mapping[str, Sequence[Points]],
    ) -> None:
        """Look at new points of a run by key, and raise what is to be raised."""
        for rule in self._rules(cursor, project_id):
            if isinstance(rule.condition, Nonfinite):
                found = _nonfinite(cursor, rule, rule.condition, run_id, attempt, points)
            elif isinstance(rule.condition, Threshold):
                found = _beyond(cursor, rule, rule.condition, run_id, attempt, writer, points)
            else:
                continue
            for news in found:
                raise_alert(cursor, project_id, run_id, news, self._clock())

    def _rules(self, cursor: Cursor, project_id: int) -> list[Rule]:
        now = self._monotonic()
        known = self._known.get(project_id)
        if known is None or known[0] < now:
            if len(self._known) >= _MAX_PROJECTS:
                self._known.clear()
            known = (now + _REMEMBERED_S, enabled_rules(cursor, ("nonfinite", "threshold"), project_id))
            self._known[project_id] = known
        return known[1]


def _nonfinite(
    cursor: Cursor,
    rule: Rule,
    condition: Nonfinite,
    run_id: int,
    attempt: int,
    points: Mapping[str, Sequence[Points]],
) -> list[News]:
    first: dict[str, tuple[int, int, float]] = {}
    for key, parts in points.items():
        for part in parts:
            bad = np.flatnonzero(~np.isfinite(part.value))
            if len(bad) and key not in first and fnmatch.fnmatchcase(key, condition.key):
                place = bad[0]
                first[key] = (int(part.step[place]), int(part.time_ns[place]), float(part.value[place]))
    streaks = _Streaks(cursor, rule, run_id, attempt, "", list(first)) if first else None
    fresh = [key for key in first if streaks is not None and key not in streaks.counts]
    if streaks is None or not fresh:
        return []
    streaks.write(dict.fromkeys(fresh, _SPOKEN))
    # One message for all that went wrong at once: when a loss is lost, so is every gradient.
    named = ", ".join(sorted(fresh)[:_NAMED]) + (f" and {len(fresh) - _NAMED} more" if len(fresh) > _NAMED else "")
    lines = [f"{key} was {_name(first[key][2])} at step {first[key][0]}" for key in sorted(fresh)[:100]]
    step, time_ns, value = first[min(fresh, key=lambda key: first[key][1])]
    source = f"nonfinite:{rule.id}:{attempt}:{sorted(fresh)[0]}"
    title = f"{named}: {_name(value)} at step {step}"
    return [_news(rule, source, title, "\n".join(lines), time_ns)]


def _beyond(
    cursor: Cursor,
    rule: Rule,
    condition: Threshold,
    run_id: int,
    attempt: int,
    writer: str,
    points: Mapping[str, Sequence[Points]],
) -> list[News]:
    watched = [key for key, parts in points.items() if any(map(len, parts)) and fnmatch.fnmatchcase(key, condition.key)]
    if not watched:
        return []
    streaks = _Streaks(cursor, rule, run_id, attempt, writer, watched)
    found: list[News] = []
    counts: dict[str, int] = {}
    compare = _OPERATORS[condition.op]
    for key in watched:
        count = streaks.counts.get(key, 0)
        if count == _SPOKEN:
            continue
        part = Points.concat(list(points[key]))
        order = np.argsort(part.sequence, kind="stable")
        holds = compare(part.value[order], condition.value)
        runs = _streak(holds, count)
        reached = np.flatnonzero(runs == condition.points)
        counts[key] = _SPOKEN if len(reached) else int(runs[-1])
        if len(reached):
            place = order[reached[0]]
            value, step, time_ns = float(part.value[place]), int(part.step[place]), int(part.time_ns[place])
            title = f"{key} is {value:g} at step {step} ({condition.op} {condition.value:g})"
            text = (
                f"{key} {condition.op} {condition.value:g} for {condition.points} point(s), the last one at step {step}"
            )
            found.append(_news(rule, f"threshold:{rule.id}:{attempt}:{writer}:{key}", title, text, time_ns))
    streaks.write({key: count for key, count in counts.items() if count != streaks.counts.get(key, 0)})
    return found


def _streak(holds: Any, count: int) -> Any:
    """Return for each point how many have held in a row up to it, `count` before the first."""
    places = np.arange(len(holds))
    last_false = np.maximum.accumulate(np.where(holds, -1 - count, places))
    return places - last_false


class _Streaks:
    """What a rule remembers of some keys of a run."""

    def __init__(self, cursor: Cursor, rule: Rule, run_id: int, attempt: int, writer: str, keys: list[str]) -> None:
        self._cursor = cursor
        self._name = (run_id, rule.id, attempt, writer)
        self.counts: dict[str, int] = {}
        for part in in_parts(keys, 500):
            self.counts |= dict(
                cursor.all(
                    "SELECT key, count FROM alert_streak WHERE run_id = ? AND rule_id = ? AND attempt = ?"
                    f" AND writer = ? AND key IN ({marks(len(part))})",
                    *self._name,
                    *part,
                )
            )

    def write(self, counts: dict[str, int]) -> None:
        if counts:
            self._cursor.many(
                "INSERT INTO alert_streak (run_id, rule_id, attempt, writer, key, count) VALUES (?, ?, ?, ?, ?, ?)"
                " ON CONFLICT (run_id, rule_id, attempt, writer, key) DO UPDATE SET count = excluded.count",
                [(*self._name, key, count) for key, count in counts.items()],
            )


def _news(rule: Rule, source: str, title: str, text: str, time_ns: int) -> News:
    kind = source.partition(":")[0]
    return News(
        source=source, kind=kind, level=rule.level, title=f"{rule.name}: {title}", text=text, time_ns=time_ns, rule=rule
    )


def _name(value: float) -> str:
    return "NaN" if np.isnan(value) else "infinite" if value > 0 else "negative infinite"
