"""Rules about the life of runs: how they ended, and whether they still log. Looked at now and then, by one server.

Everything is judged by the server's clock. Looking twice at the same thing raises one alert (see `raising`), so it does
no harm if two servers look, or one looks again after a crash.
"""

from __future__ import annotations

from collections.abc import Iterable

from strobe.store.alerts.condition import Stall, StateChange
from strobe.store.alerts.raising import News, raise_alert
from strobe.store.alerts.rules import Rule, enabled_rules
from strobe.store.database import Cursor, in_parts, marks

#: a run that gave no sign of life for this long does not stall: it is about to be called crashed
_ALIVE_NS = 180 * 10**9
#: clocks of runs may be behind the server's by this much
_SKEW_NS = 60 * 10**9
_MINUTE_NS = 60 * 10**9


def take_turn(cursor: Cursor, name: str, *, now_ns: int, for_ns: int) -> bool:
    """Tell whether it is this server's turn; if so, it is nobody else's for that long."""
    cursor.run("INSERT INTO alert_turn (name, until_ns) VALUES (?, 0) ON CONFLICT (name) DO NOTHING", name)
    taken = cursor.run(
        "UPDATE alert_turn SET until_ns = ? WHERE name = ? AND (until_ns <= ? OR until_ns > ?)",
        now_ns + for_ns,
        name,
        now_ns,
        now_ns + for_ns,  # set by a clock far ahead of this one
    )
    return taken == 1


def look_at_states(cursor: Cursor, *, since_ns: int, now_ns: int) -> int:
    """Raise alerts about runs that ended and changed since a moment; return how many are new."""
    rules = _by_project(enabled_rules(cursor, ("state",)))
    num_raised = 0
    for part in in_parts(sorted(rules), 500):
        for run_id, project_id, entity, project, name, state, ended_ns in cursor.all(
            "SELECT run.id, run.project_id, project.entity, project.name, run.name, run.state,"
            " coalesce(run.ended_ns, run.heartbeat_ns) FROM run JOIN project ON project.id = run.project_id"
            f" WHERE run.changed_ns >= ? AND run.project_id IN ({marks(len(part))})"
            " AND run.state <> 'running' AND run.deleted_ns IS NULL",
            since_ns,
            *part,
        ):
            for rule in rules[project_id]:
                if (
                    isinstance(rule.condition, StateChange)
                    and state in rule.condition.states
                    and ended_ns >= rule.created_ns - _SKEW_NS
                ):
                    path = f"{entity}/{project}/{name}"
                    news = News(
                        source=f"state:{rule.id}:{state}:{ended_ns}",
                        kind="state",
                        level=rule.level,
                        title=f"{rule.name}: run {name} {_said(state)}",
                        text=f"Run {path} {_said(state)}.",
                        time_ns=ended_ns,
                        rule=rule,
                    )
                    num_raised += raise_alert(cursor, project_id, run_id, news, now_ns)
    return num_raised


def look_for_stalls(cursor: Cursor, *, now_ns: int) -> int:
    """Note how many rows running runs have, and raise alerts about those that log nothing; return how many are new."""
    rules = _by_project(enabled_rules(cursor, ("stall",)))
    num_raised = 0
    for part in in_parts(sorted(rules), 500):
        rows = cursor.all(
            "SELECT run.id, run.project_id, project.entity, project.name, run.name, run.num_rows, a.num_rows,"
            " a.since_ns FROM run JOIN project ON project.id = run.project_id"
            " LEFT JOIN alert_activity a ON a.run_id = run.id"
            " WHERE run.state = 'running' AND run.heartbeat_ns >= ? AND run.deleted_ns IS NULL"
            f" AND run.project_id IN ({marks(len(part))})",
            now_ns - _ALIVE_NS,
            *part,
        )
        moved = [(row[0], row[5], now_ns) for row in rows if row[5] != row[6]]
        if moved:
            cursor.many(
                "INSERT INTO alert_activity (run_id, num_rows, since_ns) VALUES (?, ?, ?)"
                " ON CONFLICT (run_id) DO UPDATE SET num_rows = excluded.num_rows, since_ns = excluded.since_ns"
                " WHERE alert_activity.num_rows <> excluded.num_rows",
                moved,
            )
        for run_id, project_id, entity, project, name, num_rows, known_rows, since_ns in rows:
            if num_rows != known_rows:
                continue
            silent_min = (now_ns - since_ns) / _MINUTE_NS
            for rule in rules[project_id]:
                if isinstance(rule.condition, Stall) and silent_min >= rule.condition.minutes:
                    path = f"{entity}/{project}/{name}"
                    news = News(
                        source=f"stall:{rule.id}:{num_rows}",
                        kind="stall",
                        level=rule.level,
                        title=f"{rule.name}: run {name} has logged nothing for {silent_min:.0f} min",
                        text=f"Run {path} is running, but has stood at {num_rows} rows for {silent_min:.1f} minutes.",
                        time_ns=now_ns,
                        rule=rule,
                    )
                    num_raised += raise_alert(cursor, project_id, run_id, news, now_ns)
    return num_raised


def _by_project(rules: Iterable[Rule]) -> dict[int, list[Rule]]:
    found: dict[int, list[Rule]] = {}
    for rule in rules:
        found.setdefault(rule.project_id, []).append(rule)
    return found


def _said(state: str) -> str:
    return {"killed": "was killed", "preempted": "was preempted"}.get(state, state)
