"""The circuits that end here: opened when this peer wants to reach another through a relay, or is reached so itself.

Keeps the paths, gets circuits for them, and hands what comes out of a circuit to the network as if it had come by a
socket. Believes a relay only about its own circuits: who is at the other end is proven by the handshake through it.
"""

from __future__ import annotations

import asyncio
import secrets
import socket
import time
from collections.abc import Callable, Coroutine
from typing import Any, Protocol

from strobe.swarm.net import packet as p
from strobe.swarm.net.flow import TokenBucket
from strobe.swarm.net.network import Caller, Contact, NetworkError, Payload, PeerId, PeerRefused
from strobe.swarm.net.ports import Port, SocketAddress
from strobe.swarm.net.relay import protocol as rp
from strobe.swarm.net.relay.path import CircuitEnd, RelayPath, relay_of

#: a relay asks the sheltered peer before it answers
_OPEN_S = 8.0
#: after a refusal, before the relay is asked again for the same peer
_PAUSE_S = 1.0
_UNUSED_S = 600.0
_MAX_PATHS = 4096
_GONE_PER_S = 100.0


class EndsHost(Protocol):
    """What the ends of circuits need of their network."""

    def way(self, contact: Contact) -> tuple[Port, SocketAddress]: ...

    async def ask(self, contact: Contact, method: str, payload: bytes, timeout_s: float) -> Payload: ...

    def spawn(self, work: Coroutine[Any, Any, None]) -> None: ...

    def on_datagram(self, packet: bytes, source: SocketAddress, port: Port) -> None: ...

    def on_connection(self, sock: socket.socket) -> None:
        """Take over a connection of a peer that begins with ATTACH."""

    def on_no_way(self, path: RelayPath, reason: str) -> None:
        """Fail the calls that wait for a path."""


class RelayEnds:
    """All ends of circuits of one network. `shelter_of` names the contact of a relay that we have a reservation at."""

    def __init__(self, host: EndsHost, shelter_of: Callable[[PeerId], Contact | None], tag_bytes: int) -> None:
        self._host = host
        self._shelter_of = shelter_of
        self._tag_bytes = tag_bytes
        self._paths: dict[tuple[Contact, PeerId], RelayPath] = {}
        self._ends: dict[int, tuple[RelayPath, CircuitEnd]] = {}
        self._openings: dict[RelayPath, asyncio.Future[None]] = {}
        self._not_before: dict[RelayPath, float] = {}
        self._gone = TokenBucket(_GONE_PER_S, _GONE_PER_S, time.monotonic())

    def path(self, contact: Contact) -> RelayPath:
        """Return the way to a peer that its contact says is reached through a relay."""
        relay = relay_of(contact)
        path = self._paths.get((relay, contact.id))
        if path is None:
            if len(self._paths) >= _MAX_PATHS:
                self._forget(min(self._paths.values(), key=lambda each: each.used))
            path = RelayPath(contact, *self._host.way(relay), self, self._tag_bytes)
            self._paths[relay, contact.id] = path
        return path

    # -- getting circuits --------------------------------------------------------------------------------------------

    def open(self, path: RelayPath) -> asyncio.Future[None]:
        opening = self._openings.get(path)
        if opening is None:
            opening = self._openings[path] = asyncio.get_running_loop().create_future()
            opening.add_done_callback(_look_at)
            self._host.spawn(self._open(path, opening))
        return opening

    async def _open(self, path: RelayPath, opening: asyncio.Future[None]) -> None:
        failure: Exception = ConnectionError("this network was closed")
        try:
            await asyncio.sleep(self._not_before.pop(path, 0.0) - time.monotonic())
            index = self._new_index()
            request = rp.encode(rp.Open(path.peer, index))
            answer = await self._host.ask(path.relay, rp.OPEN, request, _OPEN_S)
            opened = rp.decode(rp.Opened, answer)
            self._gain(path, CircuitEnd(index, opened.index, opened.token, is_asked_for=True))
            opening.set_result(None)
        except NetworkError as exc:
            failure = ConnectionError(str(exc))
            self._not_before[path] = time.monotonic() + _PAUSE_S
            path.failed()
            self._host.on_no_way(path, f"no way through relay {path.relay.host} port {path.relay.port}: {exc}")
        finally:
            self._openings.pop(path, None)
            if not opening.done():
                opening.set_exception(failure)

    def _new_index(self) -> int:
        while (index := secrets.randbits(32)) in self._ends:
            pass
        return index

    def _gain(self, path: RelayPath, end: CircuitEnd) -> None:
        self._ends[end.index] = (path, end)
        for old in path.gained(end):
            self._ends.pop(old.index, None)

    def on_incoming(self, caller: Caller, payload: Payload) -> bytes:
        """Take part in a circuit that somebody wants to us."""
        relay = self._shelter_of(caller.id)
        if relay is None:
            raise PeerRefused("this peer has not asked you to be its relay")
        incoming = rp.decode(rp.Incoming, payload)
        index = self._new_index()
        path = self.path(relay._replace(id=PeerId(incoming.of), relay=relay.id))
        self._gain(path, CircuitEnd(index, incoming.index, incoming.token, is_asked_for=False))
        return rp.encode(rp.Accepted(index))

    # -- what comes through them -------------------------------------------------------------------------------------

    def on_down(self, packet: bytes, source: SocketAddress) -> None:
        """Take what the other end sent."""
        if len(packet) <= p.RELAYED.size:
            return
        path, _ = self._ends.get(p.RELAYED.unpack_from(packet)[1], (None, None))
        if path is not None and path.at[:2] == source[:2] and packet[p.RELAYED.size] not in (p.UP, p.DOWN, p.GONE):
            path.used = time.monotonic()
            path.heard()
            self._host.on_datagram(packet[p.RELAYED.size :], path.address, path)

    def on_gone(self, packet: bytes, source: SocketAddress) -> None:
        # Anybody may have sent it. It only makes this side ask for a circuit again.
        if len(packet) != p.RELAYED.size or not self._gone.take(time.monotonic()):
            return
        index = p.RELAYED.unpack(packet)[1]
        for path, end in self._ends.values():
            if end.relay_index == index and path.at[:2] == source[:2] and path.end is end:
                path.lose()

    async def on_link(self, caller: Caller, payload: Payload) -> bytes:
        """Connect to the relay, where the other end of a circuit waits for a connection to us."""
        request = rp.decode(rp.Link, payload)
        path, end = self._ends.get(request.index, (None, None))
        if path is None or end is None or path.relay.id != caller.id:
            raise PeerRefused("no such circuit here")
        self._host.spawn(self._answer(path, end, request.number))
        return b""

    async def _answer(self, path: RelayPath, end: CircuitEnd, number: int) -> None:
        try:
            sock = await path.answer(end, number)
        except (OSError, asyncio.TimeoutError):
            return  # the relay tells the other end when nobody comes
        self._host.on_connection(sock)

    # -- time --------------------------------------------------------------------------------------------------------

    def sweep(self, now: float) -> None:
        """Forget paths that nobody uses."""
        for path in [path for path in self._paths.values() if now - path.used > _UNUSED_S]:
            self._forget(path)

    def _forget(self, path: RelayPath) -> None:
        # A session may still have it; it gets a new circuit then.
        self._paths = {key: known for key, known in self._paths.items() if known is not path}
        for end in path.ends:
            self._ends.pop(end.index, None)
        self._not_before.pop(path, None)
        path.lose()


def _look_at(opening: asyncio.Future[None]) -> None:
    """Nobody has to wait for it: what waits for the path is told otherwise."""
    if not opening.cancelled():
        opening.exception()
