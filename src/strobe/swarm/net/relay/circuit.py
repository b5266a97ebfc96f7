"""Two peers that talk through this one: what each end sends is passed on to the other, within limits, unread.

A circuit is for datagrams and for connections alike. What it carries is sealed between the ends: the relay has no key,
and whatever it changed would be thrown away there. Knows sockets and limits, nothing of who may open a circuit.
"""

from __future__ import annotations

import asyncio
import socket
import time

from strobe.errors import Error
from strobe.swarm.net.network import PeerId
from strobe.swarm.net.packet import DOWN, RELAYED
from strobe.swarm.net.ports import Port, SocketAddress
from strobe.swarm.net.relay.limits import Gate, RelayLimits
from strobe.swarm.net.replay import ReplayWindow

_PIECE = 128 << 10


class CircuitOver(Error):
    """The circuit has carried what it may."""


class Side:
    """One end of a circuit, as the relay knows it."""

    __slots__ = ("address", "circuit", "down", "index", "links", "other", "peer", "port", "token")

    def __init__(self, peer: PeerId, index: int) -> None:
        self.peer = peer
        #: the relay's own, by which this end's packets are known
        self.index = index
        # set by `renew`
        self.port: Port
        self.address: SocketAddress
        self.token: bytes
        #: what stands before packets to this end; with its own index, once it has told
        self.down = b""
        #: numbers of the connections it has opened
        self.links = ReplayWindow()
        self.circuit: Circuit
        self.other: Side

    def is_at(self, index: int) -> None:
        """Note this end's own index of the circuit."""
        self.down = RELAYED.pack(DOWN, index)

    def renew(self, port: Port, address: SocketAddress, token: bytes) -> None:
        """Begin, or begin anew, with an end that is to be found there."""
        self.port, self.address, self.token = port, address, token
        self.links = ReplayWindow()

    @property
    def remote_index(self) -> int:
        index: int = RELAYED.unpack(self.down)[1]
        return index


class Circuit:
    """A pair of ends. `sheltered` is the peer on whose account it runs."""

    def __init__(self, caller: Side, sheltered: Side, limits: RelayLimits, gate: Gate, now: float) -> None:
        self.sides = (caller, sheltered)
        self.sheltered = sheltered.peer
        caller.circuit = sheltered.circuit = self
        caller.other, sheltered.other = sheltered, caller
        self._all = gate
        self._own = Gate(limits.circuit_bytes_per_s, now)
        self._bytes_left = limits.circuit_bytes
        self.born = self.used = now
        #: the tasks that run its connections
        self.links: set[asyncio.Task[None]] = set()

    @property
    def is_spent(self) -> bool:
        return self._bytes_left <= 0

    def forward(self, side: Side, packet: bytes, now: float) -> bool:
        """Pass on a datagram that came from one side; False if it had to be dropped."""
        other = side.other
        if not other.down or self.is_spent or not self._own.take(len(packet), now):
            return False
        if not self._all.take(len(packet), now):
            return False
        self._bytes_left -= len(packet)
        self.used = now
        other.port.send(other.down + packet[RELAYED.size :], other.address)
        return True

    async def splice(self, one: socket.socket, other: socket.socket) -> None:
        """Pass on what comes on two connections until either ends; raises OSError and CircuitOver."""
        loop = asyncio.get_running_loop()
        pumps = [loop.create_task(self._pump(one, other)), loop.create_task(self._pump(other, one))]
        try:
            await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for pump in pumps:
                pump.cancel()
            ended = await asyncio.gather(*pumps, return_exceptions=True)
        for outcome in ended:
            if isinstance(outcome, Exception):
                raise outcome

    async def _pump(self, source: socket.socket, target: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        room = memoryview(bytearray(_PIECE))
        while received := await loop.sock_recv_into(source, room):
            await self._own.wait(self.sheltered, received)
            await self._all.wait(self.sheltered, received)
            if self.is_spent:
                raise CircuitOver
            self._bytes_left -= received
            self.used = time.monotonic()
            await loop.sock_sendall(target, room[:received])

    def end(self) -> None:
        """Cut its connections."""
        for link in self.links:
            link.cancel()
