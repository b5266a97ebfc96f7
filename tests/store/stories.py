"""Runs as journals tell them, and their way into a store: packed, cut into batches, sent in any order."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from strobe.home import Home, RunDir, RunPath
from strobe.journal import Header, JournalReader, Replay, Writer
from strobe.journal import event as ev
from strobe.journal.entry import Entry
from strobe.journal.mark import place_of
from strobe.store.ingest import Ingest
from strobe.wire.batch import Ack, Batch, BatchStream, encode_batch
from strobe.wire.pack import pack

PATH = RunPath("local", "p", "r")
START_NS = 10**18


class Clock:
    """A clock that ticks when it is looked at."""

    def __init__(self) -> None:
        self.now_ns = START_NS

    def __call__(self) -> int:
        self.now_ns += 1000
        return self.now_ns


class Story:
    """Writes attempts of one run as journals."""

    def __init__(self, directory: Path, clock: Clock, path: RunPath = PATH) -> None:
        self.home = Home(directory)
        self.path = path
        self.clock = clock
        self.run_dir: RunDir = self.home.run_dir(path)
        self.attempt = 0
        self.num_writers = 0

    def start(self, **started: Any) -> Writer:
        """Begin a new attempt."""
        self.attempt += 1
        return self.join(**started)

    def join(self, kind: str = "main", **started: Any) -> Writer:
        """Let one more writer take part in the attempt."""
        self.num_writers += 1
        header = Header(
            entity=self.path.entity,
            project=self.path.project,
            run=self.path.id,
            writer=f"w{self.num_writers}",
            attempt=self.attempt,
            kind=kind,
        )
        writer = Writer(self.run_dir.journal, header)
        writer.event(ev.Started(time_ns=self.clock(), primary=kind == "main", **started))
        return writer

    def replay(self) -> Replay:
        replay = Replay(self.run_dir)
        replay.refresh()
        assert not replay.damages
        return replay


def batches(run_dir: RunDir, rng: random.Random, *, rows_at_most: int = 5) -> list[list[Batch]]:
    """Return the batches of each writer, in order, cut at random and taken through the wire."""
    return [list(_cut(header, entries, rng, rows_at_most)) for header, entries in _by_writer(run_dir)]


def overlapping(run_dir: RunDir, rng: random.Random, *, rows_at_most: int = 5) -> list[list[Batch]]:
    """Return the batches of each writer, in order, where each repeats some of what was sent before it."""
    return [list(_cut(header, entries, rng, rows_at_most, repeated=8)) for header, entries in _by_writer(run_dir)]


def _by_writer(run_dir: RunDir) -> Iterable[tuple[Header, list[Entry]]]:
    found: dict[str, tuple[Header, list[Entry]]] = {}
    for header, entry in JournalReader(run_dir.journal).poll():
        found.setdefault(header.writer, (header, []))[1].append(entry)
    return found.values()


def _cut(
    header: Header, entries: Sequence[Entry], rng: random.Random, at_most: int, repeated: int = 0
) -> Iterable[Batch]:
    start = 0
    while start < len(entries):
        stop = min(start + rng.randint(1, at_most), len(entries))
        begin = max(0, start - rng.randint(0, repeated))
        first = place_of(entries[begin - 1]) + 1 if begin else 0
        until = place_of(entries[stop - 1]) + 1
        yield through_wire(pack(header, entries[begin:stop], first=first, until=until))
        start = stop


def through_wire(batch: Batch) -> Batch:
    """Return the batch as the other side sees it."""
    stream = BatchStream(max_bytes=1 << 26)
    (decoded,) = stream.feed(encode_batch(batch))
    stream.close()
    return decoded


def send_shuffled(ingest: Ingest, writers: list[list[Batch]], rng: random.Random, clock: Clock) -> None:
    """Send all batches, writers interleaved at random, some twice, some too early, until everything is there."""
    pending = [list(found) for found in writers if found]
    sent: list[Batch] = []
    while pending:
        queue = rng.choice(pending)
        choice = rng.random()
        if sent and choice < 0.15:
            assert take(ingest, rng.choice(sent), clock).status == "duplicate"
        elif len(queue) > 1 and choice < 0.3:
            assert take(ingest, queue[1], clock).status == "gap"
        else:
            batch = queue.pop(0)
            assert take(ingest, batch, clock).status == "stored"
            sent.append(batch)
        pending = [queue for queue in pending if queue]


def take(ingest: Ingest, batch: Batch, clock: Clock) -> Ack:
    return ingest.take(batch, now_ns=clock()).ack
