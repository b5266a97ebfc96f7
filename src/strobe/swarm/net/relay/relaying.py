"""All that a network has to do with relays, behind one door: uses them, is sheltered by them, and may be one itself.

Tells the parts apart and gives each what it needs of the network. A peer may be its own callers' relay: then packets
and connections between the two roles take a short cut inside this process.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Coroutine, Sequence
from typing import TYPE_CHECKING, Any

from strobe.swarm.net import packet as p
from strobe.swarm.net.address import Address
from strobe.swarm.net.network import Caller, Contact, Payload, PeerId, PeerRefused
from strobe.swarm.net.ports import LOOPBACK_BYTES, Port, SocketAddress
from strobe.swarm.net.relay import protocol as rp
from strobe.swarm.net.relay.ends import RelayEnds
from strobe.swarm.net.relay.limits import RelayLimits
from strobe.swarm.net.relay.path import RelayPath
from strobe.swarm.net.relay.reach import DialBacks, seen_host
from strobe.swarm.net.relay.relay import Relay
from strobe.swarm.net.relay.reservations import Reservations

if TYPE_CHECKING:
    from strobe.swarm.net.peer_network import PeerNetwork

_OWN: SocketAddress = ("", 0)


class Relaying:
    """The relay side of one network."""

    def __init__(self, network: PeerNetwork, tag_bytes: int) -> None:
        self._network = network
        self._tag_bytes = tag_bytes
        self._own = _OwnPort(network)
        self._tasks: set[asyncio.Task[None]] = set()
        self._moves: set[asyncio.Future[None]] = set()
        self._is_closed = False
        self.relay: Relay | None = None
        self.reservations: Reservations | None = None
        self.ends = RelayEnds(self, self._shelter_of, tag_bytes)
        network.serve(rp.INCOMING, self.ends.on_incoming, max_payload=rp.MAX_REQUEST)
        network.serve(rp.LINK, self.ends.on_link, max_payload=rp.MAX_REQUEST)

    # -- the three roles ---------------------------------------------------------------------------------------------

    def offer(self, limits: RelayLimits) -> None:
        """Relay for others from now on."""
        network = self._network
        self.relay = Relay(self, limits, self._tag_bytes)
        network.serve(rp.RESERVE, self.relay.on_reserve, max_payload=rp.MAX_REQUEST)
        network.serve(rp.OPEN, self.relay.on_open, max_payload=rp.MAX_REQUEST)
        network.serve(rp.DIAL_BACK, DialBacks(network.stranger).on_dial_back, max_payload=rp.MAX_REQUEST)

    async def seek_shelter(self, relays: Sequence[Address], renew_s: float) -> None:
        """Be reached through relays from now on; raises PeerUnreachable if none takes us."""
        own_id = self._network.identity.peer_id
        self.reservations = Reservations(self, own_id, relays, renew_s, self._on_moved)
        await self.reservations.begin()
        self.spawn(self.reservations.keep())

    async def seen_host(self, relays: Sequence[Address], port: int) -> str | None:
        """Return the host at which strangers reach our port, as the relays have tried; None if they cannot."""
        own_hosts = self._network.address.hosts
        return await seen_host(self, [relay.contact for relay in relays], port, own_hosts=own_hosts)

    # -- where we are ------------------------------------------------------------------------------------------------

    @property
    def address(self) -> Address | None:
        """The address that names our relay, if we have one."""
        return None if self.reservations is None else self.reservations.address

    async def moved(self, since: Address) -> Address:
        while self._network.address == since:
            move: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._moves.add(move)
            try:
                await move
            finally:
                self._moves.discard(move)
        return self._network.address

    def _on_moved(self) -> None:
        for move in self._moves:
            if not move.done():
                move.set_result(None)

    def _shelter_of(self, relay: PeerId) -> Contact | None:
        if relay == self._network.identity.peer_id:
            return self._network.own_contact
        return None if self.reservations is None else self.reservations.contact_of(relay)

    def is_shelter(self, source: SocketAddress) -> bool:
        """Tell whether a relay that we have a reservation at is to be found there."""
        return self.reservations is not None and self.reservations.is_held_at(source[0], source[1])

    # -- packets and connections -------------------------------------------------------------------------------------

    def on_packet(self, kind: int, packet: bytes, source: SocketAddress, port: Port) -> None:
        """Take a datagram of a kind that only relaying knows."""
        if kind == p.UP:
            if self.relay is not None:
                self.relay.on_up(packet, source, port)
        elif kind == p.DOWN:
            self.ends.on_down(packet, source)
        elif kind == p.GONE:
            self.ends.on_gone(packet, source)

    async def on_first_packet(self, sock: socket.socket, packet: bytes) -> None:
        """Take over a connection that begins with LINK or ANSWER."""
        if self.relay is None:
            sock.close()
        else:
            await self.relay.on_connection(sock, packet)

    # -- what the parts need of the network --------------------------------------------------------------------------

    def way(self, contact: Contact) -> tuple[Port, SocketAddress]:
        if contact.id == self._network.identity.peer_id:
            return self._own, _OWN
        return self._network.ways.to(contact)

    async def ask(self, contact: Contact, method: str, payload: bytes, timeout_s: float) -> Payload:
        if contact.id != self._network.identity.peer_id:
            return await self._network.call(contact, method, payload, timeout_s=timeout_s, max_reply=rp.MAX_REPLY)
        caller = Caller(self._network.own_contact, self._network.identity.public_key)
        if method == rp.INCOMING:
            return self.ends.on_incoming(caller, payload)
        if method == rp.LINK:
            return await self.ends.on_link(caller, payload)
        if method == rp.OPEN and self.relay is not None:
            return await self.relay.on_open(caller, payload)
        raise PeerRefused("this peer is no relay")

    async def resolved(self, contact: Contact, timeout_s: float) -> Contact:
        return await self._network.ways.resolved(contact, timeout_s)

    def forget(self, contact: Contact) -> None:
        self._network.forget(contact)

    def on_datagram(self, packet: bytes, source: SocketAddress, port: Port) -> None:
        self._network.incoming.on_datagram(packet, source, port)

    def on_connection(self, sock: socket.socket) -> None:
        self._network.streams.welcome(sock)

    def on_no_way(self, path: RelayPath, reason: str) -> None:
        self._network.on_no_way(path, reason)

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        if self._is_closed:  # what ends still says goodbye: nobody would await it
            work.close()
            return
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    # -- time --------------------------------------------------------------------------------------------------------

    def sweep(self, now: float) -> None:
        self.ends.sweep(now)
        if self.relay is not None:
            self.relay.sweep(now)

    async def close(self) -> None:
        self._is_closed = True
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


class _OwnPort:
    """The way from this network's use of a relay to the relay that it is itself."""

    def __init__(self, network: PeerNetwork) -> None:
        self._network = network

    def send(self, packet: bytes, address: SocketAddress) -> None:
        # Later, as from a socket: whoever sends is in the middle of something.
        asyncio.get_running_loop().call_soon(self._network.incoming.on_datagram, packet, _OWN, self)

    def contact(self, peer: PeerId, address: SocketAddress) -> Contact:
        return self._network.own_contact

    def room(self, address: SocketAddress) -> int:
        return LOOPBACK_BYTES

    async def connect(self, address: SocketAddress) -> socket.socket:
        ours, theirs = socket.socketpair()
        for sock in (ours, theirs):
            sock.setblocking(False)
        self._network.streams.welcome(theirs)
        return ours
