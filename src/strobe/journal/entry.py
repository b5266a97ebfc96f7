"""Entries: what one writer recorded, a row or an event, with its place in the writer's sequence."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

import msgspec

from strobe.journal import value
from strobe.journal.event import Event

#: how far into a nested value anybody looks; Python itself does not go much further
MAX_DEPTH = 200


class Row(msgspec.Struct, frozen=True, gc=False):
    """One row, or the part of a row that a fill record supplied later under the row's own sequence number."""

    sequence: int
    step: int
    time_ns: int
    keys: tuple[str, ...]
    values: list[Any]
    is_fill: bool = False
    #: its place in time: `time_ns`, but never before what the same writer recorded earlier (a clock may be set back)
    order_ns: int = 0
    #: the sequence of the record itself: that of the row, or that of the fill, which came later
    record: int = -1

    def items(self) -> Iterator[tuple[str, Any]]:
        """Yield what was logged; holes are left out, keys of nested maps are strings."""
        for key, item in zip(self.keys, self.values, strict=True):
            if item is not value.HOLE_VALUE:
                yield key, with_text_keys(item) if item.__class__ is dict else item

    def only(self, wanted: set[str]) -> Row:
        """Return the row with these keys alone."""
        places = [place for place, key in enumerate(self.keys) if key in wanted]
        if len(places) == len(self.keys):
            return self
        keys = tuple(self.keys[place] for place in places)
        values = [self.values[place] for place in places]
        return Row(self.sequence, self.step, self.time_ns, keys, values, self.is_fill, self.order_ns, self.record)


class Noted(msgspec.Struct, frozen=True, gc=False):
    """An event with its place in the writer's sequence."""

    sequence: int
    event: Event
    order_ns: int = 0


Entry: TypeAlias = Row | Noted


def with_text_keys(item: Any, depth: int = 0) -> Any:
    """Return a decoded value whose maps have text for keys, as everybody who shows them expects."""
    if depth > MAX_DEPTH:
        return item
    if isinstance(item, dict):
        return {str(key): with_text_keys(inner, depth + 1) for key, inner in item.items()}
    if isinstance(item, list):
        return [with_text_keys(inner, depth + 1) for inner in item]
    return item
