"""What a peer does without being asked: finds its neighbours, hands records over, stores them anew, renews its cache.

Neighbours and records have periods that vary by a fifth, so that peers started together do not act together; newcomers,
the cache, and having lost everybody are seen to when there is something to do.
"""

from __future__ import annotations

import asyncio
import contextlib
import heapq
import itertools
import logging
import math
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Final

from strobe.swarm.dht.duty import hand_overs, republication
from strobe.swarm.dht.id import BITS, SIZE, number
from strobe.swarm.dht.service import wire_entries
from strobe.swarm.dht.storage import Record, entries
from strobe.swarm.net.network import Contact

if TYPE_CHECKING:
    from strobe.swarm.dht.node import Node

_log = logging.getLogger(__name__)

_CACHE_PAUSE_S: Final = 1.0
_SHORT_LIFE_S: Final = 30.0
_RECORDS_AT_A_TIME: Final = 1000
_PINGS_PER_ROUND: Final = 8
_LOST_PER_ROUND: Final = 4
_LOST_WHEN_ALONE: Final = 16
_VIA_PER_ROUND: Final = 3
_PLACES_PER_ROUND: Final = 3
_EXPLORED_WIDTH: Final = 5
_MOVING_RATE: Final = 20


class Upkeep:
    """The duties of one node."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._random = random.Random(node.network.address.id)
        self._tasks: list[asyncio.Task[None]] = []
        self._renewals: list[tuple[float, bytes]] = []
        self._awaited: dict[bytes, float] = {}
        self.num_failures = 0
        # Two swarms seem to meet: somebody introduced strangers to us, or we found neighbours that did not tell us.
        self._is_moving = asyncio.Event()
        self._has_renewals, self._has_newcomers = asyncio.Event(), asyncio.Event()
        self._is_alone = asyncio.Event()

    def start(self) -> None:
        """Begin all duties."""
        options = self._node.options
        duties = []
        if options.refresh_s:
            duties += [self._stay_in_touch(), self._when(self._is_alone, options.silence_s, self.seek_others)]
            self._node.peers.on_alone = self._is_alone.set
        duties.append(self._when(self._has_renewals, _CACHE_PAUSE_S, self.renew_cache))
        if not options.client_mode:
            if options.republish_s:
                duties.append(self._repeat(options.republish_s, self.republish))
            if options.hand_over_s:
                duties.append(self._when(self._has_newcomers, options.hand_over_s, self.hand_over))
                self._node.peers.on_newcomers = self._has_newcomers.set
        loop = asyncio.get_running_loop()
        self._tasks = [loop.create_task(duty) for duty in duties]

    async def stop(self) -> None:
        """End all duties."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def was_read(self, place: bytes, record: Record) -> None:
        """Note that a record was wanted: if only the cache has it, it is renewed before it expires."""
        if place in self._node.cache and place not in self._node.storage:
            soonest = min(entry.expires for _, entry in entries(record))  # the copy would lack what was stored anew
            self._plan(soonest - self._node.options.cache_refresh_before_expiry_s, place)

    def swarms_meet(self) -> None:
        """Look for neighbours soon: some have been introduced to us."""
        self._is_moving.set()

    def refresh(self, place: bytes) -> None:
        """Renew a cached record soon."""
        self._plan(self._node.clock(), place)

    async def find_neighbours(self) -> None:
        """Look who is near us now, look around somewhere else, and call those who were silent for long."""
        node, now = self._node, self._node.clock()
        silent = node.peers.table.stalest(now - node.options.refresh_s, _PINGS_PER_ROUND)
        lost = node.peers.lost(now, _LOST_PER_ROUND)
        answers = await asyncio.gather(*(node.greeting.ping(contact) for contact in [*lost, *silent]))
        found = [contact for contact, answer in zip(lost, answers, strict=False) if answer is not None]
        own = number(node.network.address.id)
        known = set(node.peers.nearest(own, node.options.beam_size, now))
        await self._explore(node.network.address.id, node.options.beam_size, found)
        # A newcomer tells its neighbours that it is there. If we had to find out, it is of a swarm that meets ours.
        has_found = not known.issuperset(node.peers.nearest(own, node.options.beam_size, node.clock()))
        if found or has_found:
            self._is_moving.set()
        met = node.peers.take_met()
        if self._is_moving.is_set():  # through those who came lately others are found, and introduced to ours
            via = found + self._random.sample(met, min(len(met), _VIA_PER_ROUND))
            await self.look_around(_PLACES_PER_ROUND, via)
        else:
            await self.look_around(1)

    async def seek_others(self) -> None:
        """Having lost everybody, call those who may answer again, each after its own silence, until one does."""
        node = self._node
        if not len(node.peers.table):
            lost = node.peers.lost(node.clock(), _LOST_WHEN_ALONE)
            await asyncio.gather(*map(node.greeting.ping, lost))
        if len(node.peers.table):
            await self.find_neighbours()
        else:
            self._is_alone.set()

    async def look_around(self, num_places: int, via: Sequence[Contact] = ()) -> None:
        """Get to know peers at places that are not our own, and introduce those who do not know each other."""
        node = self._node
        own = number(node.network.address.id)
        num_parts = max(1, len(node.peers.table).bit_length())
        for _ in range(num_places):
            # The fewer bits a place shares with us the farther it is: all parts of the table get their turn.
            apart = 1 << (BITS - 1 - self._random.randrange(num_parts))
            place = own ^ apart ^ self._random.randrange(apart)
            await self._explore(place.to_bytes(SIZE, "big"), _EXPLORED_WIDTH, via)

    async def _explore(self, place: bytes, width: int, via: Sequence[Contact]) -> None:
        node = self._node
        if via:
            await node.reader.explore(place, width, via)
        strangers = await node.reader.explore(place, width)
        await asyncio.gather(*(node.greeting.introduce(contact, others) for contact, others in strangers.items()))

    async def hand_over(self) -> None:
        """Pass records on to those who joined since."""
        node = self._node
        newcomers = node.peers.take_newcomers()
        if not newcomers or not len(node.storage):
            return
        async for records in self._held():
            due = hand_overs(
                records,
                node.peers,
                newcomers,
                node.storage.touched,
                num_replicas=node.options.num_replicas,
                now=node.clock(),
            )
            await asyncio.gather(*(node.send_records(newcomers[peer].contact, due[peer]) for peer in due))

    async def republish(self) -> None:
        """Store anew what is ours to keep alive."""
        node, options = self._node, self._node.options
        async for records in self._held():
            now = node.clock()
            due = republication(
                records,
                node.peers,
                node.storage.touched,
                num_replicas=options.num_replicas,
                now=now,
                since=now - options.republish_s / 2,
                until=now + min(options.republish_s / 4, _SHORT_LIFE_S),
            )
            if due.records:
                placed = await node.writer.store({key: wire_entries(due.records[key]) for key in due.records})
                self._let_go(key for key in due.strays if placed[key].num_holders >= options.num_replicas)

    def _let_go(self, keys: Iterable[bytes]) -> None:
        """Keep only a cached copy of records that others hold."""
        node, now = self._node, self._node.clock()
        for key in keys:
            if (record := node.storage.get(key, now)) is not None:
                node.storage.remove(key)
                node.cache.put_record(key, record, now)

    async def _held(self) -> AsyncIterator[list[tuple[bytes, Record]]]:
        """Yield what is held, some at a time: a peer that holds much still answers meanwhile."""
        node = self._node
        records = node.storage.items(node.clock())
        while some := list(itertools.islice(records, _RECORDS_AT_A_TIME)):
            yield some
            await asyncio.sleep(0)

    async def renew_cache(self) -> None:
        """Read again what is about to expire in the cache and was wanted."""
        now = self._node.clock()
        due: list[bytes] = []
        while self._renewals and self._renewals[0][0] <= now:
            when, place = heapq.heappop(self._renewals)
            if self._awaited.get(place) == when:  # else it was planned for an earlier time since, and is done
                del self._awaited[place]
                due.append(place)
        if self._renewals:
            self._has_renewals.set()  # not due yet: look again after a pause
        if due:
            await self._node.find(due, latest=True)

    def _plan(self, when: float, place: bytes) -> None:
        if when < self._awaited.get(place, math.inf):
            self._awaited[place] = when
            heapq.heappush(self._renewals, (when, place))
            self._has_renewals.set()

    async def _stay_in_touch(self) -> None:
        """Find neighbours more often while swarms meet: they grow together within minutes."""
        period_s = longest_s = self._node.options.refresh_s
        while True:
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._is_moving.wait(), period_s * self._random.uniform(0.9, 1.1))
                await asyncio.sleep(longest_s / _MOVING_RATE * self._random.uniform(0.5, 1.5))
            await self._do(self.find_neighbours)
            period_s = longest_s / _MOVING_RATE if self._is_moving.is_set() else min(2 * period_s, longest_s)
            self._is_moving.clear()

    async def _repeat(self, period_s: float, duty: Callable[[], Awaitable[None]]) -> None:
        while True:
            await asyncio.sleep(period_s * self._random.uniform(0.9, 1.1))
            await self._do(duty)

    async def _when(self, has_work: asyncio.Event, pause_s: float, duty: Callable[[], Awaitable[None]]) -> None:
        while True:
            await has_work.wait()
            has_work.clear()
            await asyncio.sleep(pause_s)  # let more of it come together
            await self._do(duty)

    async def _do(self, duty: Callable[[], Awaitable[None]]) -> None:
        try:
            await duty()
        except Exception:  # noqa: BLE001  # a duty that fails once must not end for ever; the traceback says what to mend
            self.num_failures += 1
            _log.exception("a duty of the DHT peer failed, and will be tried again")
