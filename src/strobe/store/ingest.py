"""Taking in batches: each is one transaction, and taking it in again changes nothing.

The writer's offset is committed together with the data, so whatever dies when, an acknowledged batch is there and an
unacknowledged one may be sent again. The run's row is locked for the length of the transaction: batches of one run are
taken in one after the other, those of different runs side by side where the database can.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec

from strobe.errors import CommError
from strobe.home import check_name
from strobe.journal import value
from strobe.journal.entry import Noted
from strobe.journal.event import Alert, ArtifactUse, Console
from strobe.journal.reader import decode_event
from strobe.journal.segment import Header
from strobe.store import tail
from strobe.store.alerts import Alerts
from strobe.store.artifacts import mentions
from strobe.store.columns import Logged, LoggedObject, read_blocks, storable, unseen
from strobe.store.console.append import Piece
from strobe.store.console.append import add as add_console
from strobe.store.database import Cursor, Database
from strobe.store.projects import ensure_project
from strobe.store.quotas import Quotas
from strobe.store.run_facts import read_facts, write_facts
from strobe.store.series_table import HISTORY, write_series
from strobe.store.state import Facts, encode_facts
from strobe.wire.batch import Ack, Batch, Note

_RUN = "id, project_id, state, heartbeat_ns, deleted_ns, num_writers, tail_rows, tail_points, tail_batches, tail_next"
#: the kind of the writers that are people, or programs on their behalf
EDIT = "edit"


@dataclass(frozen=True, slots=True)
class Taken:
    """What became of a batch."""

    ack: Ack
    run_id: int
    num_rows: int = 0
    num_points: int = 0
    #: the latest time in it
    time_ns: int = 0


@dataclass(slots=True)
class _Run:
    id: int
    project_id: int
    state: str
    heartbeat_ns: int
    deleted_ns: int | None
    num_writers: int
    tail_rows: int
    tail_points: int
    tail_batches: int
    tail_next: int
    quota_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class _Writer:
    number: int
    next: int
    attempt: int
    kind: str


class Ingest:
    """The one way in for what runs log, whoever brings it."""

    def __init__(self, database: Database, *, alerts: Alerts, quotas: Quotas) -> None:
        self._database = database
        self._alerts = alerts
        self._quotas = quotas

    def take(self, batch: Batch, *, now_ns: int) -> Taken:
        """Take in a batch, or say why not in its ack. Raises CommError if its content makes no sense."""
        check_name("run id", batch.run)
        named = batch
        if "\0" in f"{batch.writer}{batch.kind}{batch.host}":
            named = msgspec.structs.replace(
                batch, writer=storable(batch.writer), kind=storable(batch.kind), host=storable(batch.host)
            )
        return self._database.write(lambda cursor: self._take(cursor, named, now_ns))

    def _take(self, cursor: Cursor, batch: Batch, now_ns: int) -> Taken:
        run = _lock_run(cursor, batch, now_ns)
        if run.deleted_ns is not None:
            return Taken(_ack(batch, 0, "refused", f"run {batch.path} was deleted; undo that, or use a new id"), run.id)
        if reason := self._quotas.refusal(cursor, run.project_id, run.quota_bytes):
            return Taken(_ack(batch, 0, "refused", reason), run.id)
        writer = _read_writer(cursor, run, batch)
        if batch.first > writer.next:
            return Taken(_ack(batch, writer.next, "gap"), run.id)
        if batch.until <= writer.next:
            cursor.run("UPDATE run SET heartbeat_ns = ? WHERE id = ?", now_ns, run.id)
            return Taken(_ack(batch, writer.next, "duplicate"), run.id)
        if (batch.attempt, batch.kind) != (writer.attempt, writer.kind):
            raise CommError(
                f"writer {batch.writer!r} of {batch.path} is of kind {writer.kind!r} in attempt {writer.attempt}, but"
                f" a batch of it says {batch.kind!r} in attempt {batch.attempt}; use a writer of another name"
            )
        logged = read_blocks(unseen(batch.blocks, writer.next), writer.number)
        notes = [_decode(note) for note in batch.notes if note.sequence >= writer.next]
        self._store_rows(cursor, run, batch, writer.number, logged)
        self._store_events(cursor, run, batch, notes)
        cursor.run("UPDATE writer SET next = ? WHERE run_id = ? AND name = ?", batch.until, run.id, batch.writer)
        cursor.run(
            "UPDATE run SET heartbeat_ns = ?, changed_ns = ?, version = version + 1, is_dirty = 1,"
            " num_rows = num_rows + ?, num_bytes = num_bytes + ? WHERE id = ?",
            run.heartbeat_ns if batch.kind == EDIT else now_ns,
            now_ns,
            logged.num_rows if tail.lane_of(batch.kind, batch.writer) == HISTORY else 0,
            _size(batch),
            run.id,
        )
        return Taken(
            _ack(batch, batch.until, "stored"),
            run.id,
            logged.num_rows,
            logged.num_points,
            max([logged.max_time, *(note.event.time_ns for note in notes)]),
        )

    def _store_rows(self, cursor: Cursor, run: _Run, batch: Batch, writer: int, logged: Logged) -> None:
        if not logged.keys:
            return
        lane = tail.lane_of(batch.kind, batch.writer)
        rows = write_series(cursor, run.id, lane, batch.attempt, batch.writer, logged.keys)
        if lane == HISTORY:
            points = {key: news.points for key, news in logged.keys.items() if news.points}
            self._alerts.inspect(cursor, run.project_id, run.id, batch.attempt, batch.writer, points)
        _write_objects(cursor, run.id, batch, logged.objects)
        if not logged.charted:
            return
        num_rows = sum(block.num_rows for block in logged.charted)
        # Keys that were logged together share their steps, and mostly their end in the pages: one look is enough.
        ends = {
            (id(points.ints), folded_last): points
            for key, news in logged.keys.items()
            if (folded_last := rows[key].folded_last) is not None
            for points in news.points
        }
        is_late = any(int(points.step.min()) <= folded_last for (_, folded_last), points in ends.items())
        is_full = (
            run.tail_rows + num_rows >= tail.MAX_ROWS
            or run.tail_batches + 1 >= tail.MAX_BATCHES
            or run.tail_points + logged.num_points >= tail.MAX_POINTS
        )
        if is_late or is_full:
            # Not written to the tail first: it would be read back and removed at once.
            tail.fold_tail(cursor, run.id, {(lane, batch.attempt, key): n.points for key, n in logged.keys.items()})
            return
        tail.append(cursor, run.id, run.tail_next, writer, batch.attempt, logged.charted)
        cursor.run(
            "UPDATE run SET tail_rows = tail_rows + ?, tail_points = tail_points + ?, tail_batches = tail_batches + 1,"
            " tail_next = tail_next + 1 WHERE id = ?",
            num_rows,
            logged.num_points,
            run.id,
        )

    def _store_events(self, cursor: Cursor, run: _Run, batch: Batch, notes: list[Noted]) -> None:
        printed = [
            Piece(note.order_ns, note.event.stream, note.event.text)
            for note in notes
            if isinstance(note.event, Console)
        ]
        if printed:
            add_console(cursor, run.id, batch.attempt, batch.writer, printed)
        alerts = [note for note in notes if isinstance(note.event, Alert)]
        if alerts:
            self._alerts.add(cursor, run.id, batch.attempt, batch.writer, alerts)
        uses = [note.event for note in notes if isinstance(note.event, ArtifactUse)]
        if uses:
            mentions.note(cursor, run.id, batch.entity, batch.project, uses)
        others = [note for note in notes if not isinstance(note.event, (Console, Alert))]
        if not others and run.state != "crashed":
            return
        facts = read_facts(cursor, run.id)
        latest_attempt = facts.latest_attempt
        header = _header_of(batch)
        for note in others:
            facts.take(header, (batch.attempt, note.order_ns, batch.writer, note.sequence), note.event)
        # That somebody edits a run is no sign of life of its processes.
        state = run.state if batch.kind == EDIT and facts.state == "running" else facts.state
        write_facts(cursor, run.id, facts, state)
        if facts.latest_attempt > latest_attempt:
            # Who wanted the run to stop meant the processes of before; a run that was started again is to go on.
            cursor.run("UPDATE run SET stop_by = NULL WHERE id = ?", run.id)


def _decode(note: Note) -> Noted:
    """Return the event of a note, checked as far as the database needs it; raise CommError if it is none."""
    try:
        event = decode_event(note.event)
    except (msgspec.MsgspecError, ValueError, TypeError, AttributeError, RecursionError) as error:
        raise CommError(f"a note holds something that is no event: {error}") from error
    for name in ("time_ns", "from_step", "fork_step"):
        number = getattr(event, name, None)
        if number is not None and not -(2**63) <= number < 2**63:
            raise CommError(f"an event has {name} {number}; it must fit into 64 bits")
    return Noted(note.sequence, event, note.order_ns)


def _header_of(batch: Batch) -> Header:
    return Header(
        entity=batch.entity,
        project=batch.project,
        run=batch.run,
        writer=batch.writer,
        attempt=batch.attempt,
        kind=batch.kind,
        host=batch.host,
        rank=batch.rank,
    )


def _size(batch: Batch) -> int:
    """Return about how many bytes a batch had on the wire, without its names."""
    points = sum(3 * len(block.steps) + sum(len(column.cells) for column in block.columns) for block in batch.blocks)
    return points + sum(len(note.event) for note in batch.notes)


def _ack(batch: Batch, next_sequence: int, status: Any, reason: str = "") -> Ack:
    return Ack(run=str(batch.path), writer=batch.writer, next=next_sequence, status=status, reason=reason)


def _lock_run(cursor: Cursor, batch: Batch, now_ns: int) -> _Run:
    project = ensure_project(cursor, batch.entity, batch.project, now_ns=now_ns)
    sql = f"SELECT {_RUN} FROM run WHERE project_id = ? AND name = ?{cursor.dialect.for_update}"
    row = cursor.one(sql, project.id, batch.run)
    if row is None:
        cursor.run(
            "INSERT INTO run (project_id, name, created_ns, heartbeat_ns, changed_ns, facts) VALUES (?, ?, ?, ?, ?, ?)"
            " ON CONFLICT (project_id, name) DO NOTHING",
            project.id,
            batch.run,
            now_ns,
            now_ns,
            now_ns,
            encode_facts(Facts()),
        )
        row = cursor.one(sql, project.id, batch.run)
        assert row is not None
    run = _Run(*row)
    run.quota_bytes = project.quota_bytes
    return run


def _read_writer(cursor: Cursor, run: _Run, batch: Batch) -> _Writer:
    """Return what is known of the batch's writer, which is noted if it is new; the run's row is locked."""
    found = cursor.one(
        "SELECT number, next, attempt, kind FROM writer WHERE run_id = ? AND name = ?", run.id, batch.writer
    )
    if found is not None:
        return _Writer(*found)
    cursor.run(
        "INSERT INTO writer (run_id, name, number, attempt, kind, host, rank) VALUES (?, ?, ?, ?, ?, ?, ?)",
        run.id,
        batch.writer,
        run.num_writers,
        batch.attempt,
        batch.kind,
        batch.host,
        batch.rank,
    )
    cursor.run("UPDATE run SET num_writers = num_writers + 1 WHERE id = ?", run.id)
    return _Writer(run.num_writers, 0, batch.attempt, batch.kind)


def _write_objects(cursor: Cursor, run_id: int, batch: Batch, objects: list[LoggedObject]) -> None:
    rows = [
        (run_id, found.key, batch.attempt, found.step, found.moment[0], batch.writer, found.moment[1], found.time_ns,
         _type_of(found.value), value.encode_decoded(found.value))
        for found in objects
    ]  # fmt: skip
    if rows:
        cursor.many(
            "INSERT INTO object (run_id, key, attempt, step, order_ns, writer, sequence, time_ns, type, body)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (run_id, key, attempt, step) DO UPDATE SET"
            " order_ns = excluded.order_ns, writer = excluded.writer, sequence = excluded.sequence,"
            " time_ns = excluded.time_ns, type = excluded.type, body = excluded.body"
            " WHERE (excluded.order_ns, excluded.writer, excluded.sequence)"
            " >= (object.order_ns, object.writer, object.sequence)",
            rows,
        )


def _type_of(item: Any) -> str:
    """Return what kind of thing an object is: its `_type`, or the name of its plain type."""
    if isinstance(item, dict):
        return str(item.get("_type", "map"))
    names = {str: "text", list: "list", int: "integer", type(None): "null", bool: "bool", float: "number"}
    return names.get(type(item), type(item).__name__.lower())
