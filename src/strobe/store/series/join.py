"""Joining: one key over another."""

from __future__ import annotations

from dataclasses import dataclass

from strobe.store.series.bucket import Buckets
from strobe.store.series.column import Array
from strobe.store.series.line import Line
from strobe.store.series.page import PageStore

JOIN_LIMIT = 65_536  # points of each line that are joined exactly


@dataclass(frozen=True, slots=True, eq=False)
class Joined:
    """y over x by step: `x[i]` belongs to bucket `i` of `y`. Exact: each bucket is one step that both keys have."""

    x: Array
    y: Buckets
    approximate: bool


def join(store: PageStore, x: Line, y: Line, pixels: int, limit: int = JOIN_LIMIT) -> Joined:
    """Return y over x: exactly while both lines have at most `limit` points in their windows, else approximately.

    Approximately: both are cut into the same `pixels` columns of steps, and the mean x of a column stands for its
    steps.
    """
    raise NotImplementedError
