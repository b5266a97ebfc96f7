"""Lanes put together by time: any line of the whole by its number, without reading what lies before it.

The order is (time, lane, line). Times never go down within a lane, so the times at which pages begin bound how many
lines lie before a moment; reading starts at the last page border that is surely not behind the line asked for.
"""

from __future__ import annotations

import heapq
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import cached_property

import msgspec

from strobe.store.console.lane import Lane, iter_pages, page_starts, read_page
from strobe.store.database import Cursor


class Line(msgspec.Struct, frozen=True, gc=False):
    """A line as it is shown; `text` has its colours."""

    #: its number among the lines asked for
    number: int
    time_ns: int
    #: the place of its lane in the list of lanes, and its number there
    lane: int
    line: int
    text: str


#: (time, place of the lane, line in the lane, text)
_Placed = tuple[int, int, int, str]


class Merged:
    """The lines of several lanes, as of one moment: use within one transaction."""

    def __init__(self, cursor: Cursor, lanes: Sequence[Lane]) -> None:
        self._cursor = cursor
        self._lanes = lanes
        self.total = sum(lane.lines for lane in lanes)

    @cached_property
    def _starts(self) -> dict[int, tuple[list[int], list[int]]]:
        return page_starts(self._cursor, self._lanes)

    def lines(self, start: int) -> Iterator[Line]:
        """Yield the lines from number `start` on."""
        positions = self._positions_before(start)
        number = sum(positions)
        lanes = (self._lane_lines(place, position) for place, position in enumerate(positions))
        for time_ns, place, line, text in heapq.merge(*lanes):
            if number >= start:
                yield Line(number, time_ns, place, line, text)
            number += 1

    def number_at(self, time_ns: int) -> int:
        """Return the number of the first line that began at that time or later."""
        return sum(self._count_before(lane, time_ns) for lane in self._lanes)

    def _lane_lines(self, place: int, position: int) -> Iterator[_Placed]:
        for first_line, lines in iter_pages(self._cursor, self._lanes[place], position):
            texts = lines.texts()
            for offset in range(max(0, position - first_line), len(lines)):
                yield lines.times_ns[offset], place, first_line + offset, texts[offset]

    def _positions_before(self, start: int) -> list[int]:
        """Return for each lane a line to start from, all of them at one moment, with at most `start` lines before."""
        if len(self._lanes) == 1:
            return [start]  # its lines have their numbers already
        moments = sorted({time_ns for _, times in self._starts.values() for time_ns in times})
        low, high = 0, len(moments)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self._at_most_before(moments[middle]) <= start else (low, middle)
        if not low:
            return [0] * len(self._lanes)
        return [self._count_before(lane, moments[low]) for lane in self._lanes]

    def _at_most_before(self, time_ns: int) -> int:
        total = 0
        for lane in self._lanes:
            first_lines, times = self._starts[lane.id]
            page = bisect_left(times, time_ns)
            total += first_lines[page] if page < len(times) else lane.lines
        return total

    def _count_before(self, lane: Lane, time_ns: int) -> int:
        """Return how many lines of the lane began before that time."""
        if time_ns > lane.last_ns:
            return lane.lines
        first_lines, times = self._starts[lane.id]
        page = bisect_left(times, time_ns)
        if page == 0:
            return 0
        first_line, lines = read_page(self._cursor, lane, first_lines[page - 1])
        return first_line + bisect_left(lines.times_ns, time_ns)
