"""Packing: journal entries of one writer into a batch.

Runs in the agent, so it needs neither numpy nor much memory: `array` packs a column at the speed of C.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterable
from typing import Any

from strobe.journal import value
from strobe.journal.entry import Entry, Noted, Row
from strobe.journal.segment import Header
from strobe.wire.batch import Batch, Block, Column, Note


def pack(header: Header, entries: Iterable[Entry], *, first: int, until: int) -> Batch:
    """Return the entries, whose records lie in [first, until), as a batch."""
    rows: dict[tuple[bool, tuple[str, ...]], list[Row]] = {}
    notes: list[Note] = []
    for entry in entries:
        if isinstance(entry, Noted):
            notes.append(Note(entry.sequence, entry.order_ns, value.encode_decoded(_plain(entry.event))))
        else:
            rows.setdefault((entry.is_fill, entry.keys), []).append(entry)
    return Batch(
        entity=header.entity,
        project=header.project,
        run=header.run,
        writer=header.writer,
        attempt=header.attempt,
        kind=header.kind,
        host=header.host,
        rank=header.rank,
        first=first,
        until=until,
        blocks=[_block(keys, found, is_fill) for (is_fill, keys), found in rows.items()],
        notes=notes,
    )


def _block(keys: tuple[str, ...], rows: list[Row], is_fill: bool) -> Block:
    times = [row.time_ns for row in rows]
    orders = [row.order_ns for row in rows]
    return Block(
        keys=list(keys),
        sequences=_integers([row.sequence for row in rows]),
        steps=_integers([row.step for row in rows]),
        times=_integers(times),
        orders=b"" if orders == times else _integers(orders),
        columns=[_column(list(cells)) for cells in zip(*(row.values for row in rows), strict=True)],
        is_fill=is_fill,
    )


def _column(cells: list[Any]) -> Column:
    kinds = set(map(type, cells))
    if kinds == {float}:
        return Column("d", _packed(array("d", cells)))
    if kinds == {int}:
        try:
            return Column("q", _integers(cells))
        except OverflowError:
            pass  # an unsigned one beyond 63 bits, or a big one: kept as what it is
    return Column("m", value.encode_decoded(cells))


def _integers(numbers: list[int]) -> bytes:
    return _packed(array("q", numbers))


def _packed(numbers: array[Any]) -> bytes:
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers.tobytes()


def _plain(event: Any) -> Any:
    """Return the event in the form in which a newer version wrote it, if this one did not know its type."""
    if event.__struct_config__.tag == "unknown":
        return {"type": event.name, "time_ns": event.time_ns, **event.fields}
    return event
