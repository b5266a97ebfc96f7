"""The threads that compute: each takes the batch that is due first, runs it, and hands the results on.

With several threads, one gets its batch ready while another is in an expert, so a device never waits for that while
there is work. Whatever goes wrong with a batch, those who wait for it are told and the thread goes on.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from strobe.swarm.experts.engine import Engine, Outcome, Stage
from strobe.swarm.experts.work import Batch, WorkQueue
from strobe.swarm.net.network import PeerRefused

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
                self._refuse(batch)
            del batch  # with what was sent for it, for as long as nothing else comes

    def _refuse(self, batch: Batch) -> None:
        """Tell those who wait for a batch that nothing comes of it: they need not wait until their time is up."""
        uid = batch.pool.backend.uid
        refusal = PeerRefused(f"the answers of expert {uid} are lost; its server's log says why")
        for part in batch.slices:
            part.job.has_failed = True  # of a job that was cut, the rest is not computed any more
        try:
            self._deliver([(part.job, refusal) for part in batch.slices])
        except Exception:  # noqa: BLE001  # as above; now their time has to run out
            _log.exception("clients of expert %s cannot be told either", uid)
