"""The simulated network: latency, loss, dead peers and partitions, decided by one seeded generator.

`World` makes networks that satisfy the `Network` protocol. A lost packet is sent again after a while, as the real
network does; a call fails when its time is over. If `bytes_per_s` is given, that is what a peer can send, to all others
together. What a handler raises, other than a refusal, is kept in `errors`: a
test that ends with one has found a bug.
"""

from __future__ import annotations

import asyncio
import hashlib
import inspect
import random
from collections.abc import Iterable
from functools import cached_property
from typing import Final

from strobe.errors import UsageError
from strobe.swarm.net.address import Address
from strobe.swarm.net.identity import Identity
from strobe.swarm.net.network import (
    Caller,
    Contact,
    Handler,
    Payload,
    PeerId,
    PeerRefused,
    PeerUnreachable,
    Pieces,
    ReplyTooLarge,
    Sendable,
)

_RETRANSMIT_S: Final = 0.2
_CHUNK: Final = 16 << 10


class World:
    """All networks of one simulation. `latency_s` is one way, from half to one and a half times as much."""

    def __init__(
        self, *, seed: int = 0, latency_s: float = 0.01, loss: float = 0.0, bytes_per_s: float | None = None
    ) -> None:
        self.random = random.Random(seed)
        self.latency_s = latency_s
        self.loss = loss
        self.bytes_per_s = bytes_per_s
        self.errors: list[BaseException] = []
        self.num_calls = 0
        self.num_bytes = 0
        self._networks: dict[tuple[str, int], SimNetwork] = {}
        self._sides: dict[PeerId, int] = {}

    def network(self, peer_id: bytes | None = None, host: str | None = None) -> SimNetwork:
        """Return the network of a new peer."""
        count = len(self._networks)
        host = host or f"10.{count >> 16 & 255}.{count >> 8 & 255}.{count & 255}"
        address = Address(PeerId(peer_id or self.random.randbytes(20)), (host,), 4000)
        network = self._networks[host, 4000] = SimNetwork(self, address)
        return network

    def partition(self, *sides: Iterable[PeerId]) -> None:
        """Cut the swarm into parts that cannot reach each other; without arguments, heal it."""
        self._sides = {peer: side for side, peers in enumerate(sides) for peer in peers}

    def route(self, source: PeerId, peer: Contact) -> SimNetwork | None:
        """Return the network that a call to `peer` gets to."""
        target = self._networks.get((peer.host, peer.port))
        if target is None or target.is_closed or target.address.id != peer.id:
            return None
        return target if self._sides.get(source) == self._sides.get(peer.id) else None

    def travel_s(self) -> float:
        """Return how long a packet and its answer are on their way, having been lost some times."""
        delay = 2 * self.latency_s * self.random.uniform(0.5, 1.5)
        while self.loss and self.random.random() < 1 - (1 - self.loss) ** 2:
            delay += _RETRANSMIT_S
        return delay


class SimNetwork:
    """One simulated peer's network."""

    def __init__(self, world: World, address: Address) -> None:
        self._world = world
        self._handlers: dict[str, Handler] = {}
        self._max_payloads: dict[str, int | None] = {}
        self.address = address
        self.is_closed = False
        self._line = asyncio.Lock()

    @cached_property
    def identity(self) -> Identity:
        """Keys for those who sign; the id of a simulated peer is not derived from them."""
        return Identity(hashlib.sha256(self.address.id).digest())

    def serve(self, method: str, handler: Handler, *, max_payload: int | None = None) -> None:
        self._handlers[method] = handler
        self._max_payloads[method] = max_payload

    def unserve(self, method: str) -> None:
        if self._handlers.pop(method, None) is None:
            raise UsageError(f"method {method!r} is not served")

    def begin(
        self, peer: Contact, method: str, payload: Sendable, *, timeout_s: float, max_reply: int | None = None
    ) -> None:
        """Leave it to `call`: nobody is in touch here."""

    async def call(
        self, peer: Contact, method: str, payload: Sendable, *, timeout_s: float, max_reply: int | None = None
    ) -> Payload:
        world = self._world
        world.num_calls += 1
        world.num_bytes += len(payload)
        delay = world.travel_s()
        if world.route(self.address.id, peer) is None or delay > timeout_s or self.is_closed:
            await asyncio.sleep(timeout_s)
            raise PeerUnreachable(f"{peer.host}:{peer.port} did not answer within {timeout_s:g} s")
        if world.bytes_per_s is None:
            return await self._talk(peer, method, payload, timeout_s, max_reply, delay)
        try:
            return await asyncio.wait_for(self._talk(peer, method, payload, timeout_s, max_reply, delay), timeout_s)
        except asyncio.TimeoutError:
            raise PeerUnreachable(f"{peer.host}:{peer.port} did not answer within {timeout_s:g} s") from None

    async def _talk(
        self, peer: Contact, method: str, payload: Sendable, timeout_s: float, max_reply: int | None, delay: float
    ) -> Payload:
        world = self._world
        await self._send(len(payload))
        await asyncio.sleep(delay / 2)
        target = world.route(self.address.id, peer)  # it may have died while the packet was on its way
        if target is None:
            await asyncio.sleep(timeout_s - delay / 2)
            raise PeerUnreachable(f"{peer.host}:{peer.port} did not answer within {timeout_s:g} s")
        answer = await target.answer(Caller(self.address.contact, b""), method, _as_received(payload))
        await target._send(len(answer))
        await asyncio.sleep(delay / 2)
        if max_reply is not None and len(answer) > max_reply:
            raise ReplyTooLarge(f"{peer.host}:{peer.port} answers {len(answer)} bytes; at most {max_reply} are taken")
        world.num_bytes += len(answer)
        return answer

    async def _send(self, size: int) -> None:
        """Take as long as so many bytes take beside all else that this peer sends."""
        if self._world.bytes_per_s is not None:
            for start in range(0, size, _CHUNK):
                async with self._line:
                    await asyncio.sleep(min(size - start, _CHUNK) / self._world.bytes_per_s)

    async def answer(self, caller: Caller, method: str, payload: Payload) -> Payload:
        """Return what a handler says to a call."""
        handler = self._handlers.get(method)
        if handler is None:
            raise PeerRefused(f"no method {method!r} here")
        limit = self._max_payloads[method]
        if limit is not None and len(payload) > limit:
            raise PeerRefused(f"a payload of {len(payload)} bytes is over this peer's limit of {limit} for {method!r}")
        try:
            answer = handler(caller, payload)
            return _as_received(await answer if inspect.isawaitable(answer) else answer)
        except PeerRefused:
            raise
        except Exception as exc:  # what the real network does; the test sees it in `errors`
            self._world.errors.append(exc)
            raise PeerRefused("internal error") from exc

    async def moved(self, since: Address) -> Address:
        """Wait for ever: a simulated peer stays where it is."""
        never: asyncio.Future[Address] = asyncio.get_running_loop().create_future()
        return await never

    async def close(self) -> None:
        self.is_closed = True


def _as_received(payload: Sendable) -> Payload:
    return payload.joined() if isinstance(payload, Pieces) else payload
