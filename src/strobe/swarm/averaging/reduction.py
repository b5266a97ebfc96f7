"""Means of one share of the values, part by part, over those who deliver. No I/O, no clock.

A part is closed when everybody who is awaited has delivered it; who is dropped is awaited no more. Sums are float32;
weights are relative to the greatest, so that counts of samples do not overflow them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import torch


class Mean(NamedTuple):
    """Of one part; None if nobody delivered it. `missing`: who should have and did not."""

    values: torch.Tensor | None
    missing: tuple[int, ...]


class Reduction:
    """The share of one reducer. Members are known by their places in the group."""

    def __init__(self, num_parts: int, weights: Mapping[int, float]) -> None:
        most = max(weights.values(), default=1.0)
        self._weights = {member: weight / most for member, weight in weights.items()}
        self._num_parts = num_parts
        self._sums: list[torch.Tensor | None] = [None] * num_parts
        self._delivered: list[set[int]] = [set() for _ in range(num_parts)]
        self._awaited = set(weights)
        #: all before it are closed
        self.oldest = 0
        self._closed = [False] * num_parts

    @property
    def is_done(self) -> bool:
        return self.oldest == self._num_parts

    @property
    def lacking(self) -> set[int]:
        """Who keeps the oldest open part from being closed; parts come in order, so these are the slowest."""
        return set() if self.is_done else self._awaited - self._delivered[self.oldest]

    def add(self, member: int, part: int, values: torch.Tensor) -> list[int]:
        """Add a member's values, unless they come too late; return the parts that this closes."""
        if member not in self._awaited or self._closed[part] or member in self._delivered[part]:
            return []
        weight = self._weights[member]
        total = self._sums[part]
        if total is None:
            self._sums[part] = values * weight
        else:
            total.add_(values, alpha=weight)
        self._delivered[part].add(member)
        return self.settle([part])

    def drop(self, member: int) -> list[int]:
        """Await a member no more; return the parts that this closes."""
        if member not in self._awaited:
            return []
        self._awaited.discard(member)
        return self.settle(range(self.oldest, self._num_parts))

    def mean(self, part: int) -> Mean:
        """Return the mean of a closed part; once, for its memory is given away."""
        total, self._sums[part] = self._sums[part], None
        missing = tuple(sorted(self._missing(part)))
        if total is None:
            return Mean(None, missing)
        weight = 0.0
        for member in sorted(self._delivered[part]):
            weight += self._weights[member]
        return Mean(total.div_(weight), missing)

    def give_up(self) -> set[int]:
        """Close what is open without a mean, and return who did not deliver it: what comes now comes too late."""
        left = [part for part in range(self.oldest, self._num_parts) if not self._closed[part]]
        for part in left:
            self._closed[part], self._sums[part] = True, None
        self.oldest = self._num_parts
        return {member for part in left for member in self._missing(part)}

    def _missing(self, part: int) -> set[int]:
        return self._weights.keys() - self._delivered[part]

    def settle(self, parts: Iterable[int]) -> list[int]:
        """Close those of these parts that nobody keeps open, and return them."""
        closed = [part for part in parts if not self._closed[part] and self._awaited <= self._delivered[part]]
        for part in closed:
            self._closed[part] = True
        while self.oldest < self._num_parts and self._closed[self.oldest]:
            self.oldest += 1
        return closed
