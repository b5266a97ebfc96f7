"""A lane: requests of one kind to a server, and whether one may go out now.

Points and things (files, artifacts) have a lane each, so that a server whose disk for files is full still gets points.
Not thread safe; pure but for the randomness it is given.
"""

from __future__ import annotations

from random import Random

from strobe.remote.answer import Answer, Retry
from strobe.remote.backoff import Backoff

#: how soon to ask again whether the one request that goes out to a failing server has come back
_PROBE_S = 0.25


class Lane:
    """The back-off of one kind of request."""

    def __init__(self, rng: Random) -> None:
        self.backoff = Backoff(rng)
        self.retry_at = 0.0
        #: requests that are under way
        self.num_out = 0

    def hold_s(self, now: float) -> float:
        """Return the seconds for which asking is of no use: the server is failing and its time has not come."""
        if now < self.retry_at:
            return self.retry_at - now
        # One request finds out whether it is back; the others wait for what that brings.
        return _PROBE_S if self.backoff.num_failures and self.num_out else 0.0

    def note(self, answer: Answer, now: float) -> None:
        if isinstance(answer, Retry):
            self.retry_at = now + self.backoff.fail(now, at_least_s=answer.after_s)
        else:
            self.backoff.succeed()
            self.retry_at = 0.0
