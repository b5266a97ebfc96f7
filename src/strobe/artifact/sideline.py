"""Work that is done at once if it's small, else beside the training, on one thread.

Mistakes of the caller are raised to the caller when there is one, our own faults (a full disk) never: they warn and are
counted. On the side thread there is no caller, so everything warns.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from strobe.artifact.job import Job
from strobe.data.side import SideThread
from strobe.errors import Error


class Sideline:
    """Runs jobs, those on the side thread in the order given. A forked child starts with none."""

    def __init__(self, name: str, *, warn: Callable[[str], object], at_once_bytes: int) -> None:
        self._warn = warn
        self._at_once_bytes = at_once_bytes
        self._side = SideThread(name)
        # A dict as an ordered set: adding and removing are single steps, so no lock is held when a process forks.
        self._waiting: dict[Job, None] = {}
        #: titles of what could not be done
        self.failed: list[str] = []

    def do(self, job: Job, size_bytes: int, *, in_order: bool = False) -> None:
        """Run `job` now, or on the side thread if it has many bytes to read.

        `in_order` makes a small one wait for those on the side thread too.
        """
        if size_bytes > self._at_once_bytes or (in_order and self._own()):
            self._waiting[job] = None
            self._side.submit(lambda: self._run(job))
            return
        job.run()
        if isinstance(job.error, Error):
            raise job.error
        self._complain(job)

    def drain(self, timeout_s: float | None = None) -> list[str]:
        """Wait for the side thread; return the titles of what was not done in time."""
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        if self._own() and not self._side.drain(timeout_s):
            for job in self._own():
                # Unclaimed and no thread: it could not start, there being too many or the interpreter ending.
                if not job.is_claimed and (deadline is None or time.monotonic() < deadline):
                    self._run(job)
        return [job.title for job in self._own()]

    def _own(self) -> list[Job]:
        return [job for job in list(self._waiting) if job.is_own and not job.is_done]

    def _run(self, job: Job) -> None:
        job.run()
        if job.is_done:
            self._waiting.pop(job, None)
            self._complain(job)

    def _complain(self, job: Job) -> None:
        if job.error is not None:
            self.failed.append(job.title)
            self._warn(f"{job.title} could not be stored: {job.error}")
