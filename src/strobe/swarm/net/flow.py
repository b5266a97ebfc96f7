"""Rates and windows: how fast a peer may ask, and how much may be on the way to it.

Three small counters without clocks or sockets of their own; time is an argument.
"""

from __future__ import annotations


class TokenBucket:
    """A lasting rate with room for bursts."""

    __slots__ = ("_at", "_burst", "_rate", "_tokens")

    def __init__(self, rate: float, burst: float, now: float) -> None:
        self._rate = rate
        self._burst = burst
        self._tokens = burst
        self._at = now

    def take(self, now: float) -> bool:
        """Take one token if there is one."""
        if self._tokens < 1.0:
            self._tokens = min(self._burst, self._tokens + (now - self._at) * self._rate)
            self._at = now
            if self._tokens < 1.0:
                return False
        elif self._tokens >= self._burst:
            self._at = now  # a full bucket does not save up
        self._tokens -= 1.0
        return True

    def is_full(self, now: float) -> bool:
        return self._tokens + (now - self._at) * self._rate >= self._burst

    def wait_s(self) -> float:
        """Return how long until there is a token."""
        return max(0.0, 1.0 - self._tokens) / self._rate


class RoundTrip:
    """How long an answer takes, smoothed, and when to stop waiting for it (RFC 6298's estimate)."""

    __slots__ = ("_mean", "_variation", "timeout_s")

    LEAST_S = 0.1
    MOST_S = 3.0

    def __init__(self, first_s: float = 0.5) -> None:
        self._mean = -1.0
        self._variation = 0.0
        self.timeout_s = first_s

    def learn(self, elapsed_s: float, sends: int = 1) -> None:
        """Learn from an answer that came so long after the first of so many sendings."""
        if sends > 1:
            # Which of them was answered? Only a bound, which holds until more is known: without it a peer whose answers
            # always take longer than the time-out would be sent everything twice for ever. One that was away for a
            # while, and had to be asked more often, is not believed so quickly.
            bound_s = elapsed_s if sends == 2 else min(elapsed_s, 2 * self.timeout_s)
            self.timeout_s = min(max(self.timeout_s, bound_s), self.MOST_S)
            return
        if self._mean < 0:
            self._mean, self._variation = elapsed_s, elapsed_s / 2
        else:
            self._variation += (abs(elapsed_s - self._mean) - self._variation) / 4
            self._mean += (elapsed_s - self._mean) / 8
        self.timeout_s = min(max(self._mean + 4 * self._variation, self.LEAST_S), self.MOST_S)


class Window:
    """How many calls may be on the way to one peer: grows with answers, halves when one is lost."""

    __slots__ = ("_most", "_shrunk_at", "in_flight", "size")

    _FIRST = 16.0
    #: Below this a path that loses at random would crawl, and the socket buffers bear it.
    _LEAST = 8.0

    def __init__(self, most: int) -> None:
        self._most = most
        self._shrunk_at = 0.0
        self.size = min(self._FIRST, most)
        self.in_flight = 0

    def has_room(self) -> bool:
        return self.in_flight < self.size

    def answered(self) -> None:
        self.in_flight -= 1
        if self.size < self._most:
            self.size = min(self.size + 1.0 / self.size, self._most)

    def lost(self, now: float, round_trip_s: float) -> None:
        """Shrink, once per round trip: the losses of one burst are one event."""
        if now - self._shrunk_at >= round_trip_s:
            self._shrunk_at = now
            self.size = max(self.size / 2, self._LEAST)
