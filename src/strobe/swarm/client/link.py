"""From ordinary code to the peers: calls run on the event loop of the DHT's peer, results are waited for here.

A peer that is busy is asked again when it said to; of a peer with several hosts all are tried while there is time.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Coroutine
from concurrent.futures import Future
from typing import Any, Final, TypeVar

from strobe.errors import Error, UsageError
from strobe.swarm.dht import DHT, DhtStopped, Node
from strobe.swarm.net.address import Address
from strobe.swarm.net.network import Network, Payload, PeerBusy, PeerUnreachable, Sendable

_Result = TypeVar("_Result")
_LEAST_WAIT_S: Final = 0.01


class Link:
    """The peer of a DHT, for calls from other threads."""

    def __init__(self, dht: DHT) -> None:
        self.dht = dht
        try:
            self.network, self._loop = dht.run_coroutine(_parts)
        except DhtStopped:
            raise
        except Error as exc:
            raise UsageError("experts need a DHT in this process; make it without process=True") from exc

    def submit(self, work: Coroutine[Any, Any, _Result]) -> Future[_Result]:
        """Run a coroutine on the peer's loop; cancelling the future cancels it."""
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    async def ask(self, address: Address, method: str, payload: Sendable, timeout_s: float) -> Payload:
        """Return a peer's answer; raises what `Network.call` does, PeerBusy only if it stays so."""
        deadline = time.monotonic() + timeout_s
        contacts = list(address.contacts)
        while True:
            left_s = deadline - time.monotonic()
            try:
                return await self.network.call(contacts[0], method, payload, timeout_s=left_s / len(contacts))
            except PeerBusy as busy:
                # Not all at once again: those who were refused together come back apart.
                wait_s = max(busy.retry_after_s, _LEAST_WAIT_S) * random.uniform(0.5, 1.5)
                if time.monotonic() + wait_s >= deadline:
                    raise
                await asyncio.sleep(wait_s)
            except PeerUnreachable:
                if len(contacts) == 1:
                    raise
                del contacts[0]


async def _parts(node: Node) -> tuple[Network, asyncio.AbstractEventLoop]:
    return node.network, asyncio.get_running_loop()
