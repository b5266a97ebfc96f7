"""The threads that compute: each takes the batch that is due first, runs it, and hands the results on.

With several threads, one gets its batch ready while another is in an expert, so a device never waits for that while
there is work.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from strobe.swarm.experts.engine import Engine, Outcome, Stage
from strobe.swarm.experts.work import WorkQueue

_log = logging.getLogger("strobe.swarm.experts")


class Runtime:
    """Computes what waits in a queue until that is closed."""

    def __init__(
        self, queue: WorkQueue, engine: Engine, deliver: Callable[[list[Outcome]], None], *, num_threads: int = 1
    ) -> None:
        self._queue = queue
        self._engine = engine
        self._deliver = deliver
        self._threads = [
            threading.Thread(target=self._work, name=f"strobe-expert-{number}", daemon=True)
            for number in range(num_threads)
        ]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def stop(self, timeout_s: float = 10.0) -> None:
        """End the threads; the queue must have been closed."""
        for thread in self._threads:
            thread.join(timeout_s)

    def _work(self) -> None:
        stage = Stage()
        while (batch := self._queue.take()) is not None:
            try:
                self._deliver(self._engine.compute(batch, stage))
            except Exception:  # noqa: BLE001  # without this thread all requests would wait for ever
                _log.exception("answers of expert %s are lost", batch.pool.backend.uid)
