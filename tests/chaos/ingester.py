"""A program that takes batches into a store and is killed again and again: python -m tests.chaos.ingester PLAN.

It forks workers, for a new interpreter would take longer than what it is killed in. Each opens the store, sends the
batches in any order, some twice, some too early, and writes a line to a pipe for each acknowledgement. Whatever was
acknowledged must be in the store when the next worker looks. Prints how it went as JSON.
"""

from __future__ import annotations

import os
import random
import select
import signal
import sys
import time
from pathlib import Path

import msgspec

from strobe.store import tail
from strobe.store.store import Store, open_store
from strobe.wire.batch import Batch, BatchStream

_WORKER_S = 30.0


class Plan(msgspec.Struct):
    """What is to be done."""

    store: str
    blobs: str
    #: the batches, as they cross HTTP, those of a writer in their order
    batches: str
    seed: int
    #: how often a worker is killed before one may come to its end
    num_kills: int
    #: the longest that one lives before
    life_s: float
    #: small, so that folding happens all the time
    tail_rows: int = 64


class Outcome(msgspec.Struct):
    """How it went."""

    num_kills: int = 0
    num_acks: int = 0
    #: "run writer: acknowledged up to 7, but the store has 5"
    lost: list[str] = []


Queue = list[Batch]


def read_batches(path: Path) -> list[Queue]:
    """Return the batches of each writer."""
    stream = BatchStream(max_bytes=1 << 26)
    queues: dict[tuple[str, str], Queue] = {}
    for batch in stream.feed(path.read_bytes()):
        queues.setdefault((batch.run, batch.writer), []).append(batch)
    stream.close()
    return list(queues.values())


def ingest(store: Store, queues: list[Queue], rng: random.Random, pipe: int | None = None) -> None:
    """Send everything until all of it is there; report each ack on `pipe`."""
    following = dict.fromkeys(range(len(queues)), 0)  # a worker that was just started knows nothing
    while pending := [place for place, queue in enumerate(queues) if following[place] < queue[-1].until]:
        place = rng.choice(pending)
        queue = queues[place]
        wanted = next(number for number, batch in enumerate(queue) if batch.until > following[place])
        choice = rng.random()
        if choice < 0.15:
            wanted = rng.randrange(len(queue))  # most likely there already, or too early
        elif choice < 0.2 and wanted + 1 < len(queue):
            wanted += 1
        ack = store.ingest.take(queue[wanted], now_ns=time.time_ns()).ack
        assert ack.status in ("stored", "duplicate", "gap"), ack
        following[place] = ack.next
        if pipe is not None:
            os.write(pipe, f"{place} {ack.next}\n".encode())


class Worker:
    """A process that ingests, and what it said so far."""

    def __init__(self, plan: Plan, queues: list[Queue], seed: int) -> None:
        self.said = b""
        self.is_silent = False
        self._reader, writer = os.pipe()
        self._pid = os.fork()
        if self._pid:
            os.close(writer)
            return
        code = 1
        try:
            store = open_store(plan.store, plan.blobs)
            ingest(store, queues, random.Random(seed), writer)
            store.close()
            code = 0
        finally:
            os._exit(code)  # not the parent's way out

    def listen(self, seconds: float, *, for_a_word: bool = False) -> None:
        """Listen that long, or until it has said something, or until it is gone."""
        until = time.monotonic() + seconds
        while not self.is_silent and (left_s := until - time.monotonic()) > 0:
            if select.select([self._reader], [], [], left_s)[0]:
                piece = os.read(self._reader, 1 << 16)
                self.said += piece
                self.is_silent = not piece
                if for_a_word:
                    return

    def hear_out(self) -> None:
        """Listen until it is gone, or has said nothing for long: how much it has to say says nothing about health."""
        heard = -1
        while not self.is_silent and len(self.said) > heard:
            heard = len(self.said)
            self.listen(_WORKER_S, for_a_word=True)

    def kill(self) -> int:
        """End it at once, hear what it had said before, and return its exit code."""
        os.kill(self._pid, signal.SIGKILL)
        self.listen(5.0)
        os.close(self._reader)
        return os.waitstatus_to_exitcode(os.waitpid(self._pid, 0)[1])


def run(plan: Plan) -> Outcome:
    """Kill workers, then let one finish."""
    tail.MAX_ROWS = plan.tail_rows
    rng = random.Random(plan.seed)
    queues = read_batches(Path(plan.batches))
    outcome = Outcome()
    acked = dict.fromkeys(range(len(queues)), 0)
    while True:
        is_last = outcome.num_kills >= plan.num_kills
        worker = Worker(plan, queues, rng.getrandbits(32))
        # Lives are counted from the first word on: opening a store takes its time.
        worker.listen(_WORKER_S, for_a_word=True)
        if is_last:
            worker.hear_out()
        else:
            worker.listen(rng.random() * plan.life_s)
        code = worker.kill()
        for line in worker.said.decode().splitlines():
            place, following = map(int, line.split())
            acked[place] = max(acked[place], following)
            outcome.num_acks += 1
        outcome.lost += _missing(plan, queues, acked)
        if code != -signal.SIGKILL or is_last:
            if code:
                outcome.lost.append(f"the last worker ended with exit code {code}")
            return outcome
        outcome.num_kills += 1


def _missing(plan: Plan, queues: list[Queue], acked: dict[int, int]) -> list[str]:
    """Return what was acknowledged and is not there."""
    sql = "SELECT run.name, writer.name, writer.next FROM writer JOIN run ON run.id = run_id"
    store = open_store(plan.store, plan.blobs)
    try:
        stored = {(row[0], row[1]): row[2] for row in store.database.read(lambda cursor: cursor.all(sql))}
    finally:
        store.close()
    names = {place: (queue[0].run, queue[0].writer) for place, queue in enumerate(queues)}
    return [
        f"{names[place]}: acknowledged up to {promised}, but the store has {stored.get(names[place])}"
        for place, promised in acked.items()
        if stored.get(names[place], 0) < promised
    ]


if __name__ == "__main__":
    sys.stdout.buffer.write(msgspec.json.encode(run(msgspec.json.decode(sys.argv[1], type=Plan))))
