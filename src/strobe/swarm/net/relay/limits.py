"""What a relay gives: how many it shelters, how much it carries for each, and who goes first when all want more.

Pure numbers, and the one rule of fairness: bytes that are waiting are let through in turns between the sheltered peers,
however many connections each of them has. Knows nothing of packets and sockets.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict, deque
from dataclasses import dataclass

from strobe.swarm.net.network import PeerId

#: seconds of its rate that a gate lets through at once after a pause, and that datagrams may overdraw it
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
    max_links: int = 512
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
        self._tokens = self._burst
        self._at = now
        self._waiting: OrderedDict[PeerId, deque[tuple[int, asyncio.Future[None]]]] = OrderedDict()
        self._timer: asyncio.TimerHandle | None = None

    def take(self, size: int, now: float) -> bool:
        """Take room for a datagram, ahead of all that waits; False when it has to be dropped."""
        self._fill(now)
        if self._tokens <= -self._burst:
            return False
        self._tokens -= size
        return True

    async def wait(self, peer: PeerId, size: int) -> None:
        """Wait for the turn of `size` bytes, however many that are."""
        loop = asyncio.get_running_loop()
        self._fill(time.monotonic())
        if self._tokens > 0 and not self._waiting:
            self._tokens -= size
            return
        turn: asyncio.Future[None] = loop.create_future()
        self._waiting.setdefault(peer, deque()).append((size, turn))
        self._watch(loop)
        await turn

    def _fill(self, now: float) -> None:
        self._tokens = min(self._burst, self._tokens + max(0.0, now - self._at) * self._rate)
        self._at = now

    def _watch(self, loop: asyncio.AbstractEventLoop) -> None:
        if self._timer is None:
            self._timer = loop.call_later(max(0.001, -self._tokens / self._rate), self._serve, loop)

    def _serve(self, loop: asyncio.AbstractEventLoop) -> None:
        self._timer = None
        self._fill(time.monotonic())
        while self._waiting and self._tokens > 0:
            peer, queue = next(iter(self._waiting.items()))
            size, turn = queue.popleft()
            if queue:
                self._waiting.move_to_end(peer)
            else:
                del self._waiting[peer]
            if not turn.done():  # it may have been given up
                self._tokens -= size
                turn.set_result(None)
        if self._waiting:
            self._watch(loop)
