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
    longest_answers,
)
from strobe.swarm.net.network import Contact, Network, PeerId, PeerUnreachable, ReplyTooLarge

_Answer = TypeVar("_Answer", bound=Message)


class Exchange:
    """A peer's requests to others."""

    def __init__(
        self,
        network: Network,
        peers: Peers,
        *,
        clock: Callable[[], float],
        timeout_s: float,
        max_record_bytes: int,
        min_bytes_per_s: int,
        serves: bool,
    ) -> None:
        self._network = network
        self._timeout_s = timeout_s
        self._longest = longest_answers(max_record_bytes)
        self.min_bytes_per_s = min_bytes_per_s
        self.peers = peers
        self.clock = clock
        self.serves = serves
        self.since = clock() if serves else 0.0
        self.num_requests = 0

    async def ask(
        self, contact: Contact, method: str, request: Message, kind: type[_Answer], *, answer_bytes: int = 0
    ) -> _Answer:
        """Return the answer; NetworkError or Malformed if there is none that can be believed.

        What is large is given more time; so is an answer that is known to have many bytes.
        """
        self.num_requests += 1
        sent = encode(request)
        extra_s = self.extra_s(len(sent) + answer_bytes)
        try:
            payload = await self._network.call(
                contact, method, sent, timeout_s=self._timeout_s + extra_s, max_reply=self._longest[kind]
            )
            answer = decode(kind, payload)
        except (ReplyTooLarge, Malformed):
            self.peers.failed(contact, self.clock())
            raise
        except PeerUnreachable:
            if not extra_s:  # else it may be the line that is slow; whether a peer lives is told by small messages
                self.peers.failed(contact, self.clock())
            raise
        self.peers.heard(contact, self.clock())
        return answer

    def extra_s(self, size_bytes: int) -> float:
        """Return how much longer than usual a message of this size may take."""
        return size_bytes / self.min_bytes_per_s if size_bytes > self.min_bytes_per_s else 0.0

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
            known = contacts.get(named_peer)
            if known is None or known.host != host or known.port != port:
                contact = self._usable(Contact(PeerId(place), host, port), named_peer, source, now)
                if known is None:
                    if contact is None:
                        peers.append(None)
                        continue
                    contacts[named_peer] = contact
                elif contact is not None and contact != known:
                    lookup.learn_address(named_peer, contact, source.id)
            peers.append(named_peer)
        for index, positions in nearest:
            check_positions(positions, named)
            lookup.learn(index, [peer for position in positions if (peer := peers[position]) is not None])

    def give_up(self, contacts: list[Contact]) -> None:
        """Note that these were overdue when nobody waited for them any more."""
        for contact in contacts:
            self.peers.failed(contact, self.clock())

    def _usable(self, named: Contact, peer: int, source: Contact, now: float) -> Contact | None:
        """Return where to ask a peer that somebody names, or None."""
        if peer == self.peers.table.own_id or not is_believable(named.host, source.host):
            return None
        if not self.peers.is_silent(peer, now) and (known := self.peers.table.get(peer)) is not None:
            return known  # where we have heard a peer ourselves is worth more than where others say it is
        return None if self.peers.is_silent_at(named, now) else named
