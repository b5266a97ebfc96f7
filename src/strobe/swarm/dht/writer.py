"""Storing many records: to the nearest peer known, which names nearer ones, until the nearest of all hold each.

No search goes before a store. The peer asked first stores the record as well; if its idea of who should hold the key
differs from ours, it says who, and those are next. When all of them hold it and none knows better, it is done. That
is about one message per replica, and a peer gets one message for all keys that are due for it. Only before much is sent
to a peer it is asked whether it is there: to learn that from its silence would take as long as what was sent.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from strobe.swarm.dht.exchange import Exchange
from strobe.swarm.dht.id import number
from strobe.swarm.dht.lookup import Lookup
from strobe.swarm.dht.parcel import parcels, size_of
from strobe.swarm.dht.protocol import (
    PING,
    REFUSED,
    SAME,
    STORE,
    STORED,
    Malformed,
    Ping,
    Pong,
    Store,
    Stored,
    StoreItem,
    WireEntry,
    agreement,
)
from strobe.swarm.dht.service import Service
from strobe.swarm.dht.storage import Entry
from strobe.swarm.dht.walk import Errand, Walk
from strobe.swarm.net.network import Contact

_SPARE: Final = 3  # candidates beyond the replicas, for those that do not answer


class Placed(NamedTuple):
    """For each entry of a key whether it is now the newest, as most say; and how many hold all of them now."""

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
        self._exchange.give_up(await walk.run())
        return {
            key: Placed([stored > refused for stored, refused in votes], num_holders)
            for key, votes, num_holders in zip(placement.keys, placement.votes, placement.num_holders, strict=True)
        }


class _Placement:
    """One call of `store`: the walk's state, and how the holders voted on each entry."""

    def __init__(
        self, exchange: Exchange, service: Service, records: dict[bytes, list[WireEntry]], num_replicas: int
    ) -> None:
        self._exchange = exchange
        self._service = service
        self._entries = list(records.values())
        self._sizes = [size_of(sent) for sent in self._entries]
        self.keys = list(records)
        self.votes = [[[0, 0] for _ in entries] for entries in self._entries]
        self.num_holders = [0] * len(self.keys)
        self.lookup = Lookup([number(key) for key in self.keys], width=num_replicas)
        peers, now = exchange.peers, exchange.clock()
        known = peers.responsible if exchange.serves else peers.nearest
        for index, key in enumerate(self.keys):
            exchange.start(self.lookup, index, known(number(key), num_replicas + _SPARE, now))

    async def ask(self, errand: Errand) -> None:
        """Have one peer store some of the records."""
        indexes, contact = errand.indexes, errand.contact
        if contact is None:
            now = self._exchange.clock()
            outcomes = [
                self._service.put(self.keys[index], Entry(value, expires), subkey, now)
                for index in indexes
                for subkey, value, expires in self._entries[index]
            ]
            self._count(errand.peer, indexes, bytes(outcomes))
            return
        for parcel in parcels((index, self._sizes[index]) for index in indexes):
            if extra_s := self._exchange.extra_s(sum([self._sizes[index] for index in parcel])):
                if not errand.is_long:
                    await self._exchange.ask(contact, PING, Ping(self._exchange.since), Pong)
                errand.is_going(extra_s)
            await self._send(errand.peer, contact, parcel)

    async def _send(self, peer: int, contact: Contact, indexes: list[int]) -> None:
        lookup = self.lookup
        items = [StoreItem(self.keys[i], agreement(lookup.nearest(i)), self._entries[i]) for i in indexes]
        request = Store(self._exchange.since, False, items)
        answer = await self._exchange.ask(contact, STORE, request, Stored)
        self._count(peer, indexes, answer.outcomes)
        if answer.nearest:
            if max(answer.nearest) >= len(indexes):
                raise Malformed(f"an answer about key {max(answer.nearest)} of {len(indexes)}")
            nearest = [(indexes[position], named) for position, named in answer.nearest.items()]
            self._exchange.learn(lookup, nearest, answer.contacts, contact)

    def _count(self, peer: int, indexes: list[int], outcomes: bytes) -> None:
        """Take in what became of all entries of some keys at one peer."""
        if len(outcomes) != sum([len(self.votes[index]) for index in indexes]):
            raise Malformed(f"{len(outcomes)} outcomes for {len(indexes)} keys, which is not one for each entry")
        if outcomes and max(outcomes) > SAME:
            raise Malformed(f"an outcome of {max(outcomes)}; there are {REFUSED}, {STORED} and {SAME}")
        start = 0
        for index in indexes:
            votes = self.votes[index]
            here = outcomes[start : start + len(votes)]
            start += len(votes)
            if peer in self.lookup.holders(index):
                continue  # it was asked at two of its addresses, and has one vote
            for vote, outcome in zip(votes, here, strict=True):
                if outcome != SAME:
                    vote[outcome == REFUSED] += 1
            self.num_holders[index] += REFUSED not in here
