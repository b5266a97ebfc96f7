"""How long to wait before the next attempt: exponential, with full jitter so that many clients do not return at once.

Pure: clock and randomness are the caller's.
"""

from __future__ import annotations

from random import Random


class Backoff:
    """Grows with each failure, forgets at a success. Not thread safe."""

    def __init__(self, rng: Random, *, first_s: float = 0.5, cap_s: float = 120.0) -> None:
        self._rng = rng
        self._first_s = first_s
        self._cap_s = cap_s
        self.num_failures = 0
        #: when the failures began, or None
        self.failing_since: float | None = None

    def fail(self, now: float, *, at_least_s: float = 0.0) -> float:
        """Note a failure and return the seconds to wait; the server's own wish (`at_least_s`) is a lower bound."""
        if self.failing_since is None:
            self.failing_since = now
        ceiling = min(self._cap_s, self._first_s * 2.0 ** min(self.num_failures, 60))
        self.num_failures += 1
        # What a server asks for is waited for in full; the jitter comes on top, for it asks all at once.
        return at_least_s + self._rng.uniform(0.0, ceiling)

    def succeed(self) -> None:
        self.num_failures = 0
        self.failing_since = None

    def failing_for(self, now: float) -> float:
        """Return the seconds since the last success, 0 while all is well."""
        return 0.0 if self.failing_since is None else max(0.0, now - self.failing_since)
