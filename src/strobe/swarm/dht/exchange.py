"""One request and its answer: sends, waits, decodes, and remembers who answered and who did not."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from strobe.swarm.dht.id import number
from strobe.swarm.dht.lookup import Lookup
from strobe.swarm.dht.peers import Peers
from strobe.swarm.dht.protocol import (
    Malformed,
    Message,
    WireContact,
    check_positions,
    decode,
    encode,
    is_believable,
)
from strobe.swarm.net.network import Contact, Network, PeerId, PeerUnreachable

_Answer = TypeVar("_Answer", bound=Message)


class Exchange:
    """A peer's requests to others."""

    def __init__(
        self, network: Network, peers: Peers, *, clock: Callable[[], float], timeout_s: float, serves: bool
    ) -> None:
        self._network = network
        self._timeout_s = timeout_s
        self.peers = peers
        self.clock = clock
        self.serves = serves
        self.since = clock() if serves else 0.0
        self.num_requests = 0

    async def ask(self, contact: Contact, method: str, request: Message, kind: type[_Answer]) -> _Answer:
        """Return the answer; NetworkError or Malformed if there is none that can be believed."""
        self.num_requests += 1
        try:
            payload = await self._network.call(contact, method, encode(request), timeout_s=self._timeout_s)
            answer = decode(kind, payload)
        except (PeerUnreachable, Malformed):
            self.peers.failed(contact, self.clock())
            raise
        self.peers.heard(contact, self.clock())
        return answer

    def start(self, lookup: Lookup, index: int, peers: list[int]) -> None:
        """Give a lookup its first contacts, out of the table."""
        table, contacts = self.peers.table, lookup.contacts
        for peer in peers:
            if peer not in contacts and peer in table:
                contacts[peer] = table[peer]
        lookup.learn(index, peers)

    def learn(
        self, lookup: Lookup, nearest: list[tuple[int, list[int]]], named: list[WireContact], source: Contact
    ) -> None:
        """Take in whom a peer named for the keys of a lookup, as far as it can be believed."""
        if not named:
            return
        contacts, now = lookup.contacts, self.clock()
        peers: list[int | None] = []
        for place, host, port in named:
            named_peer = number(place)
            if named_peer not in contacts:
                if not self._is_usable(named_peer, host, source, now):
                    peers.append(None)
                    continue
                # Where we have heard a peer ourselves is worth more than where others say it is.
                contacts[named_peer] = self.peers.table.get(named_peer) or Contact(PeerId(place), host, port)
            peers.append(named_peer)
        for index, positions in nearest:
            check_positions(positions, named)
            lookup.learn(index, [peer for position in positions if (peer := peers[position]) is not None])

    def give_up(self, lookup: Lookup, peers: list[int]) -> None:
        """Note that these were overdue when nobody waited for them any more."""
        for peer in peers:
            if (contact := lookup.contacts.get(peer)) is not None:
                self.peers.failed(contact, self.clock())

    def _is_usable(self, peer: int, host: str, source: Contact, now: float) -> bool:
        is_own = peer == self.peers.table.own_id
        return not is_own and not self.peers.is_silent(peer, now) and is_believable(host, source.host)
