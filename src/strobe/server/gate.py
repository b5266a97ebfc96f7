"""Back-pressure: more work at once than the store can do is sent away with a time to come back, not piled up."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from strobe.server.problem import Problem


class Gate:
    """Lets so many in at once. Used from the event loop only, so it needs no lock."""

    def __init__(self, places: int, doing: str = "being taken in") -> None:
        self._places = places
        self._doing = doing
        self.inside = 0
        #: seconds that the work of one took lately
        self._seconds = 0.05

    @contextmanager
    def enter(self) -> Iterator[None]:
        """Be inside for the length of the block, or raise a 429 that says when to try again."""
        if self.inside >= self._places:
            wait_s = min(30.0, max(0.1, self._seconds * self.inside))
            raise Problem(
                429, detail=f"{self.inside} are {self._doing}; the next in {wait_s:.1f} s", retry_after_s=wait_s
            )
        self.inside += 1
        try:
            yield
        finally:
            self.inside -= 1

    def note(self, seconds: float) -> None:
        """Note how long the work of one took."""
        self._seconds += (seconds - self._seconds) / 16
