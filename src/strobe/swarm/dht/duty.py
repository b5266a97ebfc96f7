"""Who has to pass records on: pure decisions, made alike by every peer, so that usually one of them acts.

A newcomer gets the records it should hold from the peer that was nearest to them before it came. From time to time a
holder stores its records anew, which makes up for holders that left; those that somebody else has stored anew
meanwhile are left alone, so it is mostly one of the holders that acts. A holder that is far from a key (the swarm has
grown since) lets go of the record when others have it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from strobe.swarm.dht.id import number
from strobe.swarm.dht.peers import Newcomer, Peers
from strobe.swarm.dht.storage import Record

#: what clocks usually differ by at most; where they differ more, storing anew makes up for what was not handed over
_SKEW_S: Final = 0.5


@dataclass(frozen=True, slots=True)
class Republication:
    """Records to store anew; `strays` are those that we need not hold once others do."""

    records: dict[bytes, Record] = field(default_factory=dict)
    strays: set[bytes] = field(default_factory=set)


def hand_overs(
    records: Iterable[tuple[bytes, Record]],
    peers: Peers,
    newcomers: Mapping[int, Newcomer],
    touched: Mapping[bytes, float],
    *,
    num_replicas: int,
    now: float,
) -> dict[int, dict[bytes, Record]]:
    """Return, by newcomer, the records that this peer must pass on to it: those stored before it was there."""
    own = peers.table.own_id
    latest = max((newcomer.since for newcomer in newcomers.values()), default=0.0) + _SKEW_S
    due: dict[int, dict[bytes, Record]] = {}
    for key, record in records:
        when = touched.get(key, 0.0)
        if when > latest:
            continue
        responsible = peers.responsible(number(key), num_replicas, now)
        new = [peer for peer in responsible if peer in newcomers and when <= newcomers[peer].since + _SKEW_S]
        if new and next((peer for peer in responsible if peer not in newcomers), own) == own:
            for peer in new:
                due.setdefault(peer, {})[key] = record
    return due


def republication(
    records: Iterable[tuple[bytes, Record]],
    peers: Peers,
    touched: dict[bytes, float],
    *,
    num_replicas: int,
    now: float,
    since: float,
    until: float,
) -> Republication:
    """Return what this peer must store anew: records that live at least `until` and were not stored `since`."""
    own = peers.table.own_id
    due = Republication()
    for key, record in records:
        if record.expires < until or touched.get(key, 0.0) >= since:
            continue
        due.records[key] = record
        if own not in peers.responsible(number(key), 2 * num_replicas, now):
            due.strays.add(key)
    return due
