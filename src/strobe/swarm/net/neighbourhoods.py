"""Where strangers come from, so that those of one network do not take all that a peer has for strangers.

Who has one address usually has its neighbours too, so they are counted together: IPv4 by 256, IPv6 by 64 bits. Of use
only for addresses that have been proven. Time is an argument.
"""

from __future__ import annotations

import ipaddress

from strobe.swarm.net.flow import TokenBucket

_MAX_KEPT = 1024


class Neighbourhoods:
    """A bucket for each neighbourhood that was heard from lately."""

    def __init__(self, rate: float, burst: float) -> None:
        self._rate = rate
        self._burst = max(1.0, burst)
        #: those heard from last are last
        self._buckets: dict[bytes, TokenBucket] = {}

    def take(self, host: str, now: float) -> bool:
        """Take a token of the neighbourhood of a host, if there is one."""
        key = _neighbourhood(host)
        bucket = self._buckets.pop(key, None) or TokenBucket(self._rate, self._burst, now)
        self._buckets[key] = bucket
        if len(self._buckets) > _MAX_KEPT:
            del self._buckets[next(iter(self._buckets))]
        return bucket.take(now)


def _neighbourhood(host: str) -> bytes:
    try:
        packed = ipaddress.ip_address(host).packed
    except ValueError:  # what comes through ourselves as a relay comes from the host that we announce, perhaps a name
        return host.encode()
    return packed[:3] if len(packed) == 4 else packed[:8]
