"""One piece of work that somebody may wait for: done on a side thread, or by whoever can't wait for that thread."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable

from strobe.errors import ArtifactError, Error


class Job:
    """Runs `work` once; `run` may be called by several threads, the first one does it."""

    def __init__(self, title: str, work: Callable[[], None]) -> None:
        self.title = title
        self.error: BaseException | None = None
        self._work: Callable[[], None] | None = work
        self._pid = os.getpid()
        self._claim = threading.Lock()
        self._done = threading.Event()

    @property
    def is_done(self) -> bool:
        return self._done.is_set()

    @property
    def is_own(self) -> bool:
        """Whether this process is to do it, not the one it was forked from."""
        return self._pid == os.getpid()

    @property
    def is_claimed(self) -> bool:
        return self._claim.locked()

    def run(self) -> None:
        """Do the work unless somebody has begun it; what it raises is kept for those who wait."""
        if not self._claim.acquire(blocking=False):
            return
        work, self._work = self._work, None
        try:
            assert work is not None
            work()
        except (Error, OSError, MemoryError) as exc:
            self.error = exc
        except BaseException as exc:
            self.error = exc
            raise
        finally:
            self._done.set()

    def wait(self, timeout_s: float | None = None) -> None:
        """Wait for the end; raise ArtifactError if it failed or `timeout_s` passed."""
        if not self.is_own and not self.is_done:
            # The thread that does it lives in the parent only.
            raise ArtifactError(f"{self.title} is being logged by process {self._pid}; wait for it there")
        started = time.monotonic()
        if not self._done.wait(timeout_s):
            waited = time.monotonic() - started
            raise ArtifactError(f"{self.title} was not logged within {waited:.1f} s; it's still being copied")
        if self.error is not None:
            raise ArtifactError(f"{self.title} was not logged: {self.error}") from self.error
