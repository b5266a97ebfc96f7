"""Relays for tests: peers behind a filter like a NAT's, and a relay that does what it should not."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from strobe.swarm.net import Address, Contact, Identity, Limits, PeerNetwork, RelayLimits
from strobe.swarm.net.packet import RELAYED
from strobe.swarm.net.ports import DatagramPort, Port, Received, SocketAddress
from tests.swarm.net.peers import serve_echo

#: renewed often, so that a relay that died is missed soon
QUICK = Limits(relay_renew_s=1.5)


class NatPort(DatagramPort):
    """A port behind a NAT: what comes from where nothing was sent to does not get in."""

    def __init__(self, sock: socket.socket, received: Received) -> None:
        self._opened: set[Any] = set()
        super().__init__(sock, lambda packet, source, port: self._filter(received, packet, source))

    def _filter(self, received: Received, packet: bytes, source: SocketAddress) -> None:
        if source in self._opened:
            received(packet, source, self)

    def send(self, packet: bytes, address: SocketAddress) -> None:
        self._opened.add(address)
        super().send(packet, address)


@asynccontextmanager
async def relay(limits: RelayLimits | None = None, **more: Any) -> AsyncIterator[PeerNetwork]:
    """A peer that relays."""
    network = await PeerNetwork.listen(Identity.generate(), relay=limits or True, **more)
    serve_echo(network)
    try:
        yield network
    finally:
        await network.close()


@asynccontextmanager
async def sheltered(*relays: Address, **more: Any) -> AsyncIterator[PeerNetwork]:
    """A peer that is reached through relays only; serves what `peers` do."""
    options: dict[str, Any] = {"open_port": NatPort, "limits": QUICK, "reachable": False, **more}
    network = await PeerNetwork.listen(Identity.generate(), relays=relays, **options)
    serve_echo(network)
    try:
        yield network
    finally:
        await network.close()


class HostilePort:
    """The way of a relay to one of its circuits' ends, on which somebody works at every packet that is passed on."""

    def __init__(self, port: Port, work: Callable[[bytes], list[bytes]]) -> None:
        self._port = port
        self._work = work

    def send(self, packet: bytes, address: SocketAddress) -> None:
        head, carried = packet[: RELAYED.size], packet[RELAYED.size :]
        for each in self._work(carried) if carried else [carried]:
            self._port.send(head + each, address)

    def contact(self, peer: Any, address: SocketAddress) -> Contact:
        return self._port.contact(peer, address)

    def room(self, address: SocketAddress) -> int:
        return self._port.room(address)

    async def connect(self, address: SocketAddress) -> socket.socket:
        return await self._port.connect(address)


def make_hostile(network: PeerNetwork, new_work: Callable[[], Callable[[bytes], list[bytes]]]) -> None:
    """Have a relay send, for each packet that it should pass on, what some work makes of it: one for each end."""
    way = network.relaying.way

    def hostile_way(contact: Contact) -> tuple[Port, SocketAddress]:
        port, address = way(contact)
        return HostilePort(port, new_work()), address

    network.relaying.way = hostile_way  # type: ignore[method-assign]
