"""Does the asking of a Lookup: many peers at a time, never more than a window of them, nobody waited for too long.

A peer that is overdue is passed over and the next nearest asked in its place; if it answers after all, it counts. The
walk ends when nothing is due and only overdue peers are outstanding; but they are waited for if no other peer has
answered yet, because then they are all there is, or if the walk is made to get to know them. Large messages take their
time, as the one who asks says (see `Errand`). Knows nothing of what is asked.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

from strobe.swarm.dht.lookup import Lookup
from strobe.swarm.dht.protocol import MAX_KEYS, Malformed
from strobe.swarm.net.network import Contact, NetworkError

_CHECKS_PER_OVERDUE: Final = 4


@dataclass(eq=False, slots=True)
class Errand:
    """A peer that is asked about keys, by their indexes, where it is said to be: nowhere, if it is ourselves."""

    peer: int
    indexes: list[int]
    contact: Contact | None
    overdue_s: float
    overdue_at: float
    #: until when it is waited for, though overdue, as long as nobody else has what it was asked for
    awaited_until: float = 0.0

    @property
    def is_long(self) -> bool:
        """Whether it was given time, which only peers are that have answered before."""
        return self.awaited_until > 0.0

    def is_coming(self, extra_s: float = 0.0) -> None:
        """Note that the peer has begun to answer, and that the rest takes so long; others may be asked meanwhile."""
        self.awaited_until = asyncio.get_running_loop().time() + self.overdue_s + extra_s

    def is_going(self, extra_s: float) -> None:
        """Note that it takes so long to send something to the peer; to send it to others too would take longer."""
        self.is_coming(extra_s)
        self.overdue_at = self.awaited_until


#: asks, and feeds the lookup with what it learns; NetworkError or Malformed: failed
Ask: TypeAlias = Callable[[Errand], Awaitable[None]]


class Walk:
    """One lookup on its way."""

    def __init__(
        self,
        lookup: Lookup,
        ask: Ask,
        *,
        window: int,
        overdue_s: float,
        waits_for_all: bool = False,
        is_missing: Callable[[list[int]], bool] = bool,
    ) -> None:
        """`is_missing`: whether some of these keys have not been found yet, so that it is worth waiting."""
        self._lookup = lookup
        self._is_missing = is_missing
        self._ask = ask
        self._window = window
        self._overdue_s = overdue_s
        self._waits_for_all = waits_for_all
        self._loop = asyncio.get_running_loop()
        self._done: asyncio.Future[None] = self._loop.create_future()
        self._outstanding: dict[asyncio.Task[None], Errand] = {}
        self._overdue: set[asyncio.Task[None]] = set()
        self._is_pumping = False
        self._has_answer = False

    async def run(self) -> list[Contact]:
        """Walk until all is settled; return those that were given up as overdue."""
        self._timer = self._loop.call_later(self._overdue_s / _CHECKS_PER_OVERDUE, self._check)
        try:
            self._pump()
            await self._done
            left = self._outstanding.values()
            return [errand.contact for errand in left if errand.contact is not None and not errand.is_long]
        finally:
            self._timer.cancel()
            if tasks := list(self._outstanding):
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)

    def _pump(self) -> None:
        self._is_pumping = False
        if self._done.done():
            return
        while len(self._outstanding) - len(self._overdue) < self._window and (due := self._lookup.take(MAX_KEYS)):
            contact = self._lookup.contacts.get(due[0])
            errand = Errand(*due, contact, self._overdue_s, self._loop.time() + self._overdue_s)
            task = self._loop.create_task(self._one(errand))
            self._outstanding[task] = errand
            task.add_done_callback(self._ended)
        if not self._outstanding or (len(self._outstanding) == len(self._overdue) and self._is_enough()):
            self._done.set_result(None)

    def _is_enough(self) -> bool:
        """Whether none of those that are overdue has to be waited for."""
        if self._waits_for_all or not self._has_answer:
            return False
        now = self._loop.time()
        return not any(
            errand.awaited_until > now and self._is_missing(errand.indexes) for errand in self._outstanding.values()
        )

    async def _one(self, errand: Errand) -> None:
        try:
            await self._ask(errand)
        except (NetworkError, Malformed):
            if asyncio.current_task() not in self._overdue:  # else that was noted, and it may be asked elsewhere by now
                self._lookup.failed(errand.peer, errand.indexes)
        else:
            if errand.contact is not None:
                self._has_answer = True
                self._lookup.contacts[errand.peer] = errand.contact  # others may have said since that it is elsewhere
            self._lookup.answered(errand.peer, errand.indexes)

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
        now = self._loop.time()
        for task, errand in self._outstanding.items():
            if errand.overdue_at < now and task not in self._overdue:
                self._overdue.add(task)
                self._lookup.failed(errand.peer, errand.indexes)
        self._timer = self._loop.call_later(self._overdue_s / _CHECKS_PER_OVERDUE, self._check)
        if self._overdue:
            self._pump()
