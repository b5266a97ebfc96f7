"""Lines: the attempts of a run that are seen as one curve.

The one idea: attempts are cut into zones of steps. Where one attempt alone has points its pyramid answers; where
several have (rare: a resumed run that logs steps below its resume point) raw points are merged, the later attempt
winning a step. Must not know how pages are read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

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


def open_sources(store: PageStore, lines: Sequence[Line]) -> list[list[Source]]:
    """Return the sources of each line; one call to the store, unless a series is asked about with several windows."""
    asked = {(part.series, part.within(line.window)): Directory() for line in lines for part in line.parts}
    waiting = list(asked)
    while waiting:
        now: dict[int, Window] = {}
        for series, window in waiting:
            now.setdefault(series, window)
        found = store.directory(now)
        asked.update({(series, now[series]): known for series, known in found.items()})
        waiting = [(series, window) for series, window in waiting if now[series] != window]
    return [
        [
            Source(part, window, asked[part.series, window])
            for part in line.parts
            for window in [part.within(line.window)]
        ]
        for line in lines
    ]


def cut_zones(sources: Sequence[Source]) -> list[list[Source]]:
    """Return the sources of a line cut at each other's ends, in step order: those in one zone overlap in steps.

    A source that is cut has the narrower window, but still the directory of the wider one.
    """
    extents = [(source, *source.extent()) for source in sources]
    extents = [(source, first, last) for source, first, last in extents if first <= last]
    edges = sorted({first for _, first, _ in extents} | {last + 1 for _, _, last in extents})
    zones: list[list[Source]] = []
    for start, end in pairwise(edges):
        zone = [
            source
            if (first, last) == (start, end - 1)
            else replace(source, window=replace(source.window, first_step=start, last_step=end - 1))
            for source, first, last in extents
            if first <= start and end - 1 <= last
        ]
        if zone:
            zones.append(zone)
    return zones
