"""Following one writer: its entries in order, from a place in its sequence on, segment by segment.

`JournalReader` reads a whole run; this is for whoever hands entries on (an uploader) and has to go on, or go back, one
writer at a time. A `Mark` is enough to begin in the middle: segments before it are not read at all.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from strobe.errors import JournalError, JournalVersion
from strobe.journal.entry import Entry, Noted
from strobe.journal.event import Ended
from strobe.journal.frame import HEADER, MAGIC, scan
from strobe.journal.mark import Mark, place_of
from strobe.journal.reader import SegmentReader
from strobe.journal.segment import Header, parse_name

#: more than any header takes
_HEADER_BYTES = 16 << 10


class WriterTail:
    """The entries of one writer from `mark` on; `poll` again for what was appended since."""

    def __init__(self, writer: str, mark: Mark | None = None) -> None:
        self.writer = writer
        self.header: Header | None = None
        #: whether the writer has said its last word: nothing will follow
        self.is_ended = False
        #: why its journal cannot be read any further, or in part
        self.problem: str | None = None
        self._mark = mark or Mark()
        self._latest_ns = self._mark.latest_ns
        #: how many bytes were read so far
        self.num_read = 0
        self._done: set[str] = set()
        self._open: dict[str, SegmentReader] = {}

    def poll(self, segments: Iterable[Path]) -> Iterator[Entry]:
        """Yield what is new in the writer's `segments`, which are all there are, in the order written.

        They must have been listed before: a segment is begun only when nothing more goes to the one before it.
        """
        found = [path for path in segments if path.name not in self._done]
        if not self._open and not self._done:
            found = self._skip(found)
        for path in found:
            reader = self._open.get(path.name)
            if reader is None:
                reader = self._open[path.name] = SegmentReader(path, latest_ns=self._latest_ns)
            try:
                yield from self._read(reader)
            except FileNotFoundError:  # removed since it was listed
                self._close(reader)
            except (JournalVersion, OSError) as error:
                self.problem = f"{path.name}: {error}"
                return  # what follows must not be handed on before this
            except JournalError as error:
                self.problem = f"{path.name}: {error}"
                self._close(reader)

    def left_bytes(self, sizes: dict[str, int]) -> int:
        """Return how much of the segments, of these sizes by name, was not read yet."""
        return sum(
            max(0, size - (self._open[name].offset if name in self._open else 0))
            for name, size in sizes.items()
            if name not in self._done
        )

    def _read(self, reader: SegmentReader) -> Iterator[Entry]:
        offset = reader.offset
        for entry in reader.poll():
            self.header = reader.header
            self.num_read += reader.offset - offset
            offset = reader.offset
            if isinstance(entry, Noted) and isinstance(entry.event, Ended):
                self.is_ended = self.is_ended or entry.event.writer in (None, self.writer)
            if place_of(entry) >= self._mark.sequence:
                yield entry
        self.problem = None
        self.header = reader.header
        self._latest_ns = max(self._latest_ns, reader.latest_ns)
        if reader.seal is not None:
            self.is_ended = self.is_ended or reader.seal.successor is None
            self._close(reader)

    def _close(self, reader: SegmentReader) -> None:
        self._open.pop(reader.path.name, None)
        self._done.add(reader.path.name)

    def _skip(self, segments: list[Path]) -> list[Path]:
        """Return the segments from the one on that holds the mark; all of them where that cannot be told."""
        if self._mark.sequence > 0:
            for index in range(len(segments) - 1, 0, -1):
                first = first_sequence(segments[index])
                if first is not None and first <= self._mark.sequence:
                    self._done.update(path.name for path in segments[:index])
                    return segments[index:]
        return segments


def first_sequence(path: Path) -> int | None:
    """Return the number that a segment's records count from; None where its header cannot be read."""
    try:
        with open(path, "rb", buffering=0) as stream:
            data = stream.read(_HEADER_BYTES)
    except OSError:
        return None
    if not data.startswith(MAGIC):
        return None
    frames = scan(data, len(MAGIC)).frames
    if not frames or frames[0].kind != HEADER:
        return None
    try:
        return msgspec.msgpack.decode(frames[0].payload, type=Header).first_sequence
    except msgspec.MsgspecError:
        return None


def segment_sizes(directory: Path) -> dict[str, dict[str, int]]:
    """Return writer → name → size of the segments in `directory`, in the order written."""
    found: dict[str, dict[str, int]] = {}
    try:
        with os.scandir(directory) as files:
            listed = sorted((file.name, file) for file in files)
    except FileNotFoundError:
        return {}
    for name, file in listed:
        try:
            _, writer, _ = parse_name(Path(name))
            found.setdefault(writer, {})[name] = file.stat().st_size
        except (JournalError, FileNotFoundError):
            continue
    return found
