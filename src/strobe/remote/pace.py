"""How fast to send: a fixed limit, or one that gives way when the way to the server fills up.

A token bucket meters the bytes. In the automatic mode there is no limit until round trips take clearly longer than the
shortest ones seen lately: then somebody's packets queue, perhaps the training's own, and the rate is halved; while they
are short again it grows step by step (AIMD), until there is no limit again. Pure: the clock is an argument.
"""

from __future__ import annotations

#: a round trip this much over the shortest one means that packets queue
_QUEUE_FACTOR = 2.0
_QUEUE_S = 0.05
#: the shortest round trip of this long counts; routes change
_MEMORY_S = 300.0
_LEAST_BYTES_PER_S = 32_000.0
_GROWTH_BYTES = 64_000.0
#: how much may go at once after a pause
_BURST_S = 0.25


class Pace:
    """Tells how long to wait before sending. Not thread safe."""

    def __init__(self, limit_bytes_per_s: float | None = None, *, automatic: bool = True) -> None:
        #: bytes per second now; None while nothing limits
        self.rate: float | None = limit_bytes_per_s
        self._ceiling = limit_bytes_per_s
        self._is_automatic = automatic
        self._tokens = 0.0
        self._filled_at: float | None = None
        #: (begun, shortest) of the current and the last stretch of time
        self._now: tuple[float, float] | None = None
        self._before: float | None = None
        self._reduced_at = float("-inf")
        self._sent_bytes = 0
        self._sent_since: float | None = None

    def take(self, num_bytes: int, now: float) -> float:
        """Spend `num_bytes` and return the seconds to wait before they go out."""
        if self._sent_since is None:
            self._sent_since = now
        self._sent_bytes += num_bytes
        if self.rate is None:
            return 0.0
        burst = self.rate * _BURST_S
        elapsed = 0.0 if self._filled_at is None else max(0.0, now - self._filled_at)
        self._tokens = min(burst, self._tokens + elapsed * self.rate) - num_bytes
        self._filled_at = now
        return max(0.0, -self._tokens / self.rate)

    def note_round_trip(self, seconds: float, now: float) -> None:
        """Take a measurement of the way into account."""
        if not self._is_automatic or seconds <= 0:
            return
        shortest = self._remember(seconds, now)
        if seconds > shortest * _QUEUE_FACTOR + _QUEUE_S:
            # Once per measured effect of the last cut: a queue takes a few round trips to drain.
            if now - self._reduced_at > 4 * seconds:
                self._reduced_at = now
                self._set(max(_LEAST_BYTES_PER_S, 0.5 * (self.rate or self._measured(now))))
        elif self.rate is not None and self.rate != self._ceiling:
            grown = self.rate + _GROWTH_BYTES
            # Nobody uses what is allowed: there is nothing to limit.
            is_slack = now - self._reduced_at > 30 and grown > 4 * self._measured(now)
            self._set(self._ceiling if is_slack else grown)
        if self._sent_since is not None and now - self._sent_since > 10:
            self._sent_since, self._sent_bytes = now, 0

    def _remember(self, seconds: float, now: float) -> float:
        if self._now is None or now - self._now[0] > _MEMORY_S:
            self._before = self._now[1] if self._now else None
            self._now = (now, seconds)
        else:
            self._now = (self._now[0], min(self._now[1], seconds))
        return self._now[1] if self._before is None else min(self._before, self._now[1])

    def _measured(self, now: float) -> float:
        elapsed = 0.0 if self._sent_since is None else now - self._sent_since
        return max(_LEAST_BYTES_PER_S, self._sent_bytes / max(elapsed, 0.1))

    def _set(self, rate: float | None) -> None:
        if rate is not None and self._ceiling is not None:
            rate = min(rate, self._ceiling)
        if self.rate is None:
            self._tokens, self._filled_at = 0.0, None
        self.rate = rate
