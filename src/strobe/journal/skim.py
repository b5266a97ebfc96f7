"""A quick look at a run: its state, names, config and how much it logged, without reading the rows.

Rows are stepped over by the length in their frame, neither decoded nor checked, which is several times quicker than a
replay; what is reported is checked as always. Metrics, summary and rows need a `Replay`. Where a length makes no sense
the segment is read in full instead, so damage costs time and never an event.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from zlib import crc32

import msgspec

from strobe.errors import JournalError
from strobe.home import RunDir
from strobe.journal import value
from strobe.journal.entry import Entry, Noted, Row
from strobe.journal.frame import EVENT, FRAME_SIZE, HEADER, MAGIC, MARKER, ROW, SEEDS
from strobe.journal.history import HISTORY_KINDS
from strobe.journal.reader import JournalReader, SegmentReader, decode_event
from strobe.journal.replay import Replay
from strobe.journal.segment import Header, list_segments

_CHUNK = 1 << 20
_read_frame_start = struct.Struct("<BBIIII").unpack_from


class Skim(Replay):
    """What the events of a run say. Read once, when made; `refresh()` finds nothing more."""

    def __init__(self, run_dir: RunDir) -> None:
        super().__init__(run_dir)
        self._skimmer = _SkimReader(run_dir.journal)
        self._reader = self._skimmer
        super().refresh()

    def refresh(self, *, keep_going: Callable[[], bool] | None = None) -> bool:
        return False

    @property
    def num_rows(self) -> int:
        return self._skimmer.num_rows

    @property
    def last_step(self) -> int | None:
        """The step of the row that was written last, by whichever writer has the highest."""
        return self._skimmer.last_step


class _SkimReader(JournalReader):
    def __init__(self, directory: Path) -> None:
        super().__init__(directory)
        self.num_rows = 0
        self.last_step: int | None = None

    def poll(self) -> Iterator[tuple[Header, Entry]]:
        for path in list_segments(self.directory):
            try:
                yield from self._skim(path)
            except (JournalError, OSError) as error:
                self.refused[path.name] = str(error)

    def _skim(self, path: Path) -> Iterator[tuple[Header, Entry]]:
        segment = SegmentReader(path)
        try:
            found = _Skimmed(segment)
        except _Nonsense:
            yield from self._read_in_full(SegmentReader(path))
            return
        for noted in found.events:
            yield segment.header, noted
        self._count(segment.header, found.num_rows, found.last_step)

    def _read_in_full(self, segment: SegmentReader) -> Iterator[tuple[Header, Entry]]:
        self.segments[segment.path.name] = segment
        for entry in segment.poll():
            if isinstance(entry, Row):
                self._count(segment.header, 1, entry.step)
            else:
                yield segment.header, entry

    def _count(self, header: Header, num_rows: int, last_step: int | None) -> None:
        if header.kind in HISTORY_KINDS:
            self.num_rows += num_rows
            if last_step is not None:
                self.last_step = last_step if self.last_step is None else max(self.last_step, last_step)


class _Nonsense(Exception):
    """A frame does not begin where the one before it ends."""


class _Skimmed:
    """The events of one segment."""

    def __init__(self, segment: SegmentReader) -> None:
        self.events: list[Noted] = []
        self.num_rows = 0
        self.last_step: int | None = None
        self._segment = segment
        self._latest_ns = 0
        with open(segment.path, "rb", buffering=0) as self._stream:
            self._walk(os.fstat(self._stream.fileno()).st_size)

    def _read(self, offset: int, size: int) -> bytes:
        self._stream.seek(offset)
        return self._stream.read(size) or b""

    def _walk(self, size: int) -> None:
        chunk, base = self._read(0, _CHUNK), 0
        if len(chunk) >= len(MAGIC):
            self._segment._check_magic(chunk)
        offset, last_row, num_rows = len(MAGIC), -1, 0
        while offset + FRAME_SIZE <= size:
            at = offset - base
            if at + FRAME_SIZE > len(chunk):
                chunk, base, at = self._read(offset, _CHUNK), offset, 0
                if len(chunk) < FRAME_SIZE:
                    break
            marker, kind, length, complement, sequence, checksum = _read_frame_start(chunk, at)
            if marker != MARKER or length ^ complement != 0xFFFFFFFF:
                raise _Nonsense
            end = offset + FRAME_SIZE + length
            if end > size:  # torn: a process was killed here, or is writing just now
                break
            if kind == ROW:
                num_rows += 1
                last_row = offset
            elif kind in (EVENT, HEADER):
                self._take(kind, sequence, checksum, self._read(offset + FRAME_SIZE, length))
            offset = end
        self.num_rows = num_rows
        if last_row >= 0:
            self._take_last_row(last_row)

    def _take(self, kind: int, sequence: int, checksum: int, payload: bytes) -> None:
        if crc32(payload, sequence ^ SEEDS[kind]) != checksum:
            raise _Nonsense
        try:
            if kind == HEADER:
                self._segment.header = msgspec.msgpack.decode(payload, type=Header)
            else:
                event = decode_event(payload)
                self._latest_ns = max(self._latest_ns, event.time_ns)
                number = self._segment.header.first_sequence + sequence
                self.events.append(Noted(number, event, self._latest_ns))
        except (msgspec.MsgspecError, ValueError, TypeError) as error:
            raise _Nonsense from error

    def _take_last_row(self, offset: int) -> None:
        _, kind, length, _, sequence, checksum = _read_frame_start(self._read(offset, FRAME_SIZE))
        payload = self._read(offset + FRAME_SIZE, length)
        if crc32(payload, sequence ^ SEEDS[kind]) != checksum:
            raise _Nonsense
        try:
            self.last_step = value.decode(payload)[1]
        except (msgspec.MsgspecError, RecursionError) as error:
            raise _Nonsense from error
