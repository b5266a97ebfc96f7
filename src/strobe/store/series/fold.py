"""Folding: new points become part of the pages."""

from __future__ import annotations

from collections.abc import Mapping

from strobe.store.series.column import Array
from strobe.store.series.page import PageStore
from strobe.store.series.point import Points


def fold(store: PageStore, batches: Mapping[int, Points], rank: Array) -> None:
    """Merge new points, by series, into the pages.

    They may come in any order, with late and repeated steps. Of two points at one step the greater (time + lag, rank
    of the writer, sequence) stays; `rank[i]` is the place of writer `i` among the sorted writer names. An equal one
    is the same point again and changes nothing, so a fold may be repeated.
    """
    raise NotImplementedError
