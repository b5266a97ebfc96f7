"""Searches that are under way: those who look for the same record share one.

A search belongs to nobody who waits for it: it is a task of its own, which goes on while anybody waits and ends when
nobody does any more. All who wait get the same result, or the same error. Nobody joins a search that was begun before
something was stored: it may have asked before. Knows nothing of how one searches.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

from strobe.swarm.dht.storage import Record
from strobe.swarm.net.network import NetworkError

#: returns what is found of some places; the flag says whether the newest is wanted, or the first that has not expired
Look: TypeAlias = Callable[[list[bytes], bool], Coroutine[Any, Any, dict[bytes, Record]]]


@dataclass(eq=False, slots=True)
class _Search:
    places: list[bytes]
    is_latest: bool
    task: asyncio.Task[dict[bytes, Record]]
    num_waiting: int = 0


class Searches:
    """The searches of one node."""

    def __init__(self, look: Look) -> None:
        self._look = look
        self._under_way: dict[bytes, _Search] = {}  # those that one can join
        self._running: set[_Search] = set()
        self._is_closed = False

    async def find(self, places: list[bytes], *, latest: bool) -> dict[bytes, Record]:
        """Return what is found of these places, by searches that others have begun as far as they do."""
        wanted: dict[_Search, list[bytes]] = {}
        missing: list[bytes] = []
        for place in places:
            search = self._under_way.get(place)
            if search is not None and search.is_latest >= latest:
                wanted.setdefault(search, []).append(place)
            else:
                missing.append(place)
        if missing:
            wanted[self._begin(missing, latest)] = missing
        found: dict[bytes, Record] = {}
        for search in wanted:
            search.num_waiting += 1
        try:
            for search, sought in wanted.items():
                records = await self._result(search)
                found.update((place, records[place]) for place in sought if place in records)
        finally:
            for search in wanted:
                search.num_waiting -= 1
                if not search.num_waiting:
                    self._forget(search)
                    search.task.cancel()
        return found

    def stored(self, places: Iterable[bytes]) -> None:
        """Let those who ask for these places from now on begin anew; those who wait get what they asked for."""
        for place in places:
            self._under_way.pop(place, None)

    async def close(self) -> None:
        """End all searches; those who wait for one get a NetworkError."""
        self._is_closed = True
        tasks = [search.task for search in self._running]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _begin(self, places: list[bytes], latest: bool) -> _Search:
        task = asyncio.get_running_loop().create_task(self._look(places, latest))
        search = _Search(places, latest, task)
        self._running.add(search)
        self._under_way.update(dict.fromkeys(places, search))
        task.add_done_callback(lambda _: self._forget(search))
        return search

    def _forget(self, search: _Search) -> None:
        self._running.discard(search)
        for place in search.places:
            if self._under_way.get(place) is search:
                del self._under_way[place]

    async def _result(self, search: _Search) -> dict[bytes, Record]:
        try:
            return await asyncio.shield(search.task)
        except asyncio.CancelledError:
            if self._is_closed and search.task.cancelled():
                raise NetworkError("this node was closed while it searched") from None
            raise
