"""What can be chosen about a peer of the DHT, with hivemind's defaults where it has the same choice."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from strobe.errors import UsageError

#: without any of these a peer would hold nothing, know nobody or never ask
_POSITIVE: Final = (
    "num_replicas",
    "bucket_size",
    "depth_step",
    "max_per_network",
    "beam_size",
    "join_width",
    "window",
    "timeout_s",
    "min_bytes_per_s",
    "max_share",
    "max_lifetime_s",
    "silence_s",
)


@dataclass(frozen=True, kw_only=True)
class Options:
    """Times in seconds. Peers of one swarm should agree on `num_replicas` and `max_lifetime_s`.

    All else is each peer's own affair.
    """

    #: how many peers hold each record: those nearest to its key
    num_replicas: int = 5
    #: how many contacts a bucket of the routing table holds, and by how many bits buckets far away are told apart
    bucket_size: int = 20
    depth_step: int = 5
    #: contacts of one network (/24, or /48 of IPv6) in a bucket; addresses that are not public are not counted
    max_per_network: int = 5
    #: how many of the nearest peers are asked before a key is said to be absent, or its newest value known
    beam_size: int = 10
    #: how many of its nearest a newcomer gets to know at once, and gets records from; it meets the others by and by
    join_width: int = 8
    #: calls outstanding at a time, per operation
    window: int = 64
    timeout_s: float = 3.0
    #: after this, the next nearest is asked as well
    overdue_s: float = 1.0
    #: what is larger than a second's worth of this gets more time than that: as long as it takes at this rate
    min_bytes_per_s: int = 64 << 10
    #: answer requests of nobody and appear in nobody's table
    client_mode: bool = False

    max_storage_bytes: int = 1 << 30
    max_cache_bytes: int = 64 << 20
    #: the part of each that one peer, or all peers of one public network (as above), may take with what they store here
    max_share: float = 0.25
    #: of a key with all its subkeys, each of which counts 200 bytes more, that is held or read here: one value of 1 MiB
    #: always fits. The same for all peers of a swarm: one whose answers are longer than that counts as broken
    max_record_bytes: int = (1 << 20) + (8 << 10)
    #: how far ahead an expiration may be, of what is stored and of what is believed
    max_lifetime_s: float = 30 * 86400.0

    #: keep what was read; push it to so many of the nearest that lacked it; keep what was stored
    cache_locally: bool = True
    cache_nearest: int = 1
    cache_on_store: bool = True
    cache_refresh_before_expiry_s: float = 5.0

    #: a peer that does not answer is left out for `silence_s`, then `backoff_rate` times longer each time
    silence_s: float = 5.0
    backoff_rate: float = 2.0

    #: how often: neighbours are looked for, newcomers get their records, records are stored anew; 0 is never
    refresh_s: float = 300.0
    hand_over_s: float = 2.0
    republish_s: float = 150.0

    max_clock_skew_s: float = 3.0

    def __post_init__(self) -> None:
        for name in _POSITIVE:
            if not getattr(self, name) > 0:
                raise UsageError(f"{name} is {getattr(self, name)}; it must be more than 0")
