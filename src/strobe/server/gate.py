"""Back-pressure: more work at once than the store can do is sent away with a time to come back, not piled up.

What comes in is bounded twice: how many are inside, and how many bytes they hold in memory together.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from strobe.server.problem import Problem


class Gate:
    """Lets so many in at once, with so many bytes. Used from the event loop only, so it needs no lock."""

    def __init__(self, places: int, doing: str = "being taken in", *, max_bytes: int = 1 << 62) -> None:
        self._places = places
        self._max_bytes = max_bytes
        self._doing = doing
        self.inside = 0
        self.held_bytes = 0
        #: seconds that the work of one took lately
        self._seconds = 0.05

    @contextmanager
    def enter(self) -> Iterator[Place]:
        """Be inside for the length of the block, or raise a 429 that says when to try again."""
        if self.inside >= self._places:
            raise self._full(f"{self.inside} are {self._doing}")
        self.inside += 1
        place = Place(self)
        try:
            yield place
        finally:
            self.inside -= 1
            self.held_bytes -= place.num_bytes

    def note(self, seconds: float) -> None:
        """Note how long the work of one took."""
        self._seconds += (seconds - self._seconds) / 16

    def check(self, more: int, mine: int) -> None:
        """Raise a 429 if there is no room for so many bytes more; somebody who is alone always has room."""
        if more > 0 and self.held_bytes + more > self._max_bytes and self.held_bytes > mine:
            raise self._full(f"{self.held_bytes} bytes are {self._doing}")

    def _full(self, what: str) -> Problem:
        wait_s = min(30.0, max(0.1, self._seconds * self.inside))
        return Problem(429, detail=f"{what}; the next in {wait_s:.1f} s", retry_after_s=wait_s)


class Place:
    """Somebody who is inside, and how many bytes they hold."""

    def __init__(self, gate: Gate) -> None:
        self._gate = gate
        self.num_bytes = 0

    def hold(self, num_bytes: int) -> None:
        """Say how many bytes of what came in are in memory now, or raise a 429: they have to be let go of then."""
        more = num_bytes - self.num_bytes
        self._gate.check(more, self.num_bytes)
        self._gate.held_bytes += more
        self.num_bytes = num_bytes
