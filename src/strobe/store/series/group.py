"""Groups: neighbouring rows of a column taken together.

All that is known of a group is where it begins; it ends where the next one does. Must not know what a column means.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from strobe.store.series.column import Array


class Groups:
    """Groups of `length` rows that begin at `starts`, which rise strictly from 0 (both may be empty together)."""

    def __init__(self, starts: Array, length: int) -> None:
        self._starts = starts
        self._are_single = len(starts) == length
        self.sizes: Array = np.diff(starts, append=length)
        self._ends: Array = starts + self.sizes - 1

    @cached_property
    def _of_row(self) -> Array:
        return np.repeat(np.arange(len(self._starts)), self.sizes)

    def first(self, column: Array) -> Array:
        found: Array = column[self._starts]
        return found

    def last(self, column: Array) -> Array:
        found: Array = column[self._ends]
        return found

    def sum(self, column: Array) -> Array:
        with np.errstate(over="ignore", invalid="ignore"):  # past the float range it is inf, as in any sum
            return self._reduced(np.add, column)

    def min(self, column: Array) -> Array:
        """Return the least of each group, leaving out NaN while there is anything else."""
        return self._reduced(np.fmin, column)

    def max(self, column: Array) -> Array:
        """Return the greatest of each group, leaving out NaN while there is anything else."""
        return self._reduced(np.fmax, column)

    def at_first(self, column: Array, wanted: Array, other: Array) -> Array:
        """Return of each group the row of `other` where `column` first has the wanted value, else its first row."""
        found = self.first(other)
        if not self._are_single:
            places = np.flatnonzero(column == wanted[self._of_row])
            owners = self._of_row[places]
            is_first: Array = np.append(True, owners[1:] != owners[:-1])[: len(owners)]
            found[owners[is_first]] = other[places[is_first]]
        return found

    def _reduced(self, how: np.ufunc, column: Array) -> Array:
        reduced: Array = column if self._are_single else how.reduceat(column, self._starts)
        return reduced
