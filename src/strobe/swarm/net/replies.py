"""Answered once: the requests of a session that were seen, and the replies that may have to be sent again.

A reply is kept until the peer says (with a later request) that it has all up to there, until nothing was asked or
answered for a while, or until newer ones need its room. A request whose reply is gone is still known as seen, so its
handler never runs twice.
"""

from __future__ import annotations

from strobe.swarm.net.account import Account
from strobe.swarm.net.network import Sendable
from strobe.swarm.net.seen import Seen

#: What a session's replies may hold for a peer that does not confirm them: a full window of the longest.
_MAX_BYTES = 2 << 20
#: what an entry takes besides its reply: there may be many that are short
_ENTRY_BYTES = 100
#: Sweeps, of 4 s each, after which nobody waits any more: callers do so for half a minute unless told otherwise. One
#: whose path is down asks for as long without being heard, and its reply has to be here when the path is back.
QUIET_SWEEPS = 8


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
Kept = bytes | Running | Sent | Large


def _cost(kept: Kept | None) -> int:
    """Return what an entry takes of a session's room; large replies are on the peer's account."""
    if isinstance(kept, bytes):
        return _ENTRY_BYTES + len(kept)
    return _ENTRY_BYTES if isinstance(kept, Sent) else 0


class Replies:
    """What became of the peer's requests, in the order in which they were last asked for."""

    __slots__ = ("_account", "_bytes", "_floor", "_is_closed", "_kept", "_quiet_sweeps", "_seen")

    def __init__(self, account: Account) -> None:
        self._account = account
        self._is_closed = False
        self._seen = Seen()
        self._floor = 0
        self._kept: dict[int, Kept] = {}
        #: sweeps since anything was asked or answered
        self._quiet_sweeps = 0
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
        self._put(number, RUNNING)

    def keep(self, number: int, reply: bytes | Large) -> None:
        """Put a reply in the place of a request that is running."""
        if self._kept.get(number) is not RUNNING or self._is_closed:
            return
        self._put(number, reply)
        if isinstance(reply, Large):
            self._account.take_out(reply.size)

    def _put(self, number: int, kept: Kept) -> None:
        self._quiet_sweeps = 0
        self._kept[number] = kept
        self._bytes += _cost(kept)
        if self._bytes > _MAX_BYTES:
            self._make_room(number)

    def _make_room(self, newest: int) -> None:
        for number in [number for number, kept in self._kept.items() if _cost(kept) and number != newest]:
            if self._bytes <= _MAX_BYTES // 2:  # not one by one for each reply to come
                return
            self.drop(number)

    def drop(self, number: int) -> None:
        """Forget a reply; the request stays seen."""
        kept = self._kept.pop(number, None)
        self._bytes -= _cost(kept)
        if isinstance(kept, Large):
            self._account.free_out(kept.size)

    def find(self, number: int) -> Kept | None:
        """Return what became of a request that was seen, if it is still known."""
        kept = self._kept.pop(number, None)
        if kept is not None:  # asked for again, so it is missing: the last to make room
            self._kept[number] = kept
            self._quiet_sweeps = 0
        return kept

    def hand_over(self, number: int, way: object) -> None:
        """Note that a stream took over a large reply that was kept until now."""
        self.drop(number)
        self._put(number, Sent(way))

    def lose_sent(self, way: object) -> None:
        """Forget what a stream took over that has ended: some of it may not have arrived."""
        for number in [number for number, kept in self._kept.items() if isinstance(kept, Sent) and kept.way is way]:
            self.drop(number)

    def sweep(self) -> None:
        """Note that time has passed: what is kept goes when nobody has come for it in long; what is running stays."""
        self._quiet_sweeps += 1
        if self._quiet_sweeps > QUIET_SWEEPS:
            for number in [number for number, kept in self._kept.items() if kept is not RUNNING]:
                self.drop(number)

    def close(self) -> None:
        """Keep nothing any more: the session is gone, and nobody sweeps it."""
        self._is_closed = True
        for number in list(self._kept):
            self.drop(number)

    def __len__(self) -> int:
        return len(self._kept)
