"""Queries: a line within its window as at most so many buckets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

from strobe.store.series.bucket import Buckets
from strobe.store.series.line import Line
from strobe.store.series.page import PageStore

Axis: TypeAlias = Literal["step", "time"]


def query(store: PageStore, lines: Sequence[Line], pixels: int, axis: Axis = "step") -> list[Buckets]:
    """Return for each line at most `pixels` buckets, in step order, over exactly the points in its window.

    `axis` says along what the buckets are cut into equal widths. Up to `pixels` points come raw (`is_raw`).
    """
    raise NotImplementedError


def digest(store: PageStore, lines: Sequence[Line]) -> list[Buckets]:
    """Return for each line one bucket over all points in its window (none when there is no point)."""
    raise NotImplementedError
