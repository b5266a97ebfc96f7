"""The outbox: deliveries that are still to be made.

A server claims a delivery by moving the time at which it is due into the future. If that server dies, the time comes
and another one tries. So each is tried at least once, in almost every case exactly once; its id (alert and sink) is
the same every time, for receivers to tell.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import msgspec

from strobe.store.alerts.condition import Level
from strobe.store.alerts.sinks import Sink, sink_of
from strobe.store.database import Cursor, Database

_SINK = ", ".join(
    f"s.{name}"
    for name in "id project_id name kind address format secret min_level is_enabled created_by created_ns".split()
)
MAX_ERROR = 500


class Delivery(msgspec.Struct, frozen=True, kw_only=True):
    """An alert on its way to a sink."""

    alert_id: int
    sink: Sink
    #: which try this is, from 1
    tries: int
    entity: str
    project: str
    run: str
    kind: str
    rule_id: int | None
    level: Level
    title: str
    text: str
    time_ns: int
    raised_ns: int

    @property
    def id(self) -> str:
        """The same at every try."""
        return f"{self.alert_id}-{self.sink.id}"


class Outbox:
    """Deliveries of all projects."""

    def __init__(self, database: Database, clock: Callable[[], int] = time.time_ns) -> None:
        self._database = database
        self._clock = clock

    def claim(self, *, lease_ns: int, limit: int = 20) -> list[Delivery]:
        """Return deliveries that are due; they are the caller's for as long as the lease."""
        return self._database.write(lambda cursor: self._claim(cursor, lease_ns, limit))

    def next_due_ns(self) -> int | None:
        """Return when the next delivery is due, or None."""
        sql = "SELECT min(due_ns) FROM alert_delivery WHERE state = 'pending'"
        row = self._database.read(lambda cursor: cursor.one(sql))
        return None if row is None or row[0] is None else int(row[0])

    def note_sent(self, delivery: Delivery) -> None:
        """It arrived."""
        self._note(delivery, "sent", self._clock(), "")

    def note_failed(self, delivery: Delivery, error: str, *, retry_ns: int | None) -> None:
        """It did not arrive; it is tried again at `retry_ns`, or given up."""
        if retry_ns is None:
            self._note(delivery, "failed", self._clock(), error)
            return
        self._note(delivery, "pending", None, error, due_ns=retry_ns)

    def _claim(self, cursor: Cursor, lease_ns: int, limit: int) -> list[Delivery]:
        now_ns = self._clock()
        rows = cursor.all(
            "SELECT d.alert_id, d.sink_id, d.tries FROM alert_delivery d JOIN alert_sink s ON s.id = d.sink_id"
            " WHERE d.state = 'pending' AND d.due_ns <= ? AND s.is_enabled = 1 ORDER BY d.due_ns LIMIT ?",
            now_ns,
            limit,
        )
        # Two servers may have read the same rows: the one whose update finds the row as it was read has it.
        claimed = [
            row[:2]
            for row in rows
            if cursor.run(
                "UPDATE alert_delivery SET due_ns = ?, tries = tries + 1"
                " WHERE alert_id = ? AND sink_id = ? AND tries = ? AND state = 'pending'",
                now_ns + lease_ns,
                *row,
            )
        ]
        return [_read(cursor, alert_id, sink_id) for alert_id, sink_id in claimed]

    def _note(self, delivery: Delivery, state: str, done_ns: int | None, error: str, due_ns: int = 0) -> None:
        # Not if its lease ran out and another server has taken it over meanwhile.
        self._database.write(
            lambda cursor: cursor.run(
                "UPDATE alert_delivery SET state = ?, done_ns = ?, error = ?, due_ns = ?"
                " WHERE alert_id = ? AND sink_id = ? AND tries = ? AND state = 'pending'",
                state,
                done_ns,
                error.replace("\0", "\ufffd")[:MAX_ERROR],
                due_ns,
                delivery.alert_id,
                delivery.sink.id,
                delivery.tries,
            )
        )


def _read(cursor: Cursor, alert_id: int, sink_id: int) -> Delivery:
    row = cursor.one(
        "SELECT d.tries, p.entity, p.name, r.name, a.kind, a.rule_id, a.level, a.title, a.text, a.time_ns, a.raised_ns,"
        f" {_SINK} FROM alert_delivery d JOIN alert a ON a.id = d.alert_id JOIN alert_sink s ON s.id = d.sink_id"
        " JOIN run r ON r.id = a.run_id JOIN project p ON p.id = a.project_id"
        " WHERE d.alert_id = ? AND d.sink_id = ?",
        alert_id,
        sink_id,
    )
    assert row is not None
    tries, entity, project, run, kind, rule_id, level, title, text, time_ns, raised_ns, *sink = row
    return Delivery(
        alert_id=alert_id, sink=sink_of(tuple(sink)), tries=tries, entity=entity, project=project, run=run, kind=kind,
        rule_id=rule_id, level=level, title=title, text=text, time_ns=time_ns, raised_ns=raised_ns,
    )  # fmt: skip
