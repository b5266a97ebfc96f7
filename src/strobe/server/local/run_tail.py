"""Following the journals of one run into the store: what was appended becomes batches, as an agent would send them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice

import msgspec

from strobe.home import RunDir
from strobe.journal.entry import Entry
from strobe.journal.mark import Mark, place_of
from strobe.journal.tail import WriterTail, segment_sizes
from strobe.store.ingest import Ingest
from strobe.wire.pack import pack

#: entries of one batch: enough to be quick, few enough that nobody waits long for the database
_AT_ONCE = 4000


class _Behind(Exception):
    """The store lacks something that was read before."""


class RunTail:
    """One run; `poll()` again for what was appended since."""

    def __init__(self, run_dir: RunDir, ingest: Ingest, clock: Callable[[], int]) -> None:
        self.run_dir = run_dir
        #: the sizes of its segments when everything in them had been taken in
        self.sizes: dict[str, dict[str, int]] = {}
        self._ingest = ingest
        self._clock = clock
        self._tails: dict[str, WriterTail] = {}
        self._next: dict[str, int] = {}
        #: what was found at a look and is being taken in, batch by batch
        self._round: Iterator[int] | None = None

    def poll(self, most_batches: int | None = None) -> int:
        """Take in what is new, or so many batches of it; return how many entries that were."""
        if self._round is None:
            sizes = segment_sizes(self.run_dir.journal)
            if sizes == self.sizes:
                return 0
            self._round = self._take_in(sizes)
        try:
            count = sum(islice(self._round, most_batches))
        except _Behind:
            # The index has less than was taken in: it was begun anew under us. So do we, at the next look.
            self._begin_anew()
            return 0
        except BaseException:
            # What was read was perhaps not taken in: to go on behind it would leave it out.
            self._begin_anew()
            raise
        return count

    @property
    def is_behind(self) -> bool:
        """Whether more was found than has been taken in."""
        return self._round is not None

    @property
    def problem(self) -> str:
        """Why a journal cannot be read, or not to its end; it may be readable later, by a newer Strobe for one."""
        return "; ".join(tail.problem for tail in self._tails.values() if tail.problem)

    def _begin_anew(self) -> None:
        self.sizes, self._tails, self._next, self._round = {}, {}, {}, None

    def _take_in(self, sizes: dict[str, dict[str, int]]) -> Iterator[int]:
        for writer, segments in sizes.items():
            if self.sizes.get(writer) != segments:
                yield from self._follow(writer, segments)
        self.sizes, self._round = sizes, None

    def _follow(self, writer: str, segments: dict[str, int]) -> Iterator[int]:
        tail = self._tails.get(writer)
        if tail is None:
            tail = self._tails[writer] = WriterTail(writer, Mark())
        entries = tail.poll([self.run_dir.journal / name for name in segments])
        while part := list(islice(entries, _AT_ONCE)):
            yield self._take(tail, part)

    def _take(self, tail: WriterTail, entries: list[Entry]) -> int:
        header = tail.header
        assert header is not None, "entries come from a segment"
        # Where the run lies says what it is called; a home may have been moved or renamed since.
        path = self.run_dir.run_path
        named = msgspec.structs.replace(header, entity=path.entity, project=path.project, run=path.id)
        until = place_of(entries[-1]) + 1
        # Everything before what is new was taken in by this process or one before it.
        batch = pack(named, entries, first=self._next.get(tail.writer, 0), until=until)
        ack = self._ingest.take(batch, now_ns=self._clock()).ack
        if ack.status == "gap":
            raise _Behind
        self._next[tail.writer] = until
        return len(entries) if ack.status == "stored" else 0
