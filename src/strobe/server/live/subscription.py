"""What one client is still to get: a bounded queue of messages, and why it ended."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence
from typing import Literal

from strobe.server.live.interest import Interest

_QUEUE_EVENTS = 2000
_QUEUE_BYTES = 4 << 20

Ending = Literal["slow", "stopping", "failed", "denied"]


class Subscription:
    """What one client is still to get."""

    def __init__(self, interest: Interest, who: str = "") -> None:
        self.interest = interest
        #: the client's key or address
        self.who = who
        #: why it ended, once it has
        self.ending: Ending | None = None
        self._waiting: deque[bytes] = deque()
        self._num_bytes = 0
        self._is_there = asyncio.Event()

    def has_room(self, messages: Sequence[bytes]) -> bool:
        """Tell whether these can be added without ending it, with as much again to come."""
        num_bytes = self._num_bytes + sum(map(len, messages))
        return 2 * (len(self._waiting) + len(messages)) <= _QUEUE_EVENTS and 2 * num_bytes <= _QUEUE_BYTES

    def put(self, message: bytes) -> None:
        """Add a message; a subscriber that has too many of them ends."""
        if self.ending is not None:
            return
        self._waiting.append(message)
        self._num_bytes += len(message)
        if len(self._waiting) > _QUEUE_EVENTS or self._num_bytes > _QUEUE_BYTES:
            self.end("slow")
        self._is_there.set()

    def end(self, why: Ending) -> None:
        self.ending = self.ending or why
        if why == "slow":
            self._waiting.clear()
        self._is_there.set()

    async def take(self, timeout_s: float) -> bytes | None:
        """Return all messages that are there; nothing if none came in time; None when it has ended."""
        try:
            await asyncio.wait_for(self._is_there.wait(), timeout_s)
        except asyncio.TimeoutError:
            return b""
        if self._waiting:
            messages = b"".join(self._waiting)
            self._waiting.clear()
            self._num_bytes = 0
            if self.ending is None:
                self._is_there.clear()
            return messages
        return None if self.ending is not None else b""
