"""Entries that are accounted for together: how many there are, what they cost, and which of them expire soonest.

All entries of a storage are one share, and those of each source are another. What was replaced or removed stays in the
heap until its turn comes or there is too much of it; whether something is still there, only the storage knows.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from typing import Final, TypeAlias

#: an entry by its expiration, key and subkey
Due: TypeAlias = tuple[float, bytes, bytes]

_MIN_HEAP: Final = 64


class Share:
    """The books of some entries."""

    __slots__ = ("_heap", "num_entries", "size_bytes")

    def __init__(self) -> None:
        self._heap: list[Due] = []
        self.num_entries = self.size_bytes = 0

    def add(self, due: Due, cost: int, is_current: Callable[[Due], bool]) -> None:
        """Enter what was put in; `is_current` tells what else is still there."""
        self.num_entries += 1
        self.size_bytes += cost
        heapq.heappush(self._heap, due)
        if len(self._heap) > 2 * self.num_entries + _MIN_HEAP:
            self._heap = list({each for each in self._heap if is_current(each)})
            heapq.heapify(self._heap)

    def subtract(self, cost: int) -> None:
        """Strike out an entry of this cost."""
        self.num_entries -= 1
        self.size_bytes -= cost

    @property
    def soonest(self) -> float | None:
        """When the next of these expires, or would have."""
        return self._heap[0][0] if self._heap else None

    def pop(self) -> Due:
        """Return what expires soonest, or would have; it is forgotten here, but not struck out."""
        return heapq.heappop(self._heap)
