"""Experts in the DHT: who serves which, and which parts of a grid have any.

The record of an expert's name holds its server's address; the record of each part of the grid that it lies in holds,
under the next coordinate, a name and an address. Records expire and are declared anew; what is read was written by
strangers, so what makes no sense counts as absent.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

from strobe.errors import UsageError
from strobe.swarm.dht import DHT, ValueWithExpiration
from strobe.swarm.dht.node import Node
from strobe.swarm.experts.uid import FLAT, ExpertUid, is_uid, parse_uid, parts_of_grid
from strobe.swarm.net.address import Address

#: experts that are declared in one round through the DHT
AT_ONCE: Final = 256


class ExpertPlace(NamedTuple):
    """An expert and the peer that serves it."""

    uid: ExpertUid
    address: Address


def records_of(uid: ExpertUid, address: str) -> list[tuple[str, int | None, Any]]:
    """Return (key, subkey, value) of everything that declares one expert."""
    parts = [(part, coordinate, (str(uid), address)) for part, coordinate in parts_of_grid(uid)]
    return [(str(uid), None, address), *parts]


async def declare(node: Node, uids: Sequence[ExpertUid], address: Address, expiration_time: float) -> dict[str, bool]:
    """Tell the swarm who serves these experts; return for each whether that is now the newest word.

    Under its name and in the innermost part of the grid around it: who searches comes through that.
    """
    accepted: dict[str, bool] = {}
    text = str(address)
    for start in range(0, len(uids), AT_ONCE):
        batch = uids[start : start + AT_ONCE]
        # By key and subkey: experts of one part of a grid share what stands in the parts around it.
        records = {(key, subkey): value for uid in batch for key, subkey, value in records_of(uid, text)}
        stored = await node.store_many(
            [key for key, _ in records], list(records.values()), expiration_time, [subkey for _, subkey in records]
        )
        accepted.update((uid, stored[uid] and stored[parts_of_grid(uid)[-1]]) for uid in batch)
    return accepted


def declare_experts(
    dht: DHT, uids: Iterable[str], expiration_time: float, address: Address | None = None
) -> dict[str, bool]:
    """Tell the swarm that this peer (or the one at `address`) serves these experts."""
    names = [parse_uid(uid) for uid in uids]
    place = address or dht.address
    return dht.run_coroutine(partial(declare, uids=names, address=place, expiration_time=expiration_time))


def find_experts(dht: DHT, uids: Iterable[str]) -> dict[str, ExpertPlace | None]:
    """Return where these experts are served, as far as the swarm knows."""
    names = [parse_uid(uid) for uid in uids]
    found = dht.get_many(list(dict.fromkeys(names)))
    return {uid: None if (entry := found[uid]) is None else _place(uid, entry.value) for uid in names}


async def find_expert(node: Node, uid: ExpertUid) -> ExpertPlace | None:
    """Return where an expert is served by the newest word of all who should know, whatever is remembered here."""
    entry = await node.get(uid, latest=True)
    return None if entry is None else _place(uid, entry.value)


def experts_in(part: str, record: ValueWithExpiration | None) -> dict[int, ExpertPlace]:
    """Return what the record of a part of a grid says, by coordinate."""
    if record is None or not isinstance(record.value, dict):
        return {}
    found = {}
    for coordinate, entry in record.value.items():
        if type(coordinate) is not int or not isinstance(entry, ValueWithExpiration):
            continue
        name = part.removesuffix(".") if coordinate == FLAT else f"{part}{coordinate}"
        if not isinstance(entry.value, tuple) or len(entry.value) != 2:
            continue
        uid, address = entry.value
        lies_here = isinstance(uid, str) and (uid == name or uid.startswith(f"{name}."))
        if lies_here and is_uid(uid) and (place := _place(ExpertUid(uid), address)) is not None:
            found[coordinate] = place
    return found


def _place(uid: ExpertUid, address: object) -> ExpertPlace | None:
    if not isinstance(address, str):
        return None
    try:
        return ExpertPlace(uid, Address.parse(address))
    except UsageError:
        return None
