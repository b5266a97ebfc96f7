"""What a run's upload carries besides its journals: files and artifacts.

They go on threads of their own, a piece at a time, so that points do not wait behind a checkpoint of gigabytes. A
`Look` is one round of that: everything that was found, sent.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from strobe.remote.answer import Answer, Ok, Refused, Retry


class Cargo(Protocol):
    """Something that follows the journals."""

    @property
    def num_left(self) -> int:
        """How many pieces are known to be waiting."""

    @property
    def left_bytes(self) -> int:
        """How many bytes these have that are not on their way yet; asked for by another thread than sends them."""

    def scan(self, *, is_final: bool) -> int:
        """Look for what is to be sent and return how much that is; cheap, because it is done often.

        `is_final` says that the run's writers have ended: what waits for the end is due.
        """

    def advance(self) -> Answer | None:
        """Send the next piece of what the last scan found; None when nothing is left."""


class Look:
    """One round: all that the cargos found, sent. A job of a crew; asked for its end by the course."""

    def __init__(self, cargos: Sequence[Cargo], hold_s: Callable[[], float]) -> None:
        self._cargos = cargos
        self._hold_s = hold_s
        self.is_done = False
        #: why it cannot go on, or has to wait
        self.failure: Retry | Refused | None = None

    def give_up(self, why: str) -> None:
        """A fault of ours: this round ends here, another may do better."""
        self.failure, self.is_done = Refused(why), True

    def advance(self) -> float | None:
        if self.is_done:
            return None
        if (wait_s := self._hold_s()) > 0:
            return wait_s
        for cargo in self._cargos:
            answer = cargo.advance()
            if isinstance(answer, Ok):
                self.failure = None
                return 0.0
            if answer is not None:
                self.failure = answer
                if isinstance(answer, Retry):
                    return max(0.2, self._hold_s())
                break
        self.is_done = True
        return None
