"""From ordinary code to the peers: calls run on the event loop of the DHT's peer, results are waited for here.

A peer that is busy is asked again when it said to; one with several hosts is called at the one where it is heard.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from typing import Final, TypeVar

from strobe.errors import Error, UsageError
from strobe.swarm.client.strangers import Strangers
from strobe.swarm.dht import DHT, DhtStopped, Node
from strobe.swarm.net.address import Address
from strobe.swarm.net.hosts import forget, heard_at, known_contact
from strobe.swarm.net.network import Network, Payload, PeerBusy, PeerUnreachable, Sendable

_LEAST_WAIT_S: Final = 0.01
_Answer = TypeVar("_Answer")


class Link:
    """The peer of a DHT, for calls from other threads."""

    def __init__(self, dht: DHT) -> None:
        self.dht = dht
        self.strangers = Strangers()
        try:
            dht.run_coroutine(_network_of)  # which cannot leave a process of its own
        except DhtStopped:
            raise
        except Error as exc:
            raise UsageError("experts need a DHT in this process; make it without process=True") from exc

    def ask(self, call: Callable[[Node], Awaitable[_Answer]]) -> _Answer:
        """Return what comes of a call, or raise what it does."""
        return self.dht.run_coroutine(call)

    def begin(self, call: Callable[[Node], Awaitable[_Answer]]) -> Future[_Answer]:
        """Begin a call. Its future raises what that does; cancelling it gives the call up."""
        return self.dht.run_coroutine(call, return_future=True)


class Question:
    """What is asked of the peer at an address, within a time. On the network's event loop."""

    __slots__ = ("_address", "_deadline", "_max_reply", "_method", "_network", "_payload", "_timeout_s", "first")

    def __init__(
        self,
        network: Network,
        address: Address,
        method: str,
        payload: Sendable,
        *,
        timeout_s: float,
        max_reply: int | None = None,
    ) -> None:
        self._network = network
        self._address = address
        self._method = method
        self._payload = payload
        self._timeout_s = timeout_s
        self._max_reply = max_reply
        self._deadline = asyncio.get_running_loop().time() + timeout_s
        contact = known_contact(network, address)
        #: the call, if the peer is in touch: nearly always all that there is to it
        self.first = (
            None
            if contact is None
            else network.begin(contact, method, payload, timeout_s=timeout_s, max_reply=max_reply)
        )

    def at(self, address: Address) -> Question:
        """Return the same for another address, with all its time again."""
        return Question(
            self._network, address, self._method, self._payload, timeout_s=self._timeout_s, max_reply=self._max_reply
        )

    async def answer(self) -> Payload:
        """Return the answer, having waited as long as the peer was busy. Raises what `Network.call` does."""
        clock = asyncio.get_running_loop().time
        call = self.first
        while True:
            try:
                return await (self._call(clock) if call is None else call)
            except PeerBusy as busy:
                # Not all at once again: those who were refused together come back apart.
                wait_s = max(busy.retry_after_s, _LEAST_WAIT_S) * random.uniform(0.5, 1.5)
                if clock() + wait_s >= self._deadline:
                    raise
                call = None
                await asyncio.sleep(wait_s)
            except PeerUnreachable:
                forget(self._network, self._address)
                raise

    async def _call(self, clock: Callable[[], float]) -> Payload:
        contact = await heard_at(self._network, self._address, timeout_s=self._deadline - clock())
        return await self._network.call(
            contact, self._method, self._payload, timeout_s=self._deadline - clock(), max_reply=self._max_reply
        )


async def ask(
    network: Network,
    address: Address,
    method: str,
    payload: Sendable,
    *,
    timeout_s: float,
    max_reply: int | None = None,
) -> Payload:
    """Ask, and return the answer."""
    return await Question(network, address, method, payload, timeout_s=timeout_s, max_reply=max_reply).answer()


async def _network_of(node: Node) -> Network:
    return node.network
