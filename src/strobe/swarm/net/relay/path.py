"""The way to a peer through a relay: looks like a port, so sessions and streams use it like any other.

It has a circuit or gets one when something is to be sent; what is sent meanwhile waits in a short queue, and beyond
that gets lost, as on any way. A circuit that the relay has forgotten, or on which nothing comes back, is asked for
anew; the session above does not notice. Both ends of a circuit have one of these.
"""

from __future__ import annotations

import asyncio
import socket
import time
from dataclasses import dataclass
from typing import Protocol

from strobe.swarm.net.network import Contact, PeerId
from strobe.swarm.net.packet import ANSWER, LINK, RELAYED, SAFE_BYTES, UP
from strobe.swarm.net.ports import Port, SocketAddress
from strobe.swarm.net.relay import protocol as rp

#: packets that wait for a circuit: a handshake and the first calls
_MAX_WAITING = 32
#: a circuit is asked for anew when nothing came back for so long
_SILENCE_S = 3.0
_LINK_S = 15.0
_MAX_ENDS = 3


@dataclass(frozen=True, slots=True)
class CircuitEnd:
    """This side's index of a circuit, the relay's, the secret for connections, and whether this side asked for it."""

    index: int
    relay_index: int
    token: bytes
    is_asked_for: bool


class PathHost(Protocol):
    """Who gets circuits for paths."""

    def open(self, path: RelayPath) -> asyncio.Future[None]:
        """Get the path a circuit, if nobody is about to; the future tells when there is one, or why not."""


class RelayPath:
    """One peer, through one relay. `port` and `at` are the way to the relay itself."""

    def __init__(self, contact: Contact, port: Port, at: SocketAddress, host: PathHost, tag_bytes: int) -> None:
        self.peer = contact.id
        self.relay = relay_of(contact)
        self.port = port
        self.at = at
        #: what stands for the peer where others have a socket's address
        self.address: SocketAddress = (contact.host, contact.port, contact.relay, contact.id)
        self._host = host
        self._tag_bytes = tag_bytes
        self._waiting: list[bytes] = []
        self._num_links = 0
        self._unanswered_since = 0.0
        #: the circuit to send on, and those that may still bring something
        self.end: CircuitEnd | None = None
        self.ends: list[CircuitEnd] = []
        self._head = b""
        self.used = time.monotonic()

    # -- as a port ---------------------------------------------------------------------------------------------------

    def send(self, packet: bytes, address: SocketAddress) -> None:
        self.used = now = time.monotonic()
        # Who is called cannot judge: its caller may have nothing more to say.
        if self.end is not None and self.end.is_asked_for:
            if not self._unanswered_since:
                self._unanswered_since = now
            elif now - self._unanswered_since > _SILENCE_S:
                self.lose()
        if self.end is None:
            if len(self._waiting) < _MAX_WAITING:
                self._waiting.append(packet)
            self._host.open(self)
            return
        self.port.send(self._head + packet, self.at)

    def contact(self, peer: PeerId, address: SocketAddress) -> Contact:
        return self.relay._replace(id=peer, relay=self.relay.id)

    def room(self, address: SocketAddress) -> int:
        # Not more over loopback: the other end's way to the relay may be a long one.
        return SAFE_BYTES - RELAYED.size

    async def connect(self, address: SocketAddress) -> socket.socket:
        for _ in range(2):  # the relay may have forgotten the circuit that there was
            if (sock := await self._linked()) is not None:
                return sock
        raise ConnectionError("the relay did not connect us to the peer")

    async def _linked(self) -> socket.socket | None:
        """Return a connection to the peer; None if the relay hung up."""
        if self.end is None:
            await asyncio.shield(self._host.open(self))
        end = self.end
        if end is None:
            return None
        number, self._num_links = self._num_links, self._num_links + 1
        sock = await self._begin(LINK, end, number)
        try:
            said = await asyncio.wait_for(asyncio.get_running_loop().sock_recv(sock, 1), _LINK_S)
        except BaseException:
            sock.close()
            raise
        if said == rp.LINKED:
            return sock
        sock.close()
        if self.end is end:
            self.lose()
        return None

    # -- what the relay says -----------------------------------------------------------------------------------------

    def gained(self, end: CircuitEnd) -> list[CircuitEnd]:
        """Use a circuit from now on; returns those on which nothing is expected any more.

        The one before is heard for a while: when both ends ask for a circuit at once, each may send on the other's.
        """
        self.end = end
        over, self.ends = self.ends[: -_MAX_ENDS + 1], [*self.ends[-_MAX_ENDS + 1 :], end]
        self._head = RELAYED.pack(UP, end.relay_index)
        self._unanswered_since = 0.0
        waiting, self._waiting = self._waiting, []
        for packet in waiting:
            self.send(packet, self.address)
        return over

    def lose(self) -> None:
        """Ask for another circuit when one is needed."""
        self.end = None
        self._unanswered_since = 0.0

    def failed(self) -> None:
        """Forget what waits: there is no way to the peer."""
        self._waiting.clear()

    def heard(self) -> None:
        """Note that the circuit works."""
        self._unanswered_since = 0.0

    async def answer(self, end: CircuitEnd, number: int) -> socket.socket:
        """Return a connection to the other end, which has asked for it by this number."""
        return await self._begin(ANSWER, end, number)

    async def _begin(self, kind: int, end: CircuitEnd, number: int) -> socket.socket:
        sock = await self.port.connect(self.at)
        try:
            packet = rp.link_packet(kind, end.relay_index, number, end.token, self._tag_bytes)
            await asyncio.get_running_loop().sock_sendall(sock, packet)
        except BaseException:
            sock.close()
            raise
        return sock


def relay_of(contact: Contact) -> Contact:
    """Return the relay by which a contact is reached."""
    if contact.relay is None:
        raise ValueError(f"{contact} is not reached through a relay")
    return Contact(contact.relay, contact.host, contact.port)
