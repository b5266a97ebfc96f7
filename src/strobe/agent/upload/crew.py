"""The crew: a few threads that give uploads their turn, so that a server that hangs delays nobody but other uploads.

Threads come with the first job and go when there is none left. What a job raises is logged and counted, and the job is
tried again later.
"""

from __future__ import annotations

import heapq
import itertools
import threading
import time
from collections.abc import Callable
from typing import Protocol

SIZE = 4
#: for files and artifacts, which take long and can wait
FREIGHT_SIZE = 2
_AFTER_ERROR_S = 10.0


class Job(Protocol):
    """Something that is done step by step."""

    def advance(self) -> float | None:
        """Do a step; return the seconds until the next one, None when done."""


class Crew:
    """Does steps of jobs when they are due, at most `size` at once, each job by one thread at a time."""

    def __init__(
        self,
        failed: Callable[[Job], None],
        *,
        done: Callable[[Job], None] = lambda job: None,
        size: int = SIZE,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._failed = failed
        self._done = done
        self._size = size
        self._clock = clock
        self._due: list[tuple[float, int, Job]] = []
        self._numbers = itertools.count()
        self._change = threading.Condition()
        self._num_jobs = 0
        self._num_threads = 0
        self._num_idle = 0
        self._is_closed = False

    def add(self, job: Job) -> None:
        """Begin with a job."""
        with self._change:
            self._num_jobs += 1
            self._push(0.0, job)

    def close(self) -> None:
        """Begin no more steps. Those under way are not waited for: a network may take its time."""
        with self._change:
            self._is_closed = True
            self._change.notify_all()

    def _push(self, wait_s: float, job: Job) -> None:
        heapq.heappush(self._due, (self._clock() + wait_s, next(self._numbers), job))
        if self._num_idle == 0 and self._num_threads < min(self._size, self._num_jobs):
            self._num_threads += 1
            threading.Thread(target=self._work, name="strobe-upload", daemon=True).start()
        else:
            self._change.notify()

    def _work(self) -> None:
        while (job := self._next()) is not None:
            try:
                wait_s = job.advance()
            except Exception:  # noqa: BLE001 - the outermost frame of this thread; the callee logs and counts it
                self._failed(job)
                wait_s = _AFTER_ERROR_S
            with self._change:
                if wait_s is not None:
                    self._push(wait_s, job)
                    continue
                self._num_jobs -= 1
            self._done(job)

    def _next(self) -> Job | None:
        """Return the next job that is due, waiting for it; None when there is nothing left to do."""
        with self._change:
            while True:
                if self._is_closed or self._num_jobs < self._num_threads:
                    self._num_threads -= 1
                    return None
                wait_s = self._due[0][0] - self._clock() if self._due else None
                if wait_s is not None and wait_s <= 0:
                    return heapq.heappop(self._due)[2]
                self._num_idle += 1
                self._change.wait(wait_s)
                self._num_idle -= 1
