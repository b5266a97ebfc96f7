"""Answered once: the requests of a session that were seen, and the replies that may have to be sent again.

A reply is kept until the peer says (with a later request) that it has all up to there, or for two sweeps. A request
whose reply is gone is still known as seen, so its handler never runs twice.
"""

from __future__ import annotations

from strobe.swarm.net.network import Payload
from strobe.swarm.net.replay import ReplayWindow


class Running:
    """Stands in the place of a reply that is being made."""


class Large:
    """A reply for a stream: kept as it is, sent when the peer asks for it there."""

    __slots__ = ("payload",)

    def __init__(self, payload: Payload) -> None:
        self.payload = payload


RUNNING = Running()
Kept = bytes | Running | Large


class Replies:
    """What became of the peer's requests."""

    __slots__ = ("_floor", "_old", "_recent", "_seen")

    def __init__(self) -> None:
        self._seen = ReplayWindow()
        self._floor = 0
        self._recent: dict[int, Kept] = {}
        self._old: dict[int, Kept] = {}

    def is_new(self, number: int) -> bool:
        return self._seen.is_fresh(number)

    def begin(self, number: int, oldest: int) -> None:
        """Take a new request as running; the peer has every reply below `oldest`."""
        self._seen.mark(number)
        self._recent[number] = RUNNING
        if oldest > self._floor:
            self._floor = oldest
            # In order of arrival, so nearly in order of number: stop at the first that is still wanted.
            for replies in (self._old, self._recent):
                done = []
                for known, kept in replies.items():
                    if known >= oldest:
                        break
                    if kept is not RUNNING:
                        done.append(known)
                for known in done:
                    del replies[known]

    def keep(self, number: int, reply: Kept) -> None:
        if self._recent.get(number) is RUNNING or self._old.pop(number, None) is RUNNING:
            self._recent[number] = reply

    def drop(self, number: int) -> None:
        """Forget a reply; the request stays seen."""
        self._recent.pop(number, None)
        self._old.pop(number, None)

    def find(self, number: int) -> Kept | None:
        """Return what became of a request that was seen, if it is still known."""
        kept = self._recent.get(number)
        if kept is None and (kept := self._old.pop(number, None)) is not None:
            self._recent[number] = kept
        return kept

    def sweep(self) -> None:
        """Drop what nobody asked for since the sweep before the last; what is running stays."""
        running: dict[int, Kept] = {number: kept for number, kept in self._old.items() if kept is RUNNING}
        self._old = self._recent
        self._recent = running

    def __len__(self) -> int:
        return len(self._recent) + len(self._old)
