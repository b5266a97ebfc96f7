"""Parcels: what goes to the server in one request, cut to what it takes at once. No files and no network here."""

from __future__ import annotations

import zlib
from collections.abc import Iterator

from strobe.journal.entry import Entry, Row
from strobe.journal.mark import Mark
from strobe.journal.segment import Header
from strobe.wire.batch import encode_batch
from strobe.wire.pack import pack

#: entries and values that are held at once: a few megabytes of Python objects
MAX_ENTRIES = 8_000
MAX_CELLS = 60_000
#: of the journal, for rows of long texts
MAX_READ = 4 << 20
#: pieces that are tried before all is compressed, and how much of them is left where that is not worth it
_SAMPLES = 16
_SAMPLE_BYTES = 2 << 10
_WORTHLESS = 0.8


class Share:
    """One writer's part of a parcel: a batch, and the mark behind it."""

    def __init__(self, header: Header, entries: list[Entry], begin: Mark, *, is_left_out: bool = False) -> None:
        self.writer = header.writer
        self.entries = entries
        self.begin = begin
        self.end = begin.after(*entries)
        #: whether the entries are announced without being sent: the server takes nothing of their size
        self.is_left_out = is_left_out
        sent = [] if is_left_out else entries
        self.body = encode_batch(pack(header, sent, first=begin.sequence, until=self.end.sequence))

    @property
    def num_rows(self) -> int:
        return sum(isinstance(entry, Row) for entry in self.entries)


def cut(header: Header, entries: list[Entry], begin: Mark, max_bytes: int) -> Iterator[Share]:
    """Yield the entries as batches of at most `max_bytes`; one that is larger by itself is left out, and says so."""
    share = Share(header, entries, begin)
    if len(share.body) <= max_bytes:
        yield share
    elif len(entries) == 1:
        yield Share(header, entries, begin, is_left_out=True)
    else:
        half = len(entries) // 2
        for part in (entries[:half], entries[half:]):
            for piece in cut(header, part, begin, max_bytes):
                yield piece
                begin = piece.end


def body_of(shares: list[Share]) -> tuple[bytes, str]:
    """Return the batches as the body of a request and its content encoding: quickly rather than small.

    Values that look random, as those of many metrics do, would cost more time than bytes: they stay as they are.
    """
    plain = b"".join(share.body for share in shares)
    starts = range(0, len(plain), max(1, len(plain) // _SAMPLES))
    sample = b"".join(plain[start : start + _SAMPLE_BYTES] for start in starts)
    if len(sample) < len(plain) and len(zlib.compress(sample, 1)) > _WORTHLESS * len(sample):
        return plain, "identity"
    packer = zlib.compressobj(1, zlib.DEFLATED, 31)
    return packer.compress(plain) + packer.flush(), "gzip"


def num_cells(entry: Entry) -> int:
    """Return how much an entry counts towards `MAX_CELLS`."""
    return len(entry.values) if isinstance(entry, Row) else 8
