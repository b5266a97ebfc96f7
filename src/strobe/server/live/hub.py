"""The hub: looks at the store a few times a second while anybody watches, and hands out what changed.

One look serves all subscribers of a process. Events are numbered and the latest are kept, so that a client that lost
its connection for a moment gets what it missed; who was away for longer is told which runs changed meanwhile. A
subscriber has a bounded queue: who does not keep up is told to come back. Lives in one event loop; `nudge` may be
called from any thread.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, NamedTuple

import anyio.to_thread

from strobe.errors import StoreError
from strobe.server.live.event import Event, Place, encode_data, written
from strobe.server.live.interest import Interest
from strobe.server.live.source import BEGINNING, OVERLAP_NS, Position, Seen, StoreSource
from strobe.server.live.subscription import Ending, Subscription
from strobe.server.live.told import told_document, told_points, told_run

LOOK_EVERY_S = 0.25
#: however often somebody says that there is something
_LOOK_AT_MOST_EVERY_S = 0.05
#: how long a client that went away is waited for
LINGER_S = 30.0
MAX_SUBSCRIBERS = 1000
#: of one key, or of one address without a key
MAX_OF_ONE = 100
#: how long, on a busy machine, there may lie between a client's reading of a list and its asking for news of it
_UNREAD_NS = 60 * 10**9
_KEPT_EVENTS = 5000
_KEPT_BYTES = 8 << 20
#: runs that are named to a client which was away for too long; of more it is told to look at everything again
_MAX_NAMED = 500
_MAX_REMEMBERED = 100_000


class _Change(NamedTuple):
    """A run that is to be told about, and the keys whose points are wanted."""

    run: Seen
    #: whether it may have changed before somebody who watches it came
    is_unread: bool
    is_new_version: bool
    keys: frozenset[str]


class Hub:
    """Watches a store for the clients of this process."""

    def __init__(
        self,
        source: StoreSource,
        *,
        is_stopping: Callable[[], bool] = lambda: False,
        clock: Callable[[], int] = time.time_ns,
        log: logging.Logger | None = None,
        look_every_s: float = LOOK_EVERY_S,
        linger_s: float = LINGER_S,
    ) -> None:
        self._source = source
        self._is_stopping = is_stopping
        self._clock = clock
        self._log = log or logging.getLogger("strobe.server")
        self._look_every_s = look_every_s
        self._linger_s = linger_s
        self._subscribers: set[Subscription] = set()
        #: interest → number of the first event that was looked for on its behalf, and when it ends if nobody has it
        self._covered: dict[Interest, tuple[int, float | None]] = {}
        self._task: asyncio.Task[None] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._nudged = asyncio.Event()
        self._ready = asyncio.Event()
        self._forget()

    def _forget(self) -> None:
        """Begin anew: what comes next does not follow what came before."""
        self.name = secrets.token_hex(4)
        self._number = 0
        self._kept: deque[Event] = deque()
        self._kept_bytes = 0
        self._since_ns = 0
        self._tokens: dict[int, tuple[int, int]] = {}
        self._positions: dict[tuple[int, str], Position] = {}
        self._documents: dict[int, dict[str, Any]] = {}
        self._covered.clear()
        #: what clients want that came since the last look: they may have read what they show before it
        self._newcomers: list[Interest] = []

    # --- from outside

    @property
    def num_subscribers(self) -> int:
        return len(self._subscribers)

    async def subscribe(self, interest: Interest, last_event_id: str = "", who: str = "") -> Subscription | None:
        """Return a subscription with a greeting and what was missed since that event; None if there are too many."""
        if self._is_full(who):
            return None
        await self._start()
        positions = await anyio.to_thread.run_sync(
            lambda: self._source.positions(interest.runs, interest.projects, sorted(interest.keys))
        )
        for name, position in positions.items():
            self._positions.setdefault(name, position)
        if self._is_full(who):  # others came meanwhile
            return None
        subscription = Subscription(interest, who)
        place = Place.parse(last_event_id) if last_event_id else None
        first, _ = self._covered.get(interest, (self._number, None))
        is_whole = place is not None and self._is_kept(interest, place)
        self._covered[interest] = (first, None)
        self._subscribers.add(subscription)
        # Even if the same is watched already, as by the page that this one replaces: what that one was told, nobody
        # told this one.
        if not is_whole:
            self._newcomers.append(interest)
        # Without an id if something was missed: who loses the connection right after it must ask for that again.
        subscription.put(self._written("hello", {"hub": self.name}, has_id=place is None))
        kept = [] if place is None or not is_whole else [*self._kept_since(place, interest)]
        # Who was let go because so much had happened is not sent all of that again, to be let go again.
        if is_whole and subscription.has_room(kept):
            for message in kept:
                subscription.put(message)
        elif place is not None:
            try:
                missed = await anyio.to_thread.run_sync(lambda: self._missed(interest, place))
            except BaseException:
                self.unsubscribe(subscription)  # nobody else will: who asked gets an error, or has gone
                raise
            subscription.put(self._written("reset", missed))
        return subscription

    def _is_full(self, who: str) -> bool:
        num_own = sum(subscription.who == who for subscription in self._subscribers) if who else 0
        return len(self._subscribers) >= MAX_SUBSCRIBERS or num_own >= MAX_OF_ONE

    def unsubscribe(self, subscription: Subscription) -> None:
        """Let a client go; for a while it may come back and miss nothing."""
        self._subscribers.discard(subscription)
        interest = subscription.interest
        if all(other.interest != interest for other in self._subscribers) and interest in self._covered:
            self._covered[interest] = (self._covered[interest][0], time.monotonic() + self._linger_s)

    def nudge(self) -> None:
        """Look at once: something was taken in. From any thread."""
        if self._loop is not None and self._subscribers:
            self._loop.call_soon_threadsafe(self._nudged.set)

    async def close(self) -> None:
        """End all subscriptions."""
        self._end_all("stopping")
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])

    # --- looking

    async def _start(self) -> None:
        # The task is there before the first await: two clients at once must not start two.
        if self._task is None or self._task.done():
            self._forget()
            self._loop = asyncio.get_running_loop()
            self._nudged = asyncio.Event()
            self._ready = asyncio.Event()
            self._task = asyncio.create_task(self._watch(), name="live")
            self._task.add_done_callback(self._note_end)
        task = self._task
        await self._ready.wait()
        if task.done():
            task.result()  # raises what kept it from starting

    def _note_end(self, task: asyncio.Task[None]) -> None:
        self._ready.set()
        self._end_all("failed")  # who watches comes back, and a new task begins
        if not task.cancelled() and (error := task.exception()) is not None:
            self._log.error("live: the watch ended", exc_info=error)

    async def _watch(self) -> None:
        self._since_ns = await anyio.to_thread.run_sync(self._source.latest_ns)
        await self._look(is_first=True)
        self._ready.set()
        last_needed = time.monotonic()
        while True:
            with suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._nudged.wait(), self._look_every_s)
                await asyncio.sleep(_LOOK_AT_MOST_EVERY_S)
            self._nudged.clear()
            if self._is_stopping():
                self._end_all("stopping")
                return
            now = time.monotonic()
            self._drop_uncovered(now)
            if self._subscribers:
                last_needed = now
            elif now > last_needed + self._linger_s:
                return
            try:
                await self._look()
            except StoreError as error:  # the database may be away for a moment: whoever watches sees it go on later
                self._log.warning("live: %s", error)

    async def _look(self, *, is_first: bool = False) -> None:
        now_ns = self._clock()
        since_ns = min(self._since_ns, now_ns) - OVERLAP_NS
        interests = set(self._covered)
        num_newcomers = len(self._newcomers)  # more may come meanwhile, and wait for the next look
        newcomers = frozenset(self._newcomers)
        unread_ns = now_ns - _UNREAD_NS
        # Where something happens all the time, the last look lies nearer than what a newcomer has not read.
        from_ns = min(since_ns, unread_ns) if newcomers else since_ns
        seen = await anyio.to_thread.run_sync(self._source.changed_since, from_ns)
        tokens = {run.id: (run.version, run.is_dirty) for run in seen}
        known, self._tokens = self._tokens, tokens
        self._since_ns = max([self._since_ns, *(run.changed_ns for run in seen)])
        if is_first:
            return
        # A change that was seen just before somebody asked for it was not told: it is news to them. What lies
        # longer back they have read: after an import, or when nothing else happens, that may be every run there is.
        changed: list[_Change] = []
        for run in seen:
            watching = [interest for interest in interests if interest.covers(run.id, run.project_id)]
            is_unread = run.changed_ns >= unread_ns and bool(newcomers.intersection(watching))
            if run.changed_ns < since_ns and not is_unread:
                continue  # told long ago to everybody else
            before = None if is_unread else known.get(run.id)
            if watching and before != tokens[run.id]:
                keys = frozenset[str]().union(*(interest.keys for interest in watching))
                changed.append(_Change(run, is_unread, before is None or before[0] != run.version, keys))
        if changed:
            try:
                await self._tell(changed)
            except BaseException:
                # Not told: what was seen has to be seen again.
                for change in changed:
                    self._tokens.pop(change.run.id, None)
                raise
        del self._newcomers[:num_newcomers]

    async def _tell(self, changed: list[_Change]) -> None:
        clean = [change.run.id for change in changed if not change.run.is_dirty]
        documents = await anyio.to_thread.run_sync(self._source.documents, clean) if clean else {}
        after = {
            run.id: {key: self._positions.get((run.id, key), BEGINNING) for key in sorted(keys)}
            for run, _, is_new_version, keys in changed
            if is_new_version and keys and run.deleted_ns is None
        }
        fresh = await anyio.to_thread.run_sync(self._source.fresh_points, after) if after else {}
        for run, is_unread, is_new_version, keys in changed:
            changes: dict[str, Any] = {}
            if is_unread:  # nor may they know the name or the summary that others were told
                self._documents.pop(run.id, None)
            if (document := documents.get(run.id)) is not None:
                changes = told_document(self._documents.get(run.id), document)
                self._documents[run.id] = document
            if is_new_version or changes:
                self._emit("run", run, told_run(run) | changes)
            for key in sorted(keys):
                if (news := fresh.get((run.id, key))) is not None:
                    self._positions[run.id, key] = news.position
                    self._emit("series", run, told_points(run, key, news), key)
        if len(self._positions) > _MAX_REMEMBERED or len(self._documents) > _MAX_REMEMBERED:
            self._positions.clear()
            self._documents.clear()

    # --- handing out

    def _emit(self, name: str, run: Seen, fields: dict[str, Any], key: str | None = None) -> None:
        self._number += 1
        event = Event(self._number, name, run.id, run.project_id, key, run.changed_ns, encode_data(fields))
        self._kept.append(event)
        self._kept_bytes += len(event.data)
        while self._kept_bytes > _KEPT_BYTES or len(self._kept) > _KEPT_EVENTS:
            self._kept_bytes -= len(self._kept.popleft().data)
        message = self._write(event)
        for subscription in self._subscribers:
            if subscription.interest.wants(event):
                subscription.put(message)

    def _write(self, event: Event) -> bytes:
        return written(event.name, event.data, Place(self.name, event.number, event.changed_ns))

    def _written(self, name: str, fields: dict[str, Any], *, has_id: bool = True) -> bytes:
        return written(name, encode_data(fields), Place(self.name, self._number, self._since_ns) if has_id else None)

    def _is_kept(self, interest: Interest, place: Place) -> bool:
        """Tell whether everything since that place was looked for on behalf of the interest and is still there."""
        covered = self._covered.get(interest)
        oldest = self._kept[0].number if self._kept else self._number + 1
        is_ours = place.hub == self.name and place.number <= self._number
        return is_ours and covered is not None and covered[0] <= place.number and oldest <= place.number + 1

    def _kept_since(self, place: Place, interest: Interest) -> Iterator[bytes]:
        for event in self._kept:
            if event.number > place.number and interest.wants(event):
                yield self._write(event)

    def _missed(self, interest: Interest, place: Place) -> dict[str, Any]:
        since_ns = place.changed_ns - OVERLAP_NS
        paths = self._source.changed_among(since_ns, interest.runs, interest.projects, _MAX_NAMED + 1)
        return {"runs": None if len(paths) > _MAX_NAMED else paths}

    def _drop_uncovered(self, now: float) -> None:
        gone = [interest for interest, (_, until) in self._covered.items() if until is not None and until < now]
        for interest in gone:
            del self._covered[interest]
        if gone:
            keys = frozenset[str]().union(*(interest.keys for interest in self._covered))
            self._positions = {name: found for name, found in self._positions.items() if name[1] in keys}

    def _end_all(self, why: Ending) -> None:
        for subscription in self._subscribers:
            subscription.end(why)
