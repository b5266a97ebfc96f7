"""Getting to know peers: pings, what they tell about clocks and addresses, and introductions.

A peer that is told of others pings a few of them, never many: nobody can make it knock at the doors of strangers.
"""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from strobe.swarm.dht.exchange import Exchange
from strobe.swarm.dht.id import number
from strobe.swarm.dht.protocol import (
    MAX_NEAREST,
    MEET,
    PING,
    Malformed,
    Meet,
    Ping,
    Pong,
    WireContact,
    encode,
    is_believable,
)
from strobe.swarm.dht.service import opened
from strobe.swarm.net.address import Address
from strobe.swarm.net.network import Caller, Contact, Network, NetworkError, Payload, PeerId

#: what to say of a peer that refuses a ping
ONLY_ASKS: Final = "there, but it only asks: it holds no records"
_MAX_SEEN_AT: Final = 16
_MAX_MET_PER_S: Final = 10


class Greeting:
    """Says hello, and answers those who do. `on_stranger` is called with contacts that are worth a `meet`."""

    def __init__(self, exchange: Exchange, network: Network, on_stranger: Callable[[Contact], None]) -> None:
        self._exchange = exchange
        self._network = network
        self._on_stranger = on_stranger
        self._seen_at: dict[tuple[str, int], int] = {}
        self._second_ends, self._num_met = 0.0, 0

    async def ping(self, contact: Contact) -> Pong | None:
        """Return a peer's answer, or None."""
        try:
            return await self.hail(contact)
        except (NetworkError, Malformed):
            return None

    async def hail(self, contact: Contact, *, is_greeted: bool = False) -> Pong:
        """Return a peer's answer; NetworkError or Malformed if there is none."""
        pong = await self._exchange.ask(contact, PING, Ping(self._exchange.since, is_greeted), Pong)
        place = pong.host, pong.port
        self._seen_at[place] = self._seen_at.get(place, 0) + 1
        if len(self._seen_at) > _MAX_SEEN_AT:
            del self._seen_at[min(self._seen_at, key=self._seen_at.__getitem__)]
        return pong

    async def skew_of(self, contact: Contact) -> float:
        """Return by how much a peer's clock is ahead of ours; NetworkError or Malformed if it does not answer."""
        clock = self._exchange.clock
        before = clock()
        pong = await self.hail(contact, is_greeted=self._exchange.serves)
        return pong.time - (before + clock()) / 2

    async def introduce(self, contact: Contact, others: Sequence[Contact]) -> None:
        """Tell a peer of others that it seems not to know."""
        with contextlib.suppress(NetworkError, Malformed):
            named: list[WireContact] = [other[:3] for other in others[:MAX_NEAREST]]
            await self._exchange.ask(contact, MEET, Meet(self._exchange.since, named), Pong)

    async def meet(self, contact: Contact) -> None:
        """Ping somebody whom we were told of."""
        await self.ping(contact)

    def visible_addresses(self) -> list[Address]:
        """Return where this peer listens, then where others say they see it, most of them first."""
        own = self._network.address
        seen = sorted(self._seen_at, key=lambda place: -self._seen_at[place])
        elsewhere = [(host, port) for host, port in seen if host not in own.hosts or port != own.port]
        return [own, *(Address(own.id, (host,), port) for host, port in elsewhere)]

    def on_ping(self, caller: Caller, payload: Payload) -> bytes | Awaitable[bytes]:
        """Answer a Ping."""
        request, now = opened(Ping, payload), self._exchange.clock()
        if request.is_greeted:
            return self._greet(caller)
        if request.since:
            self._exchange.peers.heard(caller.contact, now, request.since)
        return encode(Pong(now, caller.contact.host, caller.contact.port))

    def on_meet(self, caller: Caller, payload: Payload) -> bytes:
        """Answer a Meet."""
        request, now, peers = opened(Meet, payload), self._exchange.clock(), self._exchange.peers
        if request.since:
            peers.heard(caller.contact, now, request.since)
        if now >= self._second_ends:
            self._second_ends, self._num_met = now + 1.0, 0
        for place, host, port in request.contacts:
            peer, contact = number(place), Contact(PeerId(place), host, port)
            is_new = peer != peers.table.own_id and peer not in peers.table and not peers.is_silent_at(contact, now)
            if is_new and self._num_met < _MAX_MET_PER_S and is_believable(host, caller.contact.host):
                self._num_met += 1
                self._on_stranger(contact)
        return encode(Pong(now, caller.contact.host, caller.contact.port))

    async def _greet(self, caller: Caller) -> bytes:
        # Whoever joins is to be known at once, and to know us, though one of the four messages gets lost. It proves
        # nothing about the caller's port: the ping goes where the caller came from, by the session that it opened.
        clock = self._exchange.clock
        before = clock()
        await self.ping(caller.contact)
        # The caller takes it for the time in the middle of its own wait.
        return encode(Pong((before + clock()) / 2, caller.contact.host, caller.contact.port))
