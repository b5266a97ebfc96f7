"""The journal: what a run wrote, on disk, readable at any moment by anybody.

`Writer` appends, `Replay` adds everything up again; `docs/journal-format.md` has the format.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from strobe.journal.segment import Header
from strobe.journal.writer import Writer

if TYPE_CHECKING:
    from strobe.journal.digest import MetricDigest
    from strobe.journal.reader import JournalReader, SegmentReader
    from strobe.journal.replay import Replay

__all__ = ["Header", "JournalReader", "MetricDigest", "Replay", "SegmentReader", "Writer"]

_LAZY = {
    "JournalReader": "strobe.journal.reader",
    "MetricDigest": "strobe.journal.digest",
    "Replay": "strobe.journal.replay",
    "SegmentReader": "strobe.journal.reader",
}


def __getattr__(name: str) -> object:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_LAZY[name]), name)
