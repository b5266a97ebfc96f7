"""Reading raw points."""

from __future__ import annotations

from collections.abc import Iterator

from strobe.store.series.line import Line
from strobe.store.series.page import PageStore
from strobe.store.series.point import Points


def read_points(store: PageStore, line: Line, limit: int | None = None) -> Iterator[Points]:
    """Yield the points of a line in step order, some pages at a time, at most `limit` of them."""
    raise NotImplementedError
