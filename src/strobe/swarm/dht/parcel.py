"""Records cut into messages of a size that a network takes, and that a peer can answer in time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, TypeVar

from strobe.swarm.dht.protocol import MAX_KEYS, WireEntry
from strobe.swarm.dht.storage import cost_of

#: a record that is larger goes alone
MAX_PARCEL_BYTES: Final = 256 << 10

_Item = TypeVar("_Item")


def size_of(entries: Iterable[WireEntry]) -> int:
    """Return what the entries of one key count."""
    return sum([cost_of(value, subkey) for subkey, value, _ in entries])


def parcels(sized: Iterable[tuple[_Item, int]]) -> Iterator[list[_Item]]:
    """Yield items, which have these sizes, as many together as go in one message."""
    parcel: list[_Item] = []
    size = 0
    for item, more in sized:
        if parcel and (size + more > MAX_PARCEL_BYTES or len(parcel) == MAX_KEYS):
            yield parcel
            parcel, size = [], 0
        parcel.append(item)
        size += more
    if parcel:
        yield parcel
