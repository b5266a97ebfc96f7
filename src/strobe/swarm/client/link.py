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
from strobe.swarm.client.hosts import forget, heard_at
from strobe.swarm.client.strangers import Strangers
from strobe.swarm.dht import DHT, DhtStopped, Node
from strobe.swarm.net.address import Address
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

    def begin(self, call: Callable[[Node], Awaitable[_Answer]]) -> Future[_Answer]:
        """Begin a call. Its future raises what that does; cancelling it gives the call up."""
        return self.dht.run_coroutine(call, return_future=True)


async def ask(network: Network, address: Address, method: str, payload: Sendable, *, timeout_s: float) -> Payload:
    """Call the peer at an address, on the network's event loop. Raises what `Network.call` does."""
    clock = asyncio.get_running_loop().time
    deadline = clock() + timeout_s
    contact = await heard_at(network, address, timeout_s=timeout_s)
    while True:
        try:
            return await network.call(contact, method, payload, timeout_s=deadline - clock())
        except PeerBusy as busy:
            # Not all at once again: those who were refused together come back apart.
            wait_s = max(busy.retry_after_s, _LEAST_WAIT_S) * random.uniform(0.5, 1.5)
            if clock() + wait_s >= deadline:
                raise
            await asyncio.sleep(wait_s)
        except PeerUnreachable:
            forget(network, address)
            raise


async def _network_of(node: Node) -> Network:
    return node.network
