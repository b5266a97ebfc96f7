"""Where peers look for a group: keys of the DHT that differ in some bits, so that groups mix from round to round.

A peer has a long string of bits and looks under its last few: so many that one or two groups' worth of peers share a
key. After a round each member appends its place in the group, so that those who just averaged spread evenly over all
keys and meet others: when all are in step, g^r peers in groups of g have the mean of all after r rounds. Keys with
fewer bits lie on the way of peers with more: who finds too few under its own goes up, to the key without bits at last,
where everybody comes by.
"""

from __future__ import annotations

import random
from typing import Final

MAX_BITS: Final = 32


def group_key(prefix: str, bits: str) -> str:
    return f"{prefix}.0b{bits}"


def census_key(prefix: str) -> str:
    """Return the key under which all who look for groups are counted."""
    return f"{prefix}.peers"


def random_bits(rng: random.Random, last: str = "") -> str:
    """Return bits that end with those given."""
    return format(rng.getrandbits(MAX_BITS), f"0{MAX_BITS}b")[len(last) :] + last


def mixed_bits(bits: str, place: int, group_size: int) -> str:
    """Return the bits of a member after a round."""
    width = (group_size - 1).bit_length()
    return (bits + format(place, f"0{width}b"))[-MAX_BITS:] if width else bits


def num_bits(num_peers: int, target_group_size: int | None) -> int:
    """Return how many bits tell keys apart in a swarm of this size."""
    if target_group_size is None:
        return 0
    num_keys = num_peers // target_group_size
    return min(max(num_keys, 1).bit_length() - 1, MAX_BITS)


def path_of(prefix: str, bits: str, depth: int) -> list[str]:
    """Return the keys from a peer's own up to the one that all share."""
    return [group_key(prefix, bits[MAX_BITS - count :]) for count in range(depth, -1, -1)]
