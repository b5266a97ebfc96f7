"""What a relay gives: how many it shelters, how much it carries for each, and who goes first when all want more.

Pure numbers, and two rules of fairness: bytes that are waiting are let through in turns between the sheltered peers,
however many connections each of them has; and datagrams, which cannot wait, have half of all that there is, and
connections the other. What either leaves is the other's. Knows nothing of packets and sockets.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections import OrderedDict, deque
from dataclasses import dataclass

from strobe.swarm.net.network import PeerId

#: seconds of its rate that either half of a gate lets through at once after a pause, and that datagrams may overdraw
_BURST_S = 0.25


@dataclass(frozen=True, slots=True, kw_only=True)
class RelayLimits:
    """What one relay accepts."""

    #: peers that are reached through this one
    max_reservations: int = 128
    max_reservations_per_host: int = 32
    #: a reservation that is not renewed ends after this time
    reservation_s: float = 60.0
    #: pairs of peers that talk through this one: in all, and with one peer at either end
    max_circuits: int = 1024
    max_circuits_per_peer: int = 128
    #: TCP connections: in all, and of one pair
    max_links: int = 512 if os.name == "posix" else 64  # of two sockets each; as with `Limits.max_streams`
    max_links_per_circuit: int = 4
    #: a pair has to ask again after so many bytes or seconds, or after it was silent for so long
    circuit_bytes: int = 16 << 30
    circuit_s: float = 3600.0
    circuit_idle_s: float = 300.0
    #: bytes per second, both directions together: of one pair, and of all, which sheltered peers share evenly
    circuit_bytes_per_s: float = 64 << 20
    bytes_per_s: float = 256 << 20


class Gate:
    """Lets bytes through at a lasting rate; those who have to wait take turns by whom they are for."""

    def __init__(self, bytes_per_s: float, now: float) -> None:
        self._rate = bytes_per_s
        self._burst = bytes_per_s * _BURST_S
        self._for_datagrams = self._for_connections = self._burst
        self._at = now
        self._waiting: OrderedDict[PeerId, deque[tuple[int, asyncio.Future[None]]]] = OrderedDict()
        self._timer: asyncio.TimerHandle | None = None

    def take(self, size: int, now: float) -> bool:
        """Take room for a datagram, ahead of all that waits; False when it has to be dropped."""
        self._fill(now)
        if self._for_datagrams <= -self._burst:
            return False
        self._for_datagrams -= size
        return True

    async def wait(self, peer: PeerId, size: int) -> None:
        """Wait for the turn of `size` bytes, however many that are."""
        loop = asyncio.get_running_loop()
        self._fill(time.monotonic())
        if self._for_connections > 0 and not self._waiting:
            self._for_connections -= size
            return
        turn: asyncio.Future[None] = loop.create_future()
        self._waiting.setdefault(peer, deque()).append((size, turn))
        self._watch(loop)
        await turn

    def _fill(self, now: float) -> None:
        half = max(0.0, now - self._at) * self._rate / 2
        self._at = now
        datagrams, connections, most = self._for_datagrams + half, self._for_connections + half, self._burst
        self._for_datagrams = min(most, datagrams + max(0.0, connections - most))
        self._for_connections = min(most, connections + max(0.0, datagrams - most))

    def _watch(self, loop: asyncio.AbstractEventLoop) -> None:
        if self._timer is None:
            self._timer = loop.call_later(max(0.001, -self._for_connections / self._rate), self._serve, loop)

    def _serve(self, loop: asyncio.AbstractEventLoop) -> None:
        self._timer = None
        self._fill(time.monotonic())
        while self._waiting and self._for_connections > 0:
            peer, queue = next(iter(self._waiting.items()))
            size, turn = queue.popleft()
            if queue:
                self._waiting.move_to_end(peer)
            else:
                del self._waiting[peer]
            if not turn.done():  # it may have been given up
                self._for_connections -= size
                turn.set_result(None)
        if self._waiting:
            self._watch(loop)
