"""What waits to be computed: requests by expert and direction, and which of them come next, together.

The request that came first goes first, and others for the same expert join it while there is room in a batch. A client
that asks for much is served as if its later requests had come later (start-time fair queueing): each request is due
when the ones of the same client before it are done at the rate that all get, so one client alone, or many that ask one
thing at a time, are served in the order in which they came. A request of more rows than a batch has is cut, and what is
left of it is due as a later request of the same client would be.

Pure bookkeeping under one lock; computes nothing and knows no wires.
"""

from __future__ import annotations

import heapq
import itertools
import math
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from strobe.swarm.experts.backend import ExpertBackend
from strobe.swarm.net.network import PeerBusy, PeerId

if TYPE_CHECKING:
    import torch

    from strobe.swarm.tensors import TensorSpec

_LEAST_WAIT_S: Final = 0.05
_MOST_WAIT_S: Final = 30.0
#: how much of the estimate of the rate is the last batch
_FRESHNESS: Final = 0.1
#: how many times longer or shorter a pool's typical time gets at once, so that it settles where half are quicker: a few
#: batches that take long are accidents (other programs want the processor too)
_STEP: Final = 2.0
_MAX_DEBTORS: Final = 65_536
#: what an expert takes that is computed without waiting for a turn
QUICK_S: Final = 300e-6


class Pool:
    """One expert's passes in one direction."""

    __slots__ = ("backend", "gives", "is_backward", "takes", "typical_s", "waiting")

    def __init__(self, backend: ExpertBackend, is_backward: bool) -> None:
        self.backend = backend
        self.is_backward = is_backward
        info = backend.info
        #: the tensors of a request and those of its answer, row by row
        self.takes: dict[str, TensorSpec] = {**info.inputs, **info.grad_outputs} if is_backward else info.inputs
        self.gives: dict[str, TensorSpec] = info.grads if is_backward else info.outputs
        #: how long a batch takes, as far as known
        self.typical_s = math.inf
        #: a heap by due time, then by arrival
        self.waiting: list[tuple[float, int, Job]] = []

    def took(self, elapsed_s: float) -> None:
        """Learn how long a batch took."""
        known_s = self.typical_s
        self.typical_s = elapsed_s if known_s == math.inf else min(max(elapsed_s, known_s / _STEP), known_s * _STEP)


@dataclass(eq=False, slots=True)
class Job:
    """A request: how many rows it has, who waits for it, and what came out so far."""

    pool: Pool
    client: PeerId
    rows: int
    #: makes the tensors, in the thread that needs them; raises PeerRefused for what does not pass
    unpack: Callable[[], list[torch.Tensor]]
    #: whatever takes the result
    owner: Any = None
    arrived: float = field(default_factory=time.monotonic)
    taken: int = 0
    #: outputs of the rows that are done, in order
    parts: list[list[torch.Tensor]] = field(default_factory=list)
    tensors: list[torch.Tensor] | None = None
    has_failed: bool = False


class Slice(NamedTuple):
    """Rows of a job."""

    job: Job
    start: int
    stop: int


class Batch(NamedTuple):
    """Rows of several jobs for one expert."""

    pool: Pool
    slices: list[Slice]
    rows: int


class WorkQueue:
    """All that waits. `put` from one thread, `take` and `done` from those that compute."""

    def __init__(self, *, max_waiting: int = 2048) -> None:
        self._max_waiting = max_waiting
        self._lock = threading.RLock()  # taken as such: by way of the condition it takes two calls more
        self._ready = threading.Condition(self._lock)
        self._pools: set[Pool] = set()
        self._busy: set[ExpertBackend] = set()
        self._due: dict[PeerId, float] = {}
        self._clock = 0.0
        self._numbers = itertools.count()
        self._by_client: Counter[PeerId] = Counter()
        self._is_closed = False
        self._rows_per_s = 0.0
        self.num_waiting = 0
        self.rows_waiting = 0

    def put(self, job: Job) -> None:
        """Let a job wait for its turn; PeerBusy if there is no room for more, or no more for this client."""
        with self._lock:
            if self._is_closed:
                raise PeerBusy("this server is shutting down", _MOST_WAIT_S)
            self._admit(job.client)
            if not self._pools or len(self._due) > _MAX_DEBTORS:
                # Nobody waits: nobody is owed anything. (Nor does a crowd of strangers get a book of their own.)
                self._due.clear()
            due = max(self._clock, self._due.get(job.client, 0.0))
            self._due[job.client] = due + job.rows
            heapq.heappush(job.pool.waiting, (due, next(self._numbers), job))
            self._pools.add(job.pool)
            self._by_client[job.client] += 1
            self.num_waiting += 1
            self.rows_waiting += job.rows
            self._ready.notify()

    def claim(self, job: Job) -> Batch | None:
        """Return a job as a batch of its own, to be computed at once instead of being put.

        Only if nobody waits or is being computed, and the expert is so quick that handing the job to another thread
        would take longer.
        """
        pool = job.pool
        if pool.typical_s > QUICK_S or self._pools or self._busy:
            return None
        with self._lock:
            if self._pools or self._busy or self._is_closed or job.rows > pool.backend.info.max_batch_size:
                return None
            self._busy.add(pool.backend)
            return Batch(pool, [Slice(job, 0, job.rows)], job.rows)

    def drop(self, job: Job) -> None:
        """Forget a job that nobody waits for, and the memory that it holds; rows that are being computed stay so."""
        if job.taken == job.rows:
            return
        with self._lock:
            pool = job.pool
            kept = [entry for entry in pool.waiting if entry[2] is not job]
            if len(kept) == len(pool.waiting):
                return
            heapq.heapify(kept)
            pool.waiting = kept
            self._leave(job)
            if not kept:
                self._pools.discard(pool)

    def take(self) -> Batch | None:
        """Wait for work and return the batch that is due first; None when the queue is closed."""
        with self._lock:
            while True:
                if self._is_closed:
                    return None
                pool = min(
                    (pool for pool in self._pools if pool.backend not in self._busy),
                    key=lambda pool: pool.waiting[0][:2],
                    default=None,
                )
                if pool is None:
                    self._ready.wait()
                elif (batch := self._fill(pool)) is not None:
                    # One thread at a time in an expert: it learns in place.
                    self._busy.add(pool.backend)
                    return batch

    def done(self, batch: Batch, elapsed_s: float) -> None:
        """Let the expert of a batch work again."""
        with self._lock:
            self._busy.discard(batch.pool.backend)
            if elapsed_s > 0:  # else nothing of it could be computed
                batch.pool.took(elapsed_s)
                rate = batch.rows / elapsed_s
                self._rows_per_s += (rate - self._rows_per_s) * (_FRESHNESS if self._rows_per_s else 1.0)
            if self._pools:  # else whoever woke up would find nothing
                self._ready.notify()

    def close(self) -> list[Job]:
        """End every `take`; return what was waiting."""
        with self._lock:
            self._is_closed = True
            left = [job for pool in self._pools for _, _, job in pool.waiting]
            self._pools.clear()
            self._ready.notify_all()
            return left

    def wait_s(self) -> float:
        """Return how long what waits now will take."""
        if not self._rows_per_s:
            return 1.0
        return min(max(self.rows_waiting / self._rows_per_s, _LEAST_WAIT_S), _MOST_WAIT_S)

    def _admit(self, client: PeerId) -> None:
        if self.num_waiting >= self._max_waiting:
            raise PeerBusy(f"{self.num_waiting} requests wait already", self.wait_s())
        if self.num_waiting >= self._max_waiting // 2:
            # From here on everybody gets the same share, so that whoever comes next finds room.
            share = self._max_waiting // (len(self._by_client) + 1)
            if self._by_client[client] >= max(share, 1):
                raise PeerBusy(f"{self._by_client[client]} of this client's requests wait already", self.wait_s())

    def _fill(self, pool: Pool) -> Batch | None:
        most = pool.backend.info.max_batch_size
        slices: list[Slice] = []
        rows = 0
        while pool.waiting and rows < most:
            due, number, job = pool.waiting[0]
            left = job.rows - job.taken
            if job.has_failed:
                heapq.heappop(pool.waiting)
                self._leave(job)
                continue
            if left > most - rows and job.rows <= most:
                break  # it fits into the next one whole
            count = min(left, most - rows)
            slices.append(Slice(job, job.taken, job.taken + count))
            job.taken += count
            rows += count
            self.rows_waiting -= count
            self._clock = max(self._clock, due)
            if job.taken == job.rows:
                heapq.heappop(pool.waiting)
                self._leave(job)
            else:
                heapq.heapreplace(pool.waiting, (due + count, number, job))
        if not pool.waiting:
            self._pools.discard(pool)
        return Batch(pool, slices, rows) if slices else None

    def _leave(self, job: Job) -> None:
        """Count a job as waiting no longer."""
        self.rows_waiting -= job.rows - job.taken
        self.num_waiting -= 1
        self._by_client[job.client] -= 1
        if not self._by_client[job.client]:
            del self._by_client[job.client]
            if self._due.get(job.client, 0.0) <= self._clock:
                self._due.pop(job.client, None)
