"""The alerts of a store: taken in from runs, raised by rules, listed, and handed to whoever delivers them."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence

import msgspec

from strobe.journal.entry import Noted
from strobe.journal.event import Alert
from strobe.store.alerts.condition import Level, level_named
from strobe.store.alerts.outbox import Outbox
from strobe.store.alerts.points import PointRules
from strobe.store.alerts.raising import News, raise_alert
from strobe.store.alerts.rules import Rules, has_rules
from strobe.store.alerts.sinks import Sinks
from strobe.store.alerts.watch import look_at_states, look_for_stalls, take_turn
from strobe.store.database import Cursor, Database
from strobe.store.series import Points

#: how far back a server that has just started looks for runs that ended
_LOOK_BACK_NS = 24 * 3600 * 10**9
#: transactions may take this long from the moment that they note to their commit
_OVERLAP_NS = 60 * 10**9


class DeliveryState(msgspec.Struct, frozen=True, kw_only=True):
    """What became of an alert on its way to a sink."""

    sink: int
    #: pending, sent, failed or held
    state: str
    tries: int
    error: str


class LoggedAlert(msgspec.Struct, frozen=True, kw_only=True):
    """An alert as it is listed."""

    id: int
    run: str
    kind: str
    rule: int | None
    level: Level
    title: str
    text: str
    time_ns: int
    raised_ns: int
    deliveries: list[DeliveryState]


class AlertPage(msgspec.Struct, frozen=True, kw_only=True):
    """Alerts, the latest first, and the id before which to go on; none at the end."""

    items: list[LoggedAlert]
    before: int | None


class Alerts:
    """Everything about alerts but sending them."""

    def __init__(self, database: Database, clock: Callable[[], int] = time.time_ns) -> None:
        self._database = database
        self._clock = clock
        self._points = PointRules(clock)
        self._looked_ns: int | None = None
        self.rules = Rules(database, clock)
        self.sinks = Sinks(database, clock)
        self.outbox = Outbox(database, clock)

    def add(self, cursor: Cursor, run_id: int, attempt: int, writer: str, entries: Sequence[Noted]) -> None:
        """Take in what a run itself says (`run.alert`), as part of the caller's transaction."""
        row = cursor.one("SELECT project_id FROM run WHERE id = ?", run_id)
        assert row is not None
        for noted in entries:
            if isinstance(noted.event, Alert):
                news = News(
                    source=f"run:{attempt}:{writer}:{noted.sequence}",
                    kind="run",
                    level=level_named(noted.event.level),
                    title=noted.event.title,
                    text=noted.event.text,
                    time_ns=noted.event.time_ns,
                )
                raise_alert(cursor, row[0], run_id, news, self._clock())

    def inspect(
        self,
        cursor: Cursor,
        project_id: int,
        run_id: int,
        attempt: int,
        writer: str,
        points: Mapping[str, Sequence[Points]],
    ) -> None:
        """Look at points that are being taken in, as part of the caller's transaction."""
        self._points.inspect(cursor, project_id, run_id, attempt, writer, points)

    def watch(self, *, turn_ns: int = 0) -> int:
        """Look for runs that ended or stall; return how many alerts were raised.

        Of several servers one looks, and the others do not for `turn_ns`.
        """
        if not self._database.read(lambda cursor: has_rules(cursor, ("state", "stall"))):
            return 0  # no need to write, not even whose turn it is
        now_ns = self._clock()
        since_ns = (now_ns - _LOOK_BACK_NS) if self._looked_ns is None else self._looked_ns - _OVERLAP_NS

        def change(cursor: Cursor) -> int | None:
            if turn_ns and not take_turn(cursor, "watch", now_ns=now_ns, for_ns=turn_ns):
                return None
            return look_at_states(cursor, since_ns=since_ns, now_ns=now_ns) + look_for_stalls(cursor, now_ns=now_ns)

        raised = self._database.write(change)
        if raised is not None:
            self._looked_ns = now_ns
        return raised or 0

    def of_project(self, project_id: int, *, before: int | None = None, limit: int = 100) -> AlertPage:
        """Return the alerts of a project."""
        return self._database.read(lambda cursor: _page(cursor, "a.project_id", project_id, before, limit))

    def of_run(self, run_id: int, *, before: int | None = None, limit: int = 100) -> AlertPage:
        """Return the alerts of a run."""
        return self._database.read(lambda cursor: _page(cursor, "a.run_id", run_id, before, limit))


def _page(cursor: Cursor, column: str, number: int, before: int | None, limit: int) -> AlertPage:
    rows = cursor.all(
        "SELECT a.id, r.name, a.kind, a.rule_id, a.level, a.title, a.text, a.time_ns, a.raised_ns"
        f" FROM alert a JOIN run r ON r.id = a.run_id WHERE {column} = ? AND a.id < ? AND r.deleted_ns IS NULL"
        " ORDER BY a.id DESC LIMIT ?",
        number,
        2**63 - 1 if before is None else before,
        limit + 1,
    )
    deliveries: dict[int, list[DeliveryState]] = {}
    if rows:
        for alert_id, sink, state, tries, error in cursor.all(
            "SELECT d.alert_id, d.sink_id, d.state, d.tries, d.error FROM alert_delivery d"
            f" JOIN alert a ON a.id = d.alert_id WHERE {column} = ? AND a.id BETWEEN ? AND ? ORDER BY d.sink_id",
            number,
            rows[-1][0],
            rows[0][0],
        ):
            found = DeliveryState(sink=sink, state=state, tries=tries, error=error)
            deliveries.setdefault(alert_id, []).append(found)
    names = ("id", "run", "kind", "rule", "level", "title", "text", "time_ns", "raised_ns")
    items = [
        LoggedAlert(**dict(zip(names, row, strict=True)), deliveries=deliveries.get(row[0], [])) for row in rows[:limit]
    ]
    return AlertPage(items=items, before=items[-1].id if len(rows) > limit else None)
