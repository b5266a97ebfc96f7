"""Entries that are accounted for together: how many there are, what they cost, and which of them expire soonest.

All entries of a storage are one share, and those of each source are another. What was replaced or removed stays in the
heap until its turn comes or there is too much of it; whether something is still there, only the storage knows, which
says so by `is_current`.
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

    __slots__ = ("heap", "is_current", "num_entries", "size_bytes")

    def __init__(self, is_current: Callable[[Due], bool]) -> None:
        self.is_current = is_current
        #: what expires soonest, or would have, comes first
        self.heap: list[Due] = []
        self.num_entries = self.size_bytes = 0

    def add(self, due: Due, cost: int) -> None:
        """Enter what was put in."""
        self.num_entries += 1
        self.size_bytes += cost
        heapq.heappush(self.heap, due)
        if len(self.heap) > 2 * self.num_entries + _MIN_HEAP:
            self.heap = list({each for each in self.heap if self.is_current(each)})
            heapq.heapify(self.heap)

    def subtract(self, cost: int) -> None:
        """Strike out an entry of this cost."""
        self.num_entries -= 1
        self.size_bytes -= cost

    def pop(self) -> Due:
        """Return what expires soonest, or would have; it leaves the heap, but is not struck out."""
        return heapq.heappop(self.heap)
