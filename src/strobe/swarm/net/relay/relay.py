"""A peer that passes on what others send to those who cannot be dialled: reservations, circuits, connections.

Who wants to be reached reserves, and renews that. Who wants to reach it opens a circuit: both have proven themselves to
the relay, the sheltered one is asked, and from then on datagrams go by the circuit's numbers and connections are
joined in pairs. The ends shake hands with each other through it; nothing here could read or forge what they say.
"""

from __future__ import annotations

import asyncio
import hmac
import logging
import secrets
import socket
import time
from collections import Counter
from dataclasses import dataclass
from typing import Protocol

from strobe.swarm.net import packet as p
from strobe.swarm.net.flow import TokenBucket
from strobe.swarm.net.identity import peer_text
from strobe.swarm.net.network import Caller, Contact, NetworkError, Payload, PeerBusy, PeerId, PeerRefused
from strobe.swarm.net.ports import Port, SocketAddress
from strobe.swarm.net.relay import protocol as rp
from strobe.swarm.net.relay.circuit import Circuit, CircuitOver, Side
from strobe.swarm.net.relay.limits import Gate, RelayLimits

_log = logging.getLogger("strobe.swarm.net")
_ASK_S = 5.0
_LINK_S = 10.0
_GONE_PER_S = 100.0
#: circuits of one caller, renewed ones too
_OPENS_PER_S = 4.0
_MAX_BUCKETS = 4096
#: a circuit without connections that was silent for so long makes room for another
_RESTING_S = 10.0
_BUSY_S = 30.0


class RelayHost(Protocol):
    """What a relay needs of its network."""

    def way(self, contact: Contact) -> tuple[Port, SocketAddress]:
        """Return how packets get to a contact that is heard directly."""

    async def ask(self, contact: Contact, method: str, payload: bytes, timeout_s: float) -> Payload:
        """Call a peer, be it ourselves."""


@dataclass(slots=True)
class _Reservation:
    contact: Contact
    expires: float


class Relay:
    """The relay of one network."""

    def __init__(self, host: RelayHost, limits: RelayLimits, tag_bytes: int) -> None:
        now = time.monotonic()
        self._host = host
        self._limits = limits
        self._tag_bytes = tag_bytes
        self._gate = Gate(limits.bytes_per_s, now)
        self._gone = TokenBucket(_GONE_PER_S, _GONE_PER_S, now)
        self._reservations: dict[PeerId, _Reservation] = {}
        self._circuits: dict[tuple[PeerId, PeerId], Circuit] = {}
        self._num_circuits: Counter[PeerId] = Counter()
        self._sides: dict[int, Side] = {}
        self._buckets: dict[PeerId, TokenBucket] = {}
        self._num_links = 0
        #: connections whose other end was asked to connect, by what it has to say
        self._awaited: dict[tuple[int, int], asyncio.Future[socket.socket]] = {}
        self.dropped = 0
        self.rejected = 0

    @property
    def num_reservations(self) -> int:
        return len(self._reservations)

    @property
    def num_circuits(self) -> int:
        return len(self._circuits)

    # -- what others ask ---------------------------------------------------------------------------------------------

    def on_reserve(self, caller: Caller, payload: Payload) -> bytes:
        """Let others reach the caller through us, or go on to."""
        limits, now, contact = self._limits, time.monotonic(), caller.contact
        if contact.relay is not None:
            raise PeerRefused("a relay is reserved directly, not through another one")
        self._expire(now)
        known = self._reservations.get(caller.id)
        if known is None:
            if len(self._reservations) >= limits.max_reservations:
                raise PeerBusy(f"this relay has its {limits.max_reservations} peers; try another one", _BUSY_S)
            num_there = sum(each.contact.host == contact.host for each in self._reservations.values())
            if num_there >= limits.max_reservations_per_host:
                raise PeerBusy(f"this relay has {num_there} peers of {contact.host}; try another one", _BUSY_S)
        elif known.contact != contact:
            self._follow(caller.id, contact)
        self._reservations[caller.id] = _Reservation(contact, now + limits.reservation_s)
        return rp.encode(rp.Reserved(limits.reservation_s))

    def _follow(self, peer: PeerId, contact: Contact) -> None:
        """Send to where a sheltered peer is heard now: its NAT has given it another port."""
        port, address = self._host.way(contact)
        for side in self._sides.values():
            if side.peer == peer:
                side.port, side.address = port, address

    async def on_open(self, caller: Caller, payload: Payload) -> bytes:
        """Make a circuit between the caller and a peer that has reserved."""
        request, now = rp.decode(rp.Open, payload), time.monotonic()
        to = PeerId(request.to)
        self._expire(now)
        reservation = self._reservations.get(to)
        if reservation is None:
            raise PeerRefused(f"{peer_text(to)} is not reached through this relay (any more); look up its address anew")
        if not self._bucket_of(caller.id, now).take(now):
            raise PeerBusy(f"more than {_OPENS_PER_S:g} circuits a second", 1 / _OPENS_PER_S)
        known = self._circuits.get((caller.id, to))
        if known is not None and known.is_spent:
            self._end(known, tell=False)
            known = None
        circuit = known or self._new_circuit(caller.id, to, now)
        here, there = circuit.sides
        # One that there was is lost at one end or the other; what its connections carry need not know.
        for side, contact in ((here, caller.contact), (there, reservation.contact)):
            side.renew(*self._host.way(contact), secrets.token_bytes(rp.TOKEN_BYTES))
        here.is_at(request.index)
        try:
            incoming = rp.encode(rp.Incoming(caller.id, there.index, there.token))
            answer = await self._host.ask(reservation.contact, rp.INCOMING, incoming, _ASK_S)
            there.is_at(rp.decode(rp.Accepted, answer).index)
        except NetworkError as exc:
            if known is None:
                self._end(circuit, tell=False)
            raise PeerRefused(f"{peer_text(to)} does not answer its relay: {exc}") from exc
        return rp.encode(rp.Opened(here.index, here.token))

    def _new_circuit(self, caller: PeerId, to: PeerId, now: float) -> Circuit:
        limits = self._limits
        if len(self._circuits) >= limits.max_circuits:
            self._make_room(list(self._circuits.values()), f"this relay has its {limits.max_circuits} circuits", now)
        for peer in (caller, to):
            if self._num_circuits[peer] >= limits.max_circuits_per_peer:
                of_peer = [circuit for pair, circuit in self._circuits.items() if peer in pair]
                self._make_room(of_peer, f"{peer_text(peer)} has its {len(of_peer)} circuits here", now)
        circuit = self._circuits[caller, to] = Circuit(self._side(caller), self._side(to), limits, self._gate, now)
        self._num_circuits.update((caller, to))
        return circuit

    def _make_room(self, circuits: list[Circuit], reason: str, now: float) -> None:
        """End the circuit that was silent longest, if none of it is in use: its ends get another when they want one."""
        resting = [circuit for circuit in circuits if not circuit.links and now - circuit.used > _RESTING_S]
        if not resting:
            raise PeerBusy(reason, _BUSY_S)
        self._end(min(resting, key=lambda circuit: circuit.used))

    def _side(self, peer: PeerId) -> Side:
        while (index := secrets.randbits(32)) in self._sides:
            pass
        side = self._sides[index] = Side(peer, index)
        return side

    def _bucket_of(self, caller: PeerId, now: float) -> TokenBucket:
        bucket = self._buckets.pop(caller, None) or TokenBucket(_OPENS_PER_S, self._limits.max_circuits_per_peer, now)
        self._buckets[caller] = bucket
        if len(self._buckets) > _MAX_BUCKETS:
            del self._buckets[next(iter(self._buckets))]  # of whoever has asked for nothing for longest
        return bucket

    # -- datagrams ---------------------------------------------------------------------------------------------------

    def on_up(self, packet: bytes, source: SocketAddress, port: Port) -> None:
        """Pass on a datagram."""
        if len(packet) <= p.RELAYED.size:
            return
        index = p.RELAYED.unpack_from(packet)[1]
        side, now = self._sides.get(index), time.monotonic()
        if side is None:
            if self._gone.take(now):
                port.send(p.RELAYED.pack(p.GONE, index), source)
        elif side.address[:2] != source[:2] or not side.circuit.forward(side, packet, now):
            self.dropped += 1
            if side.circuit.is_spent:
                self._end(side.circuit)

    # -- connections -------------------------------------------------------------------------------------------------

    async def on_connection(self, sock: socket.socket, packet: bytes) -> None:
        """Take over a connection that began with LINK or ANSWER, until it ends."""
        kind, index, number = p.HEADER.unpack_from(packet)
        side = self._sides.get(index)
        proof = b"" if side is None else rp.link_packet(kind, index, number, side.token, self._tag_bytes)
        if side is None or not hmac.compare_digest(proof, packet):
            self.rejected += 1
            sock.close()
        elif kind == p.LINK:
            await self._link(sock, side, number)
        elif (awaited := self._awaited.pop((index, number), None)) is not None and not awaited.done():
            awaited.set_result(sock)
        else:
            sock.close()

    async def _link(self, sock: socket.socket, side: Side, number: int) -> None:
        circuit, limits = side.circuit, self._limits
        task = asyncio.current_task()
        is_full = len(circuit.links) >= limits.max_links_per_circuit or self._num_links >= limits.max_links
        if task is None or is_full or not side.links.is_fresh(number):
            self.rejected += 1
            sock.close()
            return
        side.links.mark(number)
        circuit.links.add(task)
        self._num_links += 1
        key = side.other.index, secrets.randbits(63)
        awaited = self._awaited[key] = asyncio.get_running_loop().create_future()
        try:
            request = rp.encode(rp.Link(side.other.remote_index, key[1]))
            await self._host.ask(self._contact_of(side.other), rp.LINK, request, _ASK_S)
            far = await asyncio.wait_for(asyncio.shield(awaited), _LINK_S)
            await asyncio.get_running_loop().sock_sendall(sock, rp.LINKED)
            await circuit.splice(sock, far)
        except (NetworkError, OSError, asyncio.TimeoutError) as exc:
            _log.debug("a connection through this relay ended: %r", exc)
        except CircuitOver:
            self._end(circuit)
        finally:
            circuit.links.discard(task)
            self._num_links -= 1
            self._awaited.pop(key, None)
            sock.close()
            if awaited.done():
                awaited.result().close()
            else:
                awaited.cancel()

    def _contact_of(self, side: Side) -> Contact:
        return side.port.contact(side.peer, side.address)

    # -- time --------------------------------------------------------------------------------------------------------

    def sweep(self, now: float) -> None:
        """End what is too old, idle, or used up."""
        self._expire(now)
        limits = self._limits
        for circuit in list(self._circuits.values()):
            is_old = now - circuit.born > limits.circuit_s or now - circuit.used > limits.circuit_idle_s
            if is_old or circuit.is_spent or circuit.sheltered not in self._reservations:
                self._end(circuit)

    def _expire(self, now: float) -> None:
        for peer, reservation in list(self._reservations.items()):
            if reservation.expires <= now:
                del self._reservations[peer]

    def _end(self, circuit: Circuit, *, tell: bool = True) -> None:
        """Forget a circuit and, unless they know, tell its ends."""
        caller, sheltered = circuit.sides
        if self._circuits.get((caller.peer, sheltered.peer)) is circuit:
            del self._circuits[caller.peer, sheltered.peer]
            self._num_circuits.subtract((caller.peer, sheltered.peer))
            self._num_circuits += Counter()  # forget the zeros
        for side in circuit.sides:
            if self._sides.pop(side.index, None) is not None and tell:
                side.port.send(p.RELAYED.pack(p.GONE, side.index), side.address)
        circuit.end()
