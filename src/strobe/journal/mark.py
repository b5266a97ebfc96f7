"""Marks: how far somebody has come in what one writer recorded.

Kept small: the training process reads them at its end, and nothing here makes decoders for it to wait for.
"""

from __future__ import annotations

import msgspec

from strobe.journal.entry import Entry, Noted, Row


class Mark(msgspec.Struct, frozen=True):
    """A place in a writer's sequence: records before `sequence` are done with, and what they leave behind."""

    sequence: int = 0
    #: the latest time among the entries before it, which the places in time of later entries go on from
    latest_ns: int = 0

    def after(self, *entries: Entry) -> Mark:
        """Return the mark behind consecutive entries."""
        if not entries:
            return self
        # A fill carries the time of its row; it does not move the writer's clock.
        moments = [entry.order_ns for entry in entries if isinstance(entry, Noted) or not entry.is_fill]
        return Mark(place_of(entries[-1]) + 1, max([self.latest_ns, *moments]))


def place_of(entry: Entry) -> int:
    """Return the sequence of the record that holds `entry`."""
    return entry.record if isinstance(entry, Row) else entry.sequence
