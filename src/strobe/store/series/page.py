"""Pages: how a series is cut, how a database is asked for the pieces.

The one idea: every page but the last raw one is full, so a page's number tells which points it stands for, and the
number of points tells which pages exist. Must not know how a body is encoded, nor what a query wants.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

POINTS_PER_PAGE = 4096
BUCKETS_PER_PAGE = 256
POINTS_PER_BUCKET = POINTS_PER_PAGE // BUCKETS_PER_PAGE  # at level 1
LEVEL_SHIFT = 2
FAN_OUT = 1 << LEVEL_SHIFT  # buckets of one level in a bucket of the next

MIN_I64 = -(2**63)
MAX_I64 = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Window:
    """The points asked for: steps and times from `first` to `last`, both included. The default is everything."""

    first_step: int = MIN_I64
    last_step: int = MAX_I64
    first_time: int = MIN_I64
    last_time: int = MAX_I64


EVERYTHING = Window()


@dataclass(frozen=True, slots=True)
class Page:
    """One stored page. (series, level, number) is its key; `count` is the points it stands for, at any level."""

    series: int
    level: int
    number: int
    first_step: int
    last_step: int
    min_time: int
    max_time: int
    count: int
    body: bytes


@dataclass(frozen=True, slots=True)
class PageRange:
    """Pages `first` to `last` (included) of one level of one series."""

    series: int
    level: int
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Directory:
    """What a store knows of a series without opening a page.

    `low` and `high` are the numbers of the first and the last raw page that overlap the window asked about
    (`low > high` when there is none). A page overlaps when its steps and its times both do.
    """

    count: int = 0
    first_step: int = MAX_I64
    last_step: int = MIN_I64
    low: int = 0
    high: int = -1


class PageStore(Protocol):
    """What a database implements: pages by key, and a look at the raw pages' columns."""

    def directory(self, windows: Mapping[int, Window]) -> Mapping[int, Directory]:
        """Return the directory of each series for its window; a series without pages is left out. One statement."""
        ...

    def fetch(self, ranges: Sequence[PageRange]) -> Sequence[Page]:
        """Return the stored pages within the ranges, in any order, each once. One statement."""
        ...

    def put(self, pages: Sequence[Page]) -> None:
        """Insert the pages; one whose key exists is replaced."""
        ...


def points_per_page(level: int) -> int:
    """Return how many points a complete page of `level` stands for."""
    return POINTS_PER_PAGE << LEVEL_SHIFT * max(level - 1, 0)


def complete_pages(level: int, count: int) -> int:
    """Return how many complete pages `level` has in a series of `count` points."""
    return count // points_per_page(level)


def page_above(raw_number: int, level: int) -> int:
    """Return the number of the page of `level` that stands for a raw page."""
    return raw_number >> LEVEL_SHIFT * max(level - 1, 0)
