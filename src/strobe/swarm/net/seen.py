"""Which requests of a session have been seen: all up to the newest, except for gaps, whose numbers may still come.

A request has its number from the moment it is made, and a large one is seen when all of it is here: thousands of small
ones may have overtaken it. So what is missing is remembered, however old; a window of the newest numbers would forget
it. The caller says with each request up to where nothing more will come, and leaves at most MAX_UNANSWERED open.
"""

from __future__ import annotations

from bisect import bisect_left

#: requests of a session that may be under way at once, and so the gaps that are worth remembering
MAX_UNANSWERED = 1024


class Seen:
    """Numbers from 0 on, each new once."""

    __slots__ = ("_firsts", "_lasts", "_top")

    def __init__(self) -> None:
        self._top = -1
        #: the gaps' first and last numbers, ascending
        self._firsts: list[int] = []
        self._lasts: list[int] = []

    def is_new(self, number: int) -> bool:
        if number > self._top:
            return True
        gap = bisect_left(self._lasts, number)
        return gap < len(self._lasts) and self._firsts[gap] <= number

    def mark(self, number: int) -> None:
        """Take a number that is new as seen."""
        if number > self._top:
            if number > self._top + 1:
                self._put(len(self._firsts), self._top + 1, number - 1)
            self._top = number
            return
        gap = bisect_left(self._lasts, number)
        first, last = self._firsts.pop(gap), self._lasts.pop(gap)
        if number < last:
            self._put(gap, number + 1, last)
        if first < number:
            self._put(gap, first, number - 1)

    def _put(self, gap: int, first: int, last: int) -> None:
        self._firsts.insert(gap, first)
        self._lasts.insert(gap, last)
        if len(self._firsts) > MAX_UNANSWERED:  # not a peer that keeps to the limit: its oldest will not be taken
            del self._firsts[0], self._lasts[0]

    def close_below(self, number: int) -> None:
        """Note that nothing below a number will come any more, or that nobody waits for it."""
        if not self._firsts or self._firsts[0] >= number:
            return
        over = bisect_left(self._lasts, number)
        del self._firsts[:over], self._lasts[:over]
        if self._firsts:
            self._firsts[0] = max(self._firsts[0], number)

    @property
    def num_gaps(self) -> int:
        return len(self._firsts)
