"""What a server of experts did lately, in numbers: for `strobe swarm status`, for runs, for whoever asks.

Threads add to it without waiting for each other; who reads gets the last ten full seconds.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Final

_WINDOW_S: Final = 10
_LATENCIES: Final = 1024


class Meter:
    """Counters since the start, and rates over the last seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._started = clock()
        #: whole second, then rows, batches and requests of it
        self._seconds: deque[list[float]] = deque(maxlen=_WINDOW_S + 2)
        self._latencies: deque[float] = deque(maxlen=_LATENCIES)
        self.rows = 0
        self.batches = 0
        self.requests = 0
        self.refused = 0
        self.failed = 0
        self.busy_s = 0.0

    def batch(self, rows: int, elapsed_s: float) -> None:
        """Count a batch that was computed."""
        with self._lock:
            self.rows += rows
            self.batches += 1
            self.busy_s += elapsed_s
            second = self._second()
            second[1] += rows
            second[2] += 1

    def answered(self, latency_s: float) -> None:
        """Count a request that got its answer, so long after it came."""
        with self._lock:
            self.requests += 1
            self._second()[3] += 1
            self._latencies.append(latency_s)

    def read(self) -> dict[str, float]:
        """Return everything, by names that a run can log."""
        with self._lock:
            now = self._clock()
            window_s = min(_WINDOW_S, max(now - self._started, 1e-3))
            recent = [second for second in self._seconds if second[0] > now - _WINDOW_S - 1]
            rows, batches, requests = (sum(second[place] for second in recent) for place in (1, 2, 3))
            latencies = sorted(self._latencies)
            return {
                "samples_per_s": rows / window_s,
                "batches_per_s": batches / window_s,
                "requests_per_s": requests / window_s,
                "samples_per_batch": rows / batches if batches else 0.0,
                "latency_p50_ms": _quantile(latencies, 0.5) * 1e3,
                "latency_p99_ms": _quantile(latencies, 0.99) * 1e3,
                "samples": self.rows,
                "requests": self.requests,
                "refused": self.refused,
                "failed": self.failed,
                "busy_s": self.busy_s,
                "uptime_s": now - self._started,
            }

    def _second(self) -> list[float]:
        now = float(int(self._clock()))
        if not self._seconds or self._seconds[-1][0] != now:
            self._seconds.append([now, 0.0, 0.0, 0.0])
        return self._seconds[-1]


def _quantile(ordered: list[float], share: float) -> float:
    return ordered[min(int(len(ordered) * share), len(ordered) - 1)] if ordered else 0.0
