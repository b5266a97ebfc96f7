"""Raising an alert: the alert and what is to be delivered of it, in the caller's transaction, once per source."""

from __future__ import annotations

import msgspec

from strobe.store.alerts.condition import LEVELS, Level
from strobe.store.alerts.rules import Rule
from strobe.store.database import Cursor

#: more alerts of one run within an hour are kept but not sent: a loop must not fill anybody's inbox
MOST_PER_HOUR = 60
MAX_TITLE = 500
MAX_TEXT = 10_000
_MAX_I64 = 2**63 - 1
_HOUR_NS = 3600 * 10**9


class News(msgspec.Struct, frozen=True, kw_only=True):
    """Something to raise an alert about. What has the same source is the same."""

    source: str
    kind: str
    level: Level
    title: str
    text: str
    time_ns: int
    rule: Rule | None = None


def raise_alert(cursor: Cursor, project_id: int, run_id: int, news: News, now_ns: int) -> bool:
    """Write the alert and its deliveries; return whether it is new."""
    made = cursor.one(
        "INSERT INTO alert (project_id, run_id, source, kind, rule_id, level, title, text, time_ns, raised_ns)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (run_id, source) DO NOTHING RETURNING id",
        project_id,
        run_id,
        _text(news.source, MAX_TITLE),
        news.kind,
        None if news.rule is None else news.rule.id,
        news.level,
        _text(news.title, MAX_TITLE),
        _text(news.text, MAX_TEXT),
        max(-_MAX_I64, min(_MAX_I64, news.time_ns)),  # a run's clock may say anything
        now_ns,
    )
    if made is None:
        return False
    recent = cursor.one("SELECT count(*) FROM alert WHERE run_id = ? AND raised_ns > ?", run_id, now_ns - _HOUR_NS)
    is_held = recent is not None and recent[0] > MOST_PER_HOUR
    state, error = (
        ("held", f"more than {MOST_PER_HOUR} alerts of the run within an hour") if is_held else ("pending", "")
    )
    chosen = news.rule.sinks if news.rule is not None else []
    rows = [
        (made[0], sink_id, state, now_ns, error)
        for sink_id, min_level in cursor.all(
            "SELECT id, min_level FROM alert_sink WHERE project_id = ? AND is_enabled = 1", project_id
        )
        if (not chosen or sink_id in chosen) and LEVELS.index(news.level) >= LEVELS.index(min_level)
    ]
    if rows:
        cursor.many("INSERT INTO alert_delivery (alert_id, sink_id, state, due_ns, error) VALUES (?, ?, ?, ?, ?)", rows)
    return True


def _text(text: str, limit: int) -> str:
    # PostgreSQL's text cannot hold a zero character.
    return text.replace("\0", "\ufffd")[:limit]
