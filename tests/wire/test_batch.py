"""Batches: what was packed comes out again, whatever the pieces it arrives in; what is no batch is refused."""

from __future__ import annotations

import contextlib
import math
import struct
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from strobe.errors import CommError
from strobe.journal import event as ev
from strobe.journal import value
from strobe.journal.entry import Noted, Row
from strobe.journal.reader import decode_event
from strobe.journal.segment import Header
from strobe.wire.batch import Batch, BatchStream, Block, Column, decode_batch, encode_batch
from strobe.wire.pack import pack

HEADER = Header(entity="e", project="p", run="r", writer="w", attempt=2, kind="rank", host="h", rank=3)
cells = st.one_of(
    st.floats(allow_nan=False),
    st.integers(-(2**63), 2**63 - 1),
    st.integers(2**63, 2**80),
    st.booleans(),
    st.none(),
    st.text(max_size=5),
    st.lists(st.integers(-5, 2**70), max_size=3),
    st.just(value.HOLE_VALUE),
)
key_sets = st.lists(st.sampled_from(["a", "b", "ü"]), unique=True, max_size=3)


@st.composite
def rows(draw: st.DrawFn) -> list[Row]:
    found = []
    for number in range(draw(st.integers(0, 8))):
        keys = tuple(draw(key_sets))
        time_ns = draw(st.integers(0, 2**62))
        order_ns = draw(st.sampled_from([time_ns, time_ns + 5]))
        values = [draw(cells) for _ in keys]
        found.append(Row(number, draw(st.integers(-(2**62), 2**62)), time_ns, keys, values, False, order_ns, number))
    return found


def unpack(batch: Batch) -> list[Row]:
    """Return the rows of a batch by plain means."""
    found = []
    for block in batch.blocks:
        columns = [_cells(column) for column in block.columns]
        orders = _integers(block.orders or block.times)
        for index, (sequence, step, time_ns) in enumerate(
            zip(_integers(block.sequences), _integers(block.steps), _integers(block.times), strict=True)
        ):
            values = [column[index] for column in columns]
            found.append(
                Row(sequence, step, time_ns, tuple(block.keys), values, block.is_fill, orders[index], sequence)
            )
    return sorted(found, key=lambda row: row.sequence)


def _integers(packed: bytes) -> list[int]:
    return list(struct.unpack(f"<{len(packed) // 8}q", packed))


def _cells(column: Column) -> list[Any]:
    if column.kind == "m":
        found: list[Any] = value.decode(column.cells)
        return found
    return list(struct.unpack(f"<{len(column.cells) // 8}{column.kind}", column.cells))


@given(rows(), st.lists(st.integers(1, 40), max_size=20))
def test_rows_come_out_as_they_went_in(logged: list[Row], cuts: list[int]) -> None:
    batch = pack(HEADER, logged, first=0, until=len(logged))
    body = encode_batch(batch) * 2
    stream = BatchStream(max_bytes=1 << 20)
    found = []
    for cut in (*cuts, len(body)):
        found += list(stream.feed(body[:cut]))
        body = body[cut:]
    stream.close()
    assert found == [batch, batch]
    assert unpack(found[0]) == logged
    assert (found[0].attempt, found[0].kind, found[0].rank, found[0].host) == (2, "rank", 3, "h")


@given(rows(), st.integers(0, 10_000), st.binary(min_size=1, max_size=4))
def test_a_garbled_body_is_a_batch_or_a_clear_error(logged: list[Row], place: int, garbage: bytes) -> None:
    body = bytearray(encode_batch(pack(HEADER, logged, first=0, until=len(logged)))[4:])
    place %= len(body)
    body[place : place + len(garbage)] = garbage
    with contextlib.suppress(CommError):
        decode_batch(bytes(body))


def test_numbers_are_packed_by_their_kind() -> None:
    logged = [
        Row(n, n, n, ("f", "i", "big", "mixed"), [n / 2, n, 2**63 + n, n if n else 0.5], False, n, n) for n in range(3)
    ]
    (block,) = pack(HEADER, logged, first=0, until=3).blocks
    assert [column.kind for column in block.columns] == ["d", "q", "m", "m"]
    assert block.orders == b""


def test_nan_and_infinities_survive() -> None:
    logged = [Row(n, n, n, ("x",), [item], False, n, n) for n, item in enumerate([math.nan, math.inf, -math.inf])]
    first, *others = (row.values[0] for row in unpack(pack(HEADER, logged, first=0, until=3)))
    assert math.isnan(first)
    assert others == [math.inf, -math.inf]


def test_events_of_any_version_come_through() -> None:
    noted = [
        Noted(0, ev.Config(time_ns=1, changes={"big": 2**80}), 1),
        Noted(1, ev.Unknown(time_ns=2, name="novelty", fields={"a": 1}), 2),
    ]
    batch = decode_batch(msgspec.msgpack.encode(pack(HEADER, noted, first=0, until=2)))
    assert [decode_event(note.event) for note in batch.notes] == [entry.event for entry in noted]


@pytest.mark.parametrize(
    ("block", "words"),
    [
        (Block(["a"], b"\0" * 8, b"\0" * 16, b"\0" * 16, b"", [Column("d", b"\0" * 16)]), "different lengths"),
        (Block(["a"], b"\0" * 8, b"\0" * 8, b"\0" * 8, b"", []), "1 keys, but 0 columns"),
        (Block(["a", "a"], b"", b"", b"", b"", [Column("d", b""), Column("d", b"")]), "twice"),
        (Block(["a"], b"\0" * 8, b"\0" * 8, b"\0" * 8, b"", [Column("q", b"\0" * 4)]), "4 bytes for 1 rows"),
    ],
)
def test_a_block_that_contradicts_itself_is_refused(block: Block, words: str) -> None:
    batch = Batch(entity="e", project="p", run="r", writer="w", first=0, until=1, blocks=[block])
    with pytest.raises(CommError, match=words):
        decode_batch(encode_batch(batch)[4:])


def test_a_batch_that_ends_before_it_begins_is_refused() -> None:
    with pytest.raises(CommError, match="lies before"):
        decode_batch(encode_batch(Batch(entity="e", project="p", run="r", writer="w", first=2, until=1))[4:])


def test_a_batch_too_large_is_refused_before_it_is_read() -> None:
    with pytest.raises(CommError, match="at most 10"):
        list(BatchStream(max_bytes=10).feed(struct.pack("<I", 11)))


def test_a_body_that_ends_early_is_noticed() -> None:
    stream = BatchStream(max_bytes=1000)
    assert not list(stream.feed(encode_batch(pack(HEADER, [], first=0, until=0))[:-1]))
    with pytest.raises(CommError, match="ends inside"):
        stream.close()
