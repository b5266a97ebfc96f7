"""Does the asking of a Lookup: many peers at a time, never more than a window of them, nobody waited for too long.

A peer that is overdue is passed over and the next nearest asked in its place; if it answers after all, it counts. The
walk ends when nothing is due and only overdue peers are outstanding; but they are waited for if nobody has answered
yet, because then they are all there is, or if the walk is made to get to know them. Knows nothing of what is asked.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final, TypeAlias

from strobe.swarm.dht.lookup import Lookup
from strobe.swarm.dht.protocol import MAX_KEYS, Malformed
from strobe.swarm.net.network import NetworkError

#: asks a peer about keys, by their indexes, and feeds the lookup with what it learns; NetworkError or Malformed: failed
Ask: TypeAlias = Callable[[int, list[int]], Awaitable[None]]

_CHECKS_PER_OVERDUE: Final = 4


class Walk:
    """One lookup on its way."""

    def __init__(self, lookup: Lookup, ask: Ask, *, window: int, overdue_s: float, waits_for_all: bool = False) -> None:
        self._lookup = lookup
        self._ask = ask
        self._window = window
        self._overdue_s = overdue_s
        self._waits_for_all = waits_for_all
        self._loop = asyncio.get_running_loop()
        self._done: asyncio.Future[None] = self._loop.create_future()
        self._outstanding: dict[asyncio.Task[None], tuple[int, list[int], float]] = {}
        self._overdue: set[asyncio.Task[None]] = set()
        self._is_pumping = False
        self._has_answer = False

    async def run(self) -> list[int]:
        """Walk until all is settled; return the peers that were given up as overdue."""
        self._timer = self._loop.call_later(self._overdue_s / _CHECKS_PER_OVERDUE, self._check)
        try:
            self._pump()
            await self._done
            return [peer for peer, _, _ in self._outstanding.values()]
        finally:
            self._timer.cancel()
            if left := list(self._outstanding):
                for task in left:
                    task.cancel()
                await asyncio.gather(*left, return_exceptions=True)

    def _pump(self) -> None:
        self._is_pumping = False
        if self._done.done():
            return
        while len(self._outstanding) - len(self._overdue) < self._window and (due := self._lookup.take(MAX_KEYS)):
            task = self._loop.create_task(self._one(*due))
            self._outstanding[task] = (*due, self._loop.time())
            task.add_done_callback(self._ended)
        is_enough = self._has_answer and not self._waits_for_all
        if not self._outstanding or (is_enough and len(self._outstanding) == len(self._overdue)):
            self._done.set_result(None)

    async def _one(self, peer: int, indexes: list[int]) -> None:
        try:
            await self._ask(peer, indexes)
        except (NetworkError, Malformed):
            self._lookup.failed(peer, indexes)
        else:
            self._has_answer = True
            self._lookup.answered(peer, indexes)

    def _ended(self, task: asyncio.Task[None]) -> None:
        del self._outstanding[task]
        self._overdue.discard(task)
        if task.cancelled():
            return
        if (error := task.exception()) is not None:
            if not self._done.done():
                self._done.set_exception(error)
        elif not self._is_pumping:
            # Later in this turn of the loop: what several answers make due for one peer goes in one message.
            self._is_pumping = True
            self._loop.call_soon(self._pump)

    def _check(self) -> None:
        limit = self._loop.time() - self._overdue_s
        for task, (peer, indexes, since) in self._outstanding.items():
            if since < limit and task not in self._overdue:
                self._overdue.add(task)
                self._lookup.failed(peer, indexes)
        self._timer = self._loop.call_later(self._overdue_s / _CHECKS_PER_OVERDUE, self._check)
        if self._overdue:
            self._pump()
