"""Answered once: the requests of a session that were seen, and the replies that may have to be sent again.

A reply is kept until the peer says (with a later request) that it has all up to there, for two sweeps, or until newer
ones need its room. A request whose reply is gone is still known as seen, so its handler never runs twice.
"""

from __future__ import annotations

from strobe.swarm.net.account import Account
from strobe.swarm.net.network import Sendable
from strobe.swarm.net.seen import Seen

#: What a session's replies may hold for a peer that does not confirm them: a full window of the longest.
_MAX_BYTES = 2 << 20


class Running:
    """Stands in the place of a reply that is being made."""


class Sent:
    """Stands in the place of a reply that a stream took over: too large to be kept besides."""

    __slots__ = ("way",)

    def __init__(self, way: object) -> None:
        self.way = way


class Large:
    """A reply for a stream: kept as it is, sent when the peer asks for it there."""

    __slots__ = ("payload", "size")

    def __init__(self, payload: Sendable) -> None:
        self.payload = payload
        self.size = len(payload)


RUNNING = Running()
#: most sessions are quiet, and a set of their own would be a tenth of what they take
_NONE: frozenset[int] = frozenset()
Kept = bytes | Running | Sent | Large


class Replies:
    """What became of the peer's requests, in the order in which they were last asked for."""

    __slots__ = ("_account", "_bytes", "_floor", "_is_closed", "_kept", "_seen", "_stale")

    def __init__(self, account: Account) -> None:
        self._account = account
        self._is_closed = False
        self._seen = Seen()
        self._floor = 0
        self._kept: dict[int, Kept] = {}
        #: of those that are kept, the ones that were there at the last sweep already
        self._stale: set[int] | frozenset[int] = _NONE
        self._bytes = 0

    def is_new(self, number: int) -> bool:
        return self._seen.is_new(number)

    def begin(self, number: int, oldest: int) -> None:
        """Take a new request as running; the peer has every reply below `oldest`."""
        self._seen.mark(number)
        if oldest > self._floor:
            self._floor = oldest
            self._seen.close_below(oldest)
            done = []
            for known, kept in self._kept.items():
                # In order of arrival, so nearly in order of number: stop at the first that is still wanted.
                if known >= oldest:
                    break
                if kept is not RUNNING:
                    done.append(known)
            for known in done:
                self.drop(known)
        self._kept[number] = RUNNING

    def keep(self, number: int, reply: bytes | Large) -> None:
        """Put a reply in the place of a request that is running."""
        if self._kept.get(number) is not RUNNING or self._is_closed:
            return
        self._kept[number] = reply
        if isinstance(reply, Large):
            self._account.take_out(reply.size)
        else:
            self._bytes += len(reply)
            if self._bytes > _MAX_BYTES:
                self._make_room(number)

    def _make_room(self, newest: int) -> None:
        small = [number for number, kept in self._kept.items() if isinstance(kept, bytes) and number != newest]
        for number in small:
            if self._bytes <= _MAX_BYTES // 2:  # not one by one for each reply to come
                return
            self.drop(number)

    def drop(self, number: int) -> None:
        """Forget a reply; the request stays seen."""
        kept = self._kept.pop(number, None)
        if isinstance(kept, bytes):
            self._bytes -= len(kept)
        elif isinstance(kept, Large):
            self._account.free_out(kept.size)

    def find(self, number: int) -> Kept | None:
        """Return what became of a request that was seen, if it is still known."""
        kept = self._kept.pop(number, None)
        if kept is not None:  # asked for again, so it is missing: the last to make room
            self._kept[number] = kept
            self._stale -= {number}
        return kept

    def hand_over(self, number: int, way: object) -> None:
        """Note that a stream took over a large reply that was kept until now."""
        self.drop(number)
        self._kept[number] = Sent(way)

    def lose_sent(self, way: object) -> None:
        """Forget what a stream took over that has ended: some of it may not have arrived."""
        for number in [number for number, kept in self._kept.items() if isinstance(kept, Sent) and kept.way is way]:
            self.drop(number)

    def sweep(self) -> None:
        """Drop what nobody asked for since the last sweep; what is running stays."""
        for number in self._stale:
            if self._kept.get(number) is not RUNNING:
                self.drop(number)
        self._stale = set(self._kept) if self._kept else _NONE

    def close(self) -> None:
        """Keep nothing any more: the session is gone, and nobody sweeps it."""
        self._is_closed = True
        for number in list(self._kept):
            self.drop(number)

    def __len__(self) -> int:
        return len(self._kept)
