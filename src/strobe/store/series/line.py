"""Lines: the attempts of a run that are seen as one curve.

The one idea: attempts are cut into zones of steps. Where one attempt alone has points its pyramid answers; where
several have (rare: a resumed run that logs steps below its resume point) raw points are merged, the later attempt
winning a step. Must not know how pages are read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TypeAlias

from strobe.store.series.page import EVERYTHING, Directory, PageStore, Window
from strobe.store.series.point import Points


@dataclass(frozen=True, slots=True)
class Part:
    """One attempt's series as far as it counts.

    Points at `before` and above are superseded (None: nothing is); a forked run's parent is bounded the same way.
    `tail` are points not folded yet: ordered (see `Points.ordered`), all above the series' last step.
    """

    series: int
    before: int | None = None
    tail: Points | None = None

    def within(self, window: Window) -> Window:
        """Return the window less what is superseded."""
        if self.before is None or self.before > window.last_step:
            return window
        return replace(window, last_step=self.before - 1)


@dataclass(frozen=True, slots=True)
class Line:
    """Attempts in order, the later winning where two have the same step, and the window that is asked about."""

    parts: tuple[Part, ...]
    window: Window = EVERYTHING


@dataclass(frozen=True, slots=True)
class Source:
    """A part, the window in which it is read, and what the store knows of it there."""

    part: Part
    window: Window
    known: Directory

    @property
    def tail(self) -> Points:
        return Points.none() if self.part.tail is None else self.part.tail

    def extent(self) -> tuple[int, int]:
        """Return the first and last step that it can have; first > last when it has none."""
        firsts, lasts = [], []
        if self.known.low <= self.known.high:
            firsts, lasts = [self.known.first_step], [self.known.last_step]
        if len(self.tail):
            firsts.append(int(self.tail.step[0]))
            lasts.append(int(self.tail.step[-1]))
        if not firsts:
            return 0, -1
        return max(min(firsts), self.window.first_step), min(max(lasts), self.window.last_step)


Zone: TypeAlias = list[Source]  # those that have points between the same two steps, in order of attempts
_Asked: TypeAlias = tuple[int, Window]


def open_zones(store: PageStore, lines: Sequence[Line]) -> list[list[Zone]]:
    """Return each line as zones in step order. One call to the store, a second one where attempts overlap."""
    known = _look_up(store, {(part.series, part.within(line.window)) for line in lines for part in line.parts})
    cut = []
    for line in lines:
        asked = [(part, part.within(line.window)) for part in line.parts]
        cut.append(_cut([Source(part, window, known[part.series, window]) for part, window in asked]))
    narrowed = {(source.part.series, source.window) for zones in cut for zone in zones for source in zone} - set(known)
    known |= _look_up(store, narrowed)
    return [
        [[replace(source, known=known[source.part.series, source.window]) for source in zone] for zone in zones]
        for zones in cut
    ]


def _look_up(store: PageStore, asked: set[_Asked]) -> dict[_Asked, Directory]:
    """Return the directories; as many calls as there are windows on one series (a run and its forks in one chart)."""
    known = dict.fromkeys(asked, Directory())
    while asked:
        windows = dict(asked)
        known.update({(series, windows[series]): found for series, found in store.directory(windows).items()})
        asked = asked - set(windows.items())
    return known


def _cut(sources: Sequence[Source]) -> list[Zone]:
    """Cut the sources at each other's first and last steps."""
    extents = [(source, *source.extent()) for source in sources]
    extents = [(source, first, last) for source, first, last in extents if first <= last]
    edges = sorted({first for _, first, _ in extents} | {last + 1 for _, _, last in extents})
    zones = []
    for start, end in pairwise(edges):
        zone = []
        for source, first, last in extents:
            if first <= start and end - 1 <= last:
                is_whole = (first, last) == (start, end - 1)
                window = source.window if is_whole else replace(source.window, first_step=start, last_step=end - 1)
                zone.append(replace(source, window=window))
        if zone:
            zones.append(zone)
    return zones
