"""Whatever a sender that speaks the format puts into a batch: it is stored, or refused with a clear error.

Both databases; a StoreError would be a 5xx, so it may not come out of anything that a sender can write.
"""

from __future__ import annotations

import contextlib
import struct
from typing import Any
from unittest import mock

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from strobe.errors import CommError, UsageError
from strobe.home import RunPath
from strobe.journal import value
from strobe.journal.entry import Row
from strobe.journal.segment import Header
from strobe.store import tail
from strobe.store.alerts import Alerts
from strobe.store.charts import Ask, Charts
from strobe.store.database import Database
from strobe.store.history import Histories
from strobe.store.ingest import Ingest
from strobe.store.quotas import Quotas
from strobe.store.runs import Runs
from strobe.store.settle import Settler
from strobe.store.values import Values
from strobe.wire.batch import Ack, Batch, Block, Column, Note, decode_batch, encode_batch
from strobe.wire.pack import pack

integers = st.integers(-(2**63), 2**63 - 1)
few = st.integers(0, 3)
texts = st.text(max_size=6) | st.sampled_from(["a", "a.b", "\0", "x\0y", "_step", "\ud7ff", "é" * 100])
plain: Any = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers(-(2**70), 2**70) | texts | st.binary(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
events = st.one_of(
    st.fixed_dictionaries(
        {"type": st.just("started"), "time_ns": integers},
        optional={
            "primary": st.booleans(),
            "from_step": integers,
            "forked_from": texts,
            "fork_step": integers,
            "attributes": st.dictionaries(texts, plain, max_size=3),
        },
    ),
    st.fixed_dictionaries({"type": st.just("ended"), "time_ns": integers, "state": texts}, optional={"writer": texts}),
    st.fixed_dictionaries(
        {"type": st.sampled_from(["config", "summary"]), "time_ns": integers},
        optional={"changes": st.dictionaries(texts, plain, max_size=3), "removed": st.lists(texts, max_size=2)},
    ),
    st.fixed_dictionaries({"type": st.just("console"), "time_ns": integers, "stream": texts, "text": texts}),
    st.fixed_dictionaries(
        {"type": st.just("alert"), "time_ns": integers, "title": texts, "text": texts, "level": texts}
    ),
    st.fixed_dictionaries(
        {"type": st.just("metric"), "time_ns": integers, "name": texts},
        optional={"summary": st.lists(st.sampled_from(["min", "best", "none", "copy", "odd"]), max_size=2)},
    ),
    st.fixed_dictionaries({"type": st.just("file"), "time_ns": integers, "path": texts}),
    st.fixed_dictionaries({"type": texts, "time_ns": integers}, optional={"anything": plain}),
)


@st.composite
def columns(draw: st.DrawFn, rows: int) -> Column:
    kind = draw(st.sampled_from("dqm"))
    if kind == "d":
        return Column("d", struct.pack(f"<{rows}d", *(draw(st.floats()) for _ in range(rows))))
    if kind == "q":
        return Column("q", struct.pack(f"<{rows}q", *(draw(integers) for _ in range(rows))))
    return Column("m", value.encode_decoded([draw(plain) for _ in range(draw(st.sampled_from([rows, rows, rows, 1])))]))


@st.composite
def blocks(draw: st.DrawFn) -> Block:
    rows = draw(few)
    keys = draw(st.lists(texts, unique=True, max_size=3))

    def packed() -> bytes:
        return struct.pack(f"<{rows}q", *(draw(integers | few) for _ in range(rows)))

    return Block(
        keys,
        packed(),
        packed(),
        packed(),
        draw(st.sampled_from([b"", packed()])),
        [draw(columns(rows)) for _ in keys],
        draw(st.booleans()),
    )


@st.composite
def batches(draw: st.DrawFn) -> Batch:
    first = draw(few)
    notes = [
        Note(draw(few), draw(integers), draw(st.binary(max_size=6)) if draw(few) == 3 else value.encode_decoded(event))
        for event in draw(st.lists(events, max_size=3))
    ]
    return Batch(
        entity="e",
        project="p",
        run=draw(st.sampled_from(["r", "s"]) | texts.filter(bool)),
        writer=draw(st.sampled_from(["w", "v"]) | texts.filter(bool)),
        attempt=draw(st.integers(0, 2**31 - 1) | few),
        kind=draw(st.sampled_from(["main", "rank", "system", "edit"]) | texts.filter(bool)),
        host=draw(texts),
        rank=draw(st.none() | st.integers(-(2**63), 2**63 - 1)),
        first=first,
        until=first + draw(few),
        blocks=draw(st.lists(blocks(), max_size=2)),
        notes=notes,
    )


def test_a_writer_that_says_to_be_another_is_refused(database: Database) -> None:
    ingest = Ingest(database, alerts=Alerts(database), quotas=Quotas(database))

    def log(key: str, step: int, *, attempt: int = 1, kind: str = "main") -> Ack:
        header = Header(entity="e", project="p", run="r", writer="w", attempt=attempt, kind=kind)
        row = Row(step, step, 10**18 + step, (key,), [0.5], order_ns=10**18 + step, record=step)
        return ingest.take(pack(header, [row], first=step, until=step + 1), now_ns=10**18).ack

    assert log("loss", 0).status == "stored"
    for fault in ({"kind": "system"}, {"attempt": 2}):
        with pytest.raises(CommError, match="another name"):
            log("acc", 1, **fault)
        assert log("acc", 0, **fault).status == "duplicate"
    with mock.patch.object(tail, "MAX_ROWS", 1):
        assert log("loss", 1).status == "stored"


@given(st.lists(batches(), min_size=1, max_size=5), st.sampled_from([1, 3, tail.MAX_ROWS]))
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_batch_is_stored_or_clearly_refused(database: Database, sent: list[Batch], max_rows: int) -> None:
    database.write(lambda cursor: cursor.run("DELETE FROM run"))
    ingest = Ingest(database, alerts=Alerts(database), quotas=Quotas(database))
    for batch in sent:
        with contextlib.suppress(CommError, UsageError), mock.patch.object(tail, "MAX_ROWS", max_rows):
            decoded = decode_batch(encode_batch(batch)[4:])
            assert ingest.take(decoded, now_ns=10**18).ack.status in ("stored", "duplicate", "gap")
    Settler(database, Values(database)).settle()
    runs = Runs(database)
    names = database.read(lambda cursor: cursor.all("SELECT name FROM run"))
    for row in (runs.find(RunPath("e", "p", name)) for (name,) in names):
        assert runs.get(row.path).row.name == row.name
        keys = runs.get(row.path).keys
        Histories(database).page(row.id)
        Charts(database).query([Ask(row.id, key) for key in keys], pixels=5)
        Charts(database).digests(row.id)


@given(st.binary(max_size=200))
def test_bytes_are_a_batch_or_an_error(body: bytes) -> None:
    with contextlib.suppress(CommError):
        decode_batch(body)
