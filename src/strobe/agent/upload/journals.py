"""All journals of a run on their way: what is new in them as a parcel, and what the server says to it."""

from __future__ import annotations

import time
from collections.abc import Callable

from strobe.agent.upload.parcel import MAX_CELLS, MAX_ENTRIES, Share
from strobe.agent.upload.stream import Stream
from strobe.home import RunDir, RunPath
from strobe.journal.event import Event
from strobe.journal.tail import segment_sizes
from strobe.remote.answer import Refused
from strobe.remote.link import Limits
from strobe.remote.state import SyncState
from strobe.wire.batch import Ack, Receipt

#: how much goes in one request, before compression
_LARGEST = 32 << 20
_SMALLEST = 32 << 10


class Journals:
    """The writers of a run. Updates `state` with what the server has acknowledged."""

    def __init__(
        self, run_dir: RunDir, state: SyncState, destination: RunPath | None, note: Callable[[Event], None]
    ) -> None:
        #: how long it took to look for something new
        self.scan_s = 0.0
        #: what was not read yet at the last look
        self.left_bytes = 0
        self._run_dir = run_dir
        self._state = state
        self._destination = destination
        self._note = note
        self._streams: dict[str, Stream] = {}
        self._turn = 0
        self._max_bytes = _LARGEST

    @property
    def ended(self) -> set[str]:
        """The writers that have said their last word, as far as was read."""
        return {writer for writer, stream in self._streams.items() if stream.is_ended}

    @property
    def problem(self) -> str | None:
        """Why a journal cannot be read any further."""
        return next((stream.problem for stream in self._streams.values() if stream.problem), None)

    @property
    def has_more(self) -> bool:
        """Whether something is known to wait for the next parcel."""
        return any(
            stream.has_pending or not (stream.is_exhausted or stream.problem) for stream in self._streams.values()
        )

    def read(self, limits: Limits) -> list[Share]:
        """Return what is new as batches, as much as goes into one request."""
        began = time.monotonic()
        sizes = segment_sizes(self._run_dir.journal)
        self.scan_s = time.monotonic() - began
        for writer in sizes.keys() - self._streams.keys():
            self._streams[writer] = Stream(
                self._run_dir.journal,
                writer,
                self._state.writers.get(writer),
                destination=self._destination,
                note=self._note,
            )
        self._fill(sizes)
        self.left_bytes = sum(self._streams[writer].left_bytes(found) for writer, found in sizes.items())
        return self._cut(limits)

    def shrink(self) -> bool:
        """Send less at once from now on, because somebody on the way takes less; False if it is little already."""
        self._max_bytes //= 2
        return self._max_bytes >= _SMALLEST

    def take(self, receipt: Receipt, shares: list[Share], limits: Limits) -> Refused | None:
        """Take the server's word for what it has of each writer; return its refusal, if it is one."""
        refusal: Refused | None = None
        gone_back: set[str] = set()
        for ack, share in zip(receipt.acks, shares, strict=False):
            self._state.run = ack.run or self._state.run
            if ack.status == "refused":
                refusal = Refused(f"the server refuses {ack.run or self._run_dir.run_path}: {ack.reason}")
            elif share.writer not in gone_back and not self._take_ack(ack, share, limits):
                gone_back.add(share.writer)
        if len(receipt.acks) < len(shares) and refusal is None:
            return Refused(f"the server acknowledged {len(receipt.acks)} of {len(shares)} batches")
        return refusal

    def _fill(self, sizes: dict[str, dict[str, int]]) -> None:
        entries, cells = MAX_ENTRIES, MAX_CELLS
        writers = sorted(sizes)
        self._turn += 1  # another writer's turn to be first, so that one that never stops starves nobody
        first = self._turn % len(writers) if writers else 0
        for writer in writers[first:] + writers[:first]:
            if entries <= 0 or cells <= 0:
                return
            has_entries, has_cells = self._streams[writer].fill(sizes[writer], entries, cells)
            entries -= has_entries
            cells -= has_cells

    def _cut(self, limits: Limits) -> list[Share]:
        left = min(limits.request_bytes, 4 * limits.batch_bytes, self._max_bytes)
        found: list[Share] = []
        for stream in self._streams.values():
            for share in stream.shares(min(limits.batch_bytes, left), MAX_ENTRIES):
                if len(share.body) > left and found:
                    return found  # the rest goes with the next parcel
                left -= len(share.body)
                found.append(share)
        return found

    def _take_ack(self, ack: Ack, share: Share, limits: Limits) -> bool:
        """Return False if the server has less than we thought, so that we went back."""
        stream = self._streams[share.writer]
        if not stream.acknowledge(ack.next):
            return False
        if ack.next >= share.end.sequence and ack.status == "stored":
            self._state.num_rows += share.num_rows
            if share.is_left_out:
                self._state.num_left_out += 1
                self._state.error = (
                    f"record {share.begin.sequence} of writer {share.writer} is larger than the "
                    f"{limits.batch_bytes:,} bytes that the server takes; it was left out"
                )
        self._state.writers[share.writer] = stream.acked
        return True
