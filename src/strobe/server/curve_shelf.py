"""Curves that were asked for lately, as bytes: a panel of a hundred runs is asked for again whenever one of them moves.

The one idea: a curve is kept under the version of its run, so it is never old, only unused; those unused longest go
when there is no room. Used from the event loop only, so it needs no lock. Must not know what a curve is made from.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from strobe.wire.series import ColumnType

#: facts and columns, for `wire.series.encode_series`
EncodedCurve = tuple[Mapping[str, Any], Mapping[str, tuple[ColumnType, bytes]]]

MAX_BYTES = 32 << 20
#: what a curve takes besides its columns, about
_OVERHEAD = 2000


class CurveShelf:
    """Holds so many bytes of curves."""

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self._max_bytes = max_bytes
        self._held: OrderedDict[Hashable, Sequence[EncodedCurve]] = OrderedDict()
        self.num_bytes = 0

    def find(self, name: Hashable) -> Sequence[EncodedCurve] | None:
        found = self._held.get(name)
        if found is not None:
            self._held.move_to_end(name)
        return found

    def put(self, name: Hashable, curves: Sequence[EncodedCurve]) -> None:
        """Keep curves, unless they alone would take much of the room."""
        size = _size(curves)
        if size > self._max_bytes // 8 or name in self._held:
            return
        self._held[name] = curves
        self.num_bytes += size
        while self.num_bytes > self._max_bytes:
            _, gone = self._held.popitem(last=False)
            self.num_bytes -= _size(gone)


def _size(curves: Sequence[EncodedCurve]) -> int:
    return sum(_OVERHEAD + sum(len(cells) for _, cells in columns.values()) for _, columns in curves)
