"""Where things are: keys and peers are points of one space of 160 bits, and distance is XOR.

A key's place is the SHA-1 of its packed form (bytes are hashed as they are), a peer's is its peer id. Places travel as
20 bytes and are compared as integers. Nothing here is secret: SHA-1 only spreads keys.
"""

from __future__ import annotations

import hashlib
from typing import Any, Final

from strobe.swarm.dht.value import pack

BITS: Final = 160
SIZE: Final = 20


def place_of(key: Any) -> bytes:
    """Return the 20 bytes that `key` is stored under."""
    return hashlib.sha1(key if isinstance(key, bytes) else pack(key), usedforsecurity=False).digest()


def number(place: bytes) -> int:
    """Return a place as the integer that distances are computed with."""
    return int.from_bytes(place, "big")


def common_prefix(one: int, other: int) -> int:
    """Return how many leading bits two places share."""
    return BITS - (one ^ other).bit_length()
