"""Whom this peer knows, and whether they answer: the routing table, the silent ones, and those it has lost.

A peer that does not answer is left out for a while that doubles each time; one answer clears it. What others say about
where a peer is may be false: that nobody answers there counts against that address, and against the peer only where we
have heard it ourselves. Peers that leave the table for it are remembered, boundedly, and tried again now and then: that
is how two swarms that were cut off from each other find together again. Newcomers are noted until `take_newcomers`, for
somebody must hand records over to them.

No I/O: the caller says what time it is and who has answered.
"""

from __future__ import annotations

import math
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable
from typing import Final, NamedTuple, TypeAlias

from strobe.swarm.dht.id import number
from strobe.swarm.dht.routing import NOBODY, Admission, RoutingTable
from strobe.swarm.net.network import Contact

_FAILURES_TO_LEAVE: Final = 2
_MAX_REMEMBERED: Final = 1024
_MAX_BACKOFF_S: Final = 3600.0
#: of one who knows nobody else: it has nothing better to do than to ask again
_MAX_BACKOFF_ALONE_S: Final = 60.0
_MAX_MET: Final = 16


class Newcomer(NamedTuple):
    """A peer that we had not heard of, and since when it serves."""

    contact: Contact
    since: float


#: who did not answer: a peer where we know it, or what others say to be one
_Absent: TypeAlias = int | Contact


class Peers:
    """The table with a memory of who is silent."""

    def __init__(self, table: RoutingTable, *, silence_s: float = 5.0, backoff_rate: float = 2.0) -> None:
        self.table = table
        self._silence_s = silence_s
        self._backoff_rate = backoff_rate
        self._failures: OrderedDict[_Absent, int] = OrderedDict()
        self._silent_until: dict[_Absent, float] = {}
        self._next_release = math.inf
        self._lost: OrderedDict[int, Contact] = OrderedDict()
        self._unannounced: set[int] = set()  # of the table: those who have not said yet since when they serve
        self._newcomers: dict[int, Newcomer] = {}
        self._met: deque[Contact] = deque(maxlen=_MAX_MET)
        #: called when there are newcomers and there were none
        self.on_newcomers: Callable[[], None] = lambda: None
        #: called when the last one has left the table
        self.on_alone: Callable[[], None] = lambda: None

    def heard(self, contact: Contact, now: float, since: float = 0.0) -> None:
        """Note that a peer that serves, as it says `since`, has spoken to us."""
        peer = int.from_bytes(contact.id, "big")
        if self._failures:
            for absent in (peer, contact):
                if self._failures.pop(absent, 0):
                    self._silent_until.pop(absent, None)
        if self.table.refresh(peer, contact, now) and not (since and peer in self._unannounced):
            return
        admission = self.table.add(contact, now)
        if admission is not Admission.KNOWN:
            self._lost.pop(peer, None)
        if admission is Admission.ADDED:
            self._met.append(contact)
            self._unannounced.add(peer)
        if since > 0 and peer in self._unannounced:
            self._unannounced.discard(peer)
            self._newcomers[peer] = Newcomer(contact, since)
            if len(self._newcomers) == 1:
                self.on_newcomers()

    def failed(self, contact: Contact, now: float) -> None:
        """Note that a peer did not answer there."""
        absent = self._absent(contact)
        failures = self._failures.get(absent, 0)
        self._failures[absent] = failures + 1
        self._failures.move_to_end(absent)
        longest_s = _MAX_BACKOFF_S if len(self.table) else _MAX_BACKOFF_ALONE_S
        until = now + min(self._silence_s * self._backoff_rate ** min(failures, 64), longest_s)
        self._silent_until[absent] = until
        self._next_release = min(self._next_release, until)
        if isinstance(absent, int):
            self._newcomers.pop(absent, None)
            if failures + 1 >= _FAILURES_TO_LEAVE and absent in self.table:
                self._leave(absent, contact, now)
        while len(self._failures) > _MAX_REMEMBERED:
            oldest, _ = self._failures.popitem(last=False)
            self._silent_until.pop(oldest, None)

    def _leave(self, peer: int, contact: Contact, now: float) -> None:
        self._unannounced.discard(peer)
        if (successor := self.table.remove(peer, now)) is not None:
            self._unannounced.add(number(successor.id))
        self.remember([contact])
        if not len(self.table):
            self.on_alone()

    def _absent(self, contact: Contact) -> _Absent:
        """Return against whom it counts that nobody answers there."""
        peer = number(contact.id)
        return peer if contact == (self.table.get(peer) or self._lost.get(peer)) else contact

    def remember(self, contacts: Iterable[Contact]) -> None:
        """Keep contacts to try again later, unless they are in the table: to find one again is to meet a lost swarm."""
        for contact in contacts:
            if (peer := number(contact.id)) not in self.table:
                self._lost[peer] = contact
        while len(self._lost) > _MAX_REMEMBERED:
            self._lost.popitem(last=False)

    def is_silent(self, peer: int, now: float) -> bool:
        """Whether a peer is being left out for not answering where we know it."""
        return peer in self._silent(now)

    def is_silent_at(self, contact: Contact, now: float) -> bool:
        """Whether a peer is being left out for not answering there."""
        return bool(self._silent_until) and self._absent(contact) in self._silent(now)

    def nearest(self, target: int, count: int, now: float) -> list[int]:
        """Return the ids of the nearest peers of the table that are not silent."""
        if not self._silent_until:
            return self.table.nearest(target, count)
        return self.table.nearest(target, count, self._silent(now))

    def responsible(self, target: int, count: int, now: float) -> list[int]:
        """Return the nearest of all peers, ourselves included: those who should hold a record."""
        nearest = self.table.nearest(target, count, self._silent(now) if self._silent_until else NOBODY)
        own = self.table.own_id
        distance = own ^ target
        if len(nearest) < count:
            nearest.append(own)
        elif distance < nearest[-1] ^ target:
            nearest[-1] = own
        else:
            return nearest
        nearest.sort(key=target.__xor__)
        return nearest

    def take_newcomers(self) -> dict[int, Newcomer]:
        """Return those who told us that they are there, since the last time."""
        newcomers, self._newcomers = self._newcomers, {}
        return newcomers

    def take_met(self) -> list[Contact]:
        """Return some of those who joined the table since the last time."""
        met = list(self._met)
        self._met.clear()
        return met

    def lost(self, now: float, count: int) -> list[Contact]:
        """Return some of those who were lost and may be tried again, longest lost first."""
        ready = [contact for peer, contact in self._lost.items() if not self.is_silent(peer, now)]
        for contact in ready[:count]:
            self._lost.move_to_end(number(contact.id))
        return ready[:count]

    def _silent(self, now: float) -> dict[_Absent, float]:
        """Return those who are left out, having let go those whose time is over: their failures still count."""
        if now >= self._next_release:
            self._silent_until = {absent: until for absent, until in self._silent_until.items() if until > now}
            self._next_release = min(self._silent_until.values(), default=math.inf)
        return self._silent_until
