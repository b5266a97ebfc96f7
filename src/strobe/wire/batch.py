"""Batches: consecutive journal entries of one writer as columns.

A batch says which part of the writer's sequence it covers, `first` up to but without `until`, so that taking it in
twice changes nothing and a missing part is noticed. Records that hold no entry (key names, damaged ones) leave gaps in
between, which mean nothing. Rows of one key set form a block; a column of numbers is packed, little endian.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Annotated, Literal

import msgspec

from strobe.errors import CommError
from strobe.home import RunPath

#: "d": doubles, "q": 64-bit integers, "m": a msgpack list of anything, with the journal's extension types
ColumnKind = Literal["d", "q", "m"]
Name = Annotated[str, msgspec.Meta(min_length=1, max_length=128)]
Sequence = Annotated[int, msgspec.Meta(ge=0, lt=2**62)]
Integer = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]

_LENGTH = struct.Struct("<I")


class Column(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The values of one key."""

    kind: ColumnKind
    cells: bytes


class Block(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Rows that have the same keys, in the order of their records."""

    keys: list[str]
    #: 64-bit integers: the sequence, step and wall clock time of each row
    sequences: bytes
    steps: bytes
    times: bytes
    #: the rows' places in time (see `journal.reader.Row.order_ns`); empty where they are the times
    orders: bytes
    columns: list[Column]
    #: whether these are values that came later for rows sent before
    is_fill: bool = False

    @property
    def num_rows(self) -> int:
        return len(self.steps) // 8


class Note(msgspec.Struct, frozen=True, array_like=True):
    """An event with its place; the event itself stays encoded until somebody needs it."""

    sequence: Sequence
    order_ns: Integer
    event: bytes


class Batch(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Entries of one writer of a run."""

    entity: Name
    project: Name
    run: Name
    writer: Name
    attempt: Annotated[int, msgspec.Meta(ge=0, lt=2**31)] = 1
    #: main, rank, fork, shared, system, agent or edit
    kind: Name = "main"
    host: str = ""
    rank: Integer | None = None
    first: Sequence
    until: Sequence
    blocks: list[Block] = []
    notes: list[Note] = []

    @property
    def path(self) -> RunPath:
        return RunPath(self.entity, self.project, self.run)


class Ack(msgspec.Struct, frozen=True, kw_only=True):
    """What the server has of a writer: everything before `next`. If that is before what was sent, send from there."""

    #: the run's path on the server, where the local entity has become the key's own
    run: str
    writer: str
    next: int
    #: stored, duplicate (it was there), gap (something before it is missing; nothing was taken) or refused
    status: Literal["stored", "duplicate", "gap", "refused"]
    #: why it was refused; sending the same again soon is of no use
    reason: str = ""


class Receipt(msgspec.Struct, frozen=True, kw_only=True):
    """The server's answer to a stream of batches, one ack each, in their order."""

    acks: list[Ack]
    #: runs among them that somebody wants to stop
    stop: list[str] = []


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Batch).decode


def encode_batch(batch: Batch) -> bytes:
    """Return the batch as one piece of a stream: its length, then itself."""
    body = _encode(batch)
    return _LENGTH.pack(len(body)) + body


def decode_batch(body: bytes | memoryview) -> Batch:
    """Return the batch in `body` (without its length), checked as far as lengths go; raise CommError if it is none."""
    try:
        batch = _decode(body)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise CommError(f"not a batch: {error}") from error
    _check(batch)
    return batch


class BatchStream:
    """Takes a body apart into batches as its bytes come in."""

    def __init__(self, *, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._held = bytearray()

    @property
    def num_held(self) -> int:
        """Bytes of a batch that is not complete yet."""
        return len(self._held)

    def feed(self, piece: bytes) -> Iterator[Batch]:
        """Yield the batches that are complete with this piece."""
        held = self._held
        held += piece
        start = 0
        while len(held) - start >= _LENGTH.size:
            (length,) = _LENGTH.unpack_from(held, start)
            if length > self._max_bytes:
                raise CommError(f"a batch of {length} bytes; at most {self._max_bytes} are taken, send smaller ones")
            end = start + _LENGTH.size + length
            if end > len(held):
                break
            yield decode_batch(bytes(held[start + _LENGTH.size : end]))
            start = end
        del held[:start]

    def close(self) -> None:
        """Raise CommError if the body ended in the middle of a batch."""
        if self._held:
            raise CommError(f"the body ends inside a batch, {len(self._held)} bytes after its start; send it again")


def _check(batch: Batch) -> None:
    if batch.until < batch.first:
        raise CommError(f"batch of {batch.path}: until {batch.until} lies before first {batch.first}")
    for block in batch.blocks:
        size = len(block.steps)
        if size % 8 or len(block.sequences) != size or len(block.times) != size or len(block.orders) not in (0, size):
            raise CommError(f"batch of {batch.path}: the columns of a block have different lengths")
        if len(block.keys) != len(block.columns):
            raise CommError(f"batch of {batch.path}: {len(block.keys)} keys, but {len(block.columns)} columns")
        if len(set(block.keys)) != len(block.keys):
            raise CommError(f"batch of {batch.path}: a block names a key twice")
        for key, column in zip(block.keys, block.columns, strict=True):
            if column.kind != "m" and len(column.cells) != size:
                raise CommError(
                    f"batch of {batch.path}: {key!r} has {len(column.cells)} bytes for {block.num_rows} rows"
                )
