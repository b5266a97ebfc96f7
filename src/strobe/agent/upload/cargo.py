"""What a run's upload carries besides its journals: files and artifacts, a piece at a time."""

from __future__ import annotations

from typing import Protocol

from strobe.remote.answer import Answer


class Cargo(Protocol):
    """Something that follows the journals. `advance` is called again and again, with turns of the journals between."""

    @property
    def num_left(self) -> int:
        """How many pieces are known to be waiting."""

    def advance(self, *, is_final: bool) -> Answer | None:
        """Send the next piece, not longer than about a second; None when nothing is left.

        `is_final` says that the run's writers have ended: what waits for the end is due.
        """
