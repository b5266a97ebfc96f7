"""Rate limits: a bucket of tokens per caller that fills at a steady rate; an empty one means wait.

The clock is monotonic and given, so that tests need not sleep. Callers that were not seen for long are forgotten: their
bucket would be full.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable

import msgspec

_MAX_CALLERS = 20_000


class Rate(msgspec.Struct, frozen=True):
    """So many per second, and so many at once after a rest."""

    per_s: float
    burst: float


class Buckets:
    """The buckets of one kind of caller. Used from the event loop only."""

    def __init__(self, rate: Rate, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate = rate
        self._clock = clock
        #: name → (tokens, when that was so), the longest unused first
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, name: str) -> float:
        """Take a token; return 0, or the seconds until there is one (then none was taken)."""
        tokens, now = self._tokens(name)
        if tokens < 1:
            return (1 - tokens) / self._rate.per_s
        self._keep(name, tokens - 1, now)
        return 0.0

    def __len__(self) -> int:
        return len(self._buckets)

    def _tokens(self, name: str) -> tuple[float, float]:
        now = self._clock()
        tokens, since = self._buckets.get(name, (self._rate.burst, now))
        return min(self._rate.burst, tokens + (now - since) * self._rate.per_s), now

    def _keep(self, name: str, tokens: float, now: float) -> None:
        self._buckets[name] = (tokens, now)
        self._buckets.move_to_end(name)
        if len(self._buckets) > _MAX_CALLERS:
            self._buckets.popitem(last=False)
