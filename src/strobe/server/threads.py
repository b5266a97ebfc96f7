"""Threads for what blocks, in three crews: whoever asks many hard questions holds up neither points nor files.

Questions hold a connection of the database for as long as they compute; there are fewer of their threads than a
database lets read at once, so that the short looks of the other crews always find one. What is not in a crew (who asks,
chores, live streams) shares a fourth one, AnyIO's own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal, TypeVar

import anyio
import anyio.to_thread

#: points: taking in what runs log; things: files and artifacts, whose bytes may lie far away, and changes; questions:
#: whatever computes an answer
Crew = Literal["points", "things", "questions"]
T = TypeVar("T")

SIZES: Mapping[Crew, int] = {"points": 6, "things": 24, "questions": 6}


class Threads:
    """The threads of one server. Used from its event loop only."""

    def __init__(self, sizes: Mapping[Crew, int] = SIZES) -> None:
        self._sizes = sizes
        self._limiters: dict[Crew, anyio.CapacityLimiter] = {}

    async def run(self, crew: Crew, blocking: Callable[[], T]) -> T:
        """Return what a blocking function returns, once the crew has a thread for it."""
        limiter = self._limiters.get(crew)
        if limiter is None:  # made here, because it belongs to the event loop
            limiter = self._limiters[crew] = anyio.CapacityLimiter(self._sizes[crew])
        return await anyio.to_thread.run_sync(blocking, limiter=limiter)
