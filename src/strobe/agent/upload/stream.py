"""The upload of one writer's journal: what was read and not yet acknowledged, and where the server stands."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

import msgspec

from strobe.agent.upload.parcel import MAX_READ, Share, cut, num_cells
from strobe.home import RunPath
from strobe.journal.entry import Entry, Noted
from strobe.journal.event import Event
from strobe.journal.mark import Mark, place_of
from strobe.journal.tail import WriterTail


class Stream:
    """Entries of one writer on their way. Begins at a hint; the server corrects it."""

    def __init__(
        self,
        directory: Path,
        writer: str,
        hint: Mark | None = None,
        *,
        destination: RunPath | None = None,
        note: Callable[[Event], None] = lambda event: None,
    ) -> None:
        self.writer = writer
        self._destination = destination
        self._note = note
        self._directory = directory
        self._tail = WriterTail(writer, hint)
        #: behind the last entry that is known to be at the server
        self.acked = hint or Mark()
        #: everything before this is at the server
        self.next = self.acked.sequence
        self._pending: deque[Entry] = deque()
        self._seen: dict[str, int] = {}
        self._is_exhausted = False

    @property
    def is_ended(self) -> bool:
        """Whether the writer has said its last word and we have read it."""
        return self._tail.is_ended

    @property
    def problem(self) -> str | None:
        return self._tail.problem

    @property
    def has_pending(self) -> bool:
        return bool(self._pending)

    def left_bytes(self, sizes: dict[str, int]) -> int:
        return self._tail.left_bytes(sizes)

    def fill(self, sizes: dict[str, int], max_entries: int, max_cells: int) -> tuple[int, int]:
        """Read what is new, up to so much in all; return how much there is now."""
        cells = sum(map(num_cells, self._pending))
        if self._is_exhausted and sizes == self._seen:
            return len(self._pending), cells
        self._is_exhausted = False
        read_before = self._tail.num_read
        for entry in self._tail.poll([self._directory / name for name in sizes]):
            if isinstance(entry, Noted):
                self._note(entry.event)
            if place_of(entry) < self.next:  # somebody else has brought it
                self.acked = self.acked.after(entry)
                continue
            self._pending.append(entry)
            cells += num_cells(entry)
            is_much = self._tail.num_read - read_before > MAX_READ
            if len(self._pending) >= max_entries or cells >= max_cells or is_much:
                return len(self._pending), cells
        self._is_exhausted, self._seen = self._tail.problem is None, dict(sizes)
        return len(self._pending), cells

    @property
    def is_exhausted(self) -> bool:
        """Whether everything that lay there at the last look was read."""
        return self._is_exhausted

    def shares(self, max_bytes: int, max_entries: int) -> Iterator[Share]:
        """Yield what is pending as batches."""
        header = self._tail.header
        if header is not None and self._pending:
            if (path := self._destination) is not None:
                header = msgspec.structs.replace(header, entity=path.entity, project=path.project, run=path.id)
            entries = list(islice(self._pending, max_entries))
            yield from cut(header, entries, Mark(self.next, self.acked.latest_ns), max_bytes)

    def acknowledge(self, next_sequence: int) -> bool:
        """Take the server's word for what it has; False if it has less than we thought, so that we went back."""
        if next_sequence < self.next:
            self._rewind(next_sequence)
            return False
        self.next = next_sequence
        done: list[Entry] = []
        while self._pending and place_of(self._pending[0]) < next_sequence:
            done.append(self._pending.popleft())
        self.acked = self.acked.after(*done)
        return True

    def _rewind(self, sequence: int) -> None:
        # A mark further on would make places in time depend on where reading began.
        mark = self.acked if self.acked.sequence <= sequence else Mark()
        self._tail = WriterTail(self.writer, mark)
        self.acked, self.next = mark, sequence
        self._pending.clear()
        self._is_exhausted = False
