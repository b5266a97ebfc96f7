"""Entries that are accounted for together: how many there are, what they cost, and which of them expire soonest.

All entries of a storage are one share, and those of each source are another; so are those of each party in a full
record. What was replaced or removed stays in the heap until its turn comes or there is too much of it; whether
something is still there, only who keeps the books knows, and says so by `is_current`.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from typing import Any, Final, Generic, TypeAlias, TypeVar

#: an entry by its expiration, key and subkey
Due: TypeAlias = tuple[float, bytes, bytes]
_Due = TypeVar("_Due", bound=tuple[Any, ...])

_MIN_HEAP: Final = 64


class Share(Generic[_Due]):
    """The books of some entries. Whoever adds one does so in place: it is done for each entry of each store, twice."""

    __slots__ = ("heap", "is_current", "num_entries", "size_bytes")

    def __init__(self, is_current: Callable[[_Due], bool]) -> None:
        self.is_current = is_current
        #: what expires soonest, or would have, comes first
        self.heap: list[_Due] = []
        self.num_entries = self.size_bytes = 0

    def subtract(self, cost: int) -> None:
        """Strike out an entry of this cost."""
        self.num_entries -= 1
        self.size_bytes -= cost
        if len(self.heap) > 2 * self.num_entries + _MIN_HEAP:
            self.heap[:] = {each for each in self.heap if self.is_current(each)}
            heapq.heapify(self.heap)

    def pop(self) -> _Due:
        """Return what expires soonest, or would have; it leaves the heap, but is not struck out."""
        return heapq.heappop(self.heap)
