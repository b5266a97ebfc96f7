"""One daemon thread for work that may wait: it improves what is safe already, so losing it loses nothing.

The thread starts with the first piece of work and ends when there is none. After a fork the child starts with an
empty queue and a thread of its own: the parent's work stays the parent's.
"""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Callable


class SideThread:
    """Runs callables one after the other, in the order given. Safe to use from any thread and after fork."""

    def __init__(self, name: str) -> None:
        self._name = name
        #: pieces of work that raised; what they wanted to improve stays as it was
        self.failed = 0
        self._reset()

    def _reset(self) -> None:
        self._pid = os.getpid()
        self._pending: deque[Callable[[], None]] = deque()
        self._is_running = False
        self._changed = threading.Condition()

    def _state(self) -> threading.Condition:
        # A lock taken over by fork may be held by a thread that does not exist here, so it is replaced unseen.
        if self._pid != os.getpid():
            self._reset()
        return self._changed

    def submit(self, work: Callable[[], None]) -> None:
        """Queue `work`. The queue is unbounded: give it paths to read, not the bytes themselves."""
        with self._state():
            self._pending.append(work)
            if self._is_running:
                return
            self._is_running = True
        try:
            threading.Thread(target=self._run, name=self._name, daemon=True).start()
        except RuntimeError:  # no more threads, or the interpreter is shutting down
            self._rest()

    def drain(self, timeout: float | None = None) -> bool:
        """Wait until all work is done; False if `timeout` seconds passed first or it will not be done."""
        deadline = None if timeout is None else time.monotonic() + timeout
        with self._state():
            while self._is_running:
                left = None if deadline is None else deadline - time.monotonic()
                if left is not None and left <= 0:
                    break
                self._changed.wait(left)
            return not self._pending and not self._is_running

    def _run(self) -> None:
        is_idle = False
        try:
            while not is_idle:
                work = self._next()
                if work is None:
                    is_idle = True
                    continue
                try:
                    work()
                except (OSError, ValueError, MemoryError):
                    self.failed += 1
        finally:
            if not is_idle:  # a fault of ours, which threading's hook shows: drain() must not wait for it
                self._rest()

    def _next(self) -> Callable[[], None] | None:
        with self._changed:
            if self._pending:
                return self._pending.popleft()
            # under the same lock as the look at the queue: work that comes now starts a new thread
            self._is_running = False
            self._changed.notify_all()
            return None

    def _rest(self) -> None:
        with self._changed:
            self._is_running = False
            self._changed.notify_all()
