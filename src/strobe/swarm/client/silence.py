"""Peers or experts that failed lately, left out for a while that doubles each time; one answer clears it."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Final

_MAX_KNOWN: Final = 4096
_MOST_S: Final = 600.0


class Silence:
    """Who is left out, and until when. For threads."""

    def __init__(
        self, first_s: float = 5.0, backoff_rate: float = 2.0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._first_s = first_s
        self._backoff_rate = backoff_rate
        self._clock = clock
        self._lock = threading.Lock()
        #: how often in a row, and until when
        self._known: OrderedDict[Hashable, tuple[int, float]] = OrderedDict()

    def failed(self, who: Hashable) -> None:
        """Note that somebody did not answer; many calls that fail together are one failure."""
        with self._lock:
            now = self._clock()
            failures, until = self._known.pop(who, (0, 0.0))
            if until <= now:
                until = now + min(self._first_s * self._backoff_rate ** min(failures, 64), _MOST_S)
                failures += 1
            self._known[who] = (failures, until)
            if len(self._known) > _MAX_KNOWN:
                self._known.popitem(last=False)

    def answered(self, who: Hashable) -> None:
        with self._lock:
            self._known.pop(who, None)

    def is_silent(self, who: Hashable) -> bool:
        return self.left_s(who) > 0

    def left_s(self, who: Hashable) -> float:
        """Return for how long somebody is left out; 0 or less means not at all."""
        known = self._known.get(who)
        return 0.0 if known is None else known[1] - self._clock()
