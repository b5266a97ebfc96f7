"""Storing many records: to the nearest peer known, which names nearer ones, until the nearest of all hold each.

No search goes before a store. The peer asked first stores the record as well; if its idea of who should hold the key
differs from ours, it says who, and those are next. When all of them hold it and none knows better, it is done. That
is about one message per replica, and a peer gets one message for all keys that are due for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from strobe.swarm.dht.exchange import Exchange
from strobe.swarm.dht.id import number
from strobe.swarm.dht.lookup import Lookup
from strobe.swarm.dht.protocol import (
    REFUSED,
    SAME,
    STORE,
    STORED,
    Malformed,
    Store,
    Stored,
    StoreItem,
    WireEntry,
    agreement,
)
from strobe.swarm.dht.service import Service
from strobe.swarm.dht.storage import Entry, cost_of
from strobe.swarm.dht.walk import Walk

_SPARE: Final = 3  # candidates beyond the replicas, for those that do not answer
_MAX_MESSAGE_BYTES: Final = 256 << 10


class Placed(NamedTuple):
    """For each entry of a key whether it is now the newest, as most say; and how many answered about the key."""

    accepted: list[bool]
    num_holders: int


class Writer:
    """Stores records in the swarm."""

    def __init__(
        self, exchange: Exchange, service: Service, *, num_replicas: int, window: int, overdue_s: float
    ) -> None:
        self._exchange = exchange
        self._service = service
        self._num_replicas = num_replicas
        self._window = window
        self._overdue_s = overdue_s

    async def store(self, records: dict[bytes, list[WireEntry]]) -> dict[bytes, Placed]:
        """Store entries of many keys at the nearest peers."""
        placement = _Placement(self._exchange, self._service, records, self._num_replicas)
        walk = Walk(placement.lookup, placement.ask, window=self._window, overdue_s=self._overdue_s)
        self._exchange.give_up(placement.lookup, await walk.run())
        return {
            key: Placed([stored > refused for stored, refused in votes], len(placement.lookup.holders(index)))
            for index, (key, votes) in enumerate(zip(placement.keys, placement.votes, strict=True))
        }


class _Placement:
    """One call of `store`: the walk's state, and how the holders voted on each entry."""

    def __init__(
        self, exchange: Exchange, service: Service, records: dict[bytes, list[WireEntry]], num_replicas: int
    ) -> None:
        self._exchange = exchange
        self._service = service
        self._entries = list(records.values())
        self._sizes = [sum([cost_of(value, subkey) for subkey, value, _ in sent]) for sent in self._entries]
        self._fits = sum(self._sizes) <= _MAX_MESSAGE_BYTES
        self.keys = list(records)
        self.votes = [[[0, 0] for _ in entries] for entries in self._entries]
        self.lookup = Lookup([number(key) for key in self.keys], width=num_replicas)
        peers, now = exchange.peers, exchange.clock()
        known = peers.responsible if exchange.serves else peers.nearest
        for index, key in enumerate(self.keys):
            exchange.start(self.lookup, index, known(number(key), num_replicas + _SPARE, now))

    async def ask(self, peer: int, indexes: list[int]) -> None:
        """Have one peer store some of the records."""
        if peer == self._exchange.peers.table.own_id:
            now = self._exchange.clock()
            for index in indexes:
                for vote, (subkey, value, expires) in zip(self.votes[index], self._entries[index], strict=True):
                    _count(vote, self._service.put(self.keys[index], Entry(value, expires), subkey, now))
            return
        if self._fits or sum([self._sizes[index] for index in indexes]) <= _MAX_MESSAGE_BYTES:
            await self._send(peer, indexes)
            return
        for part in self._parts(indexes):
            await self._send(peer, part)

    async def _send(self, peer: int, indexes: list[int]) -> None:
        lookup, contact = self.lookup, self.lookup.contacts[peer]
        items = [StoreItem(self.keys[i], agreement(lookup.nearest(i)), self._entries[i]) for i in indexes]
        request = Store(self._exchange.since, False, items)
        answer = await self._exchange.ask(contact, STORE, request, Stored)
        outcomes = answer.outcomes
        votes = [vote for index in indexes for vote in self.votes[index]]
        if len(outcomes) != len(votes):
            raise Malformed(f"{len(outcomes)} outcomes for {len(votes)} entries")
        for vote, outcome in zip(votes, outcomes, strict=True):
            if outcome == STORED:
                vote[0] += 1
            else:
                _count(vote, outcome)
        if answer.nearest:
            if max(answer.nearest) >= len(indexes):
                raise Malformed(f"an answer about key {max(answer.nearest)} of {len(indexes)}")
            nearest = [(indexes[position], named) for position, named in answer.nearest.items()]
            self._exchange.learn(lookup, nearest, answer.contacts, contact)

    def _parts(self, indexes: list[int]) -> Iterator[list[int]]:
        """Split what one peer is to store into messages of a size that a network takes."""
        part: list[int] = []
        size = 0
        for index in indexes:
            more = self._sizes[index]
            if part and size + more > _MAX_MESSAGE_BYTES:
                yield part
                part, size = [], 0
            part.append(index)
            size += more
        yield part


def _count(vote: list[int], outcome: int) -> None:
    if outcome == STORED:
        vote[0] += 1
    elif outcome == REFUSED:
        vote[1] += 1
    elif outcome != SAME:
        raise Malformed(f"an outcome of {outcome}; there are {REFUSED}, {STORED} and {SAME}")
