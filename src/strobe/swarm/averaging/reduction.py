"""Means of one share of the values, part by part, over those who deliver. No I/O, no clock.

A part is closed when everybody who is awaited has delivered it; who is dropped is awaited no more. Sums are float32;
weights are relative to the greatest, so that counts of samples do not overflow them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import torch


class Mean(NamedTuple):
    """Of one part; None if nobody delivered it. `missing`: who should have and did not."""

    values: torch.Tensor | None
    missing: tuple[int, ...]


class Reduction:
    """The share of one reducer. Members are known by their places in the group."""

    def __init__(self, lengths: Sequence[int], weights: Mapping[int, float]) -> None:
        most = max(weights.values(), default=1.0)
        self._weights = {member: weight / most for member, weight in weights.items()}
        self._lengths = list(lengths)
        self._sums: list[torch.Tensor | None] = [None] * len(lengths)
        self._delivered: list[set[int]] = [set() for _ in lengths]
        self._awaited = set(weights)
        #: all before it are closed
        self.oldest = 0
        self._closed = [False] * len(lengths)
        self._skip_closed()

    @property
    def is_done(self) -> bool:
        return self.oldest == len(self._lengths)

    @property
    def lacking(self) -> set[int]:
        """Who keeps the oldest open part from being closed; parts come in order, so these are the slowest."""
        return set() if self.is_done else self._awaited - self._delivered[self.oldest]

    def is_wanted(self, member: int, part: int) -> bool:
        """Whether a member's values of a part still count."""
        return member in self._awaited and not self._closed[part] and member not in self._delivered[part]

    def add(self, member: int, part: int, values: torch.Tensor) -> list[int]:
        """Add a member's values, which it may change; return the parts that this closes."""
        if not self.is_wanted(member, part):
            return []
        weight = self._weights[member]
        total = self._sums[part]
        if total is None:
            self._sums[part] = values * weight
        else:
            total.add_(values, alpha=weight)
        self._delivered[part].add(member)
        return self._close_complete([part])

    def drop(self, member: int) -> list[int]:
        """Await a member no more; return the parts that this closes."""
        if member not in self._awaited:
            return []
        self._awaited.discard(member)
        return self._close_complete(range(self.oldest, len(self._lengths)))

    def mean(self, part: int) -> Mean:
        """Return the mean of a closed part; once, for its memory is given away."""
        total, self._sums[part] = self._sums[part], None
        missing = tuple(sorted(self._weights.keys() - self._delivered[part]))
        if total is None:
            return Mean(None, missing)
        weight = 0.0
        for member in sorted(self._delivered[part]):
            weight += self._weights[member]
        return Mean(total.div_(weight), missing)

    def _close_complete(self, parts: Sequence[int]) -> list[int]:
        closed = [part for part in parts if not self._closed[part] and self._awaited <= self._delivered[part]]
        for part in closed:
            self._closed[part] = True
        self._skip_closed()
        return closed

    def _skip_closed(self) -> None:
        while self.oldest < len(self._lengths) and self._closed[self.oldest]:
            self.oldest += 1
