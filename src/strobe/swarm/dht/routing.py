"""The routing table: whom a peer knows, few far away and many nearby.

Kademlia's buckets, without bucket objects: ids are in one sorted list, and a bucket is a range of it. The usual rule
(split a full bucket if it contains our own id or its depth is no multiple of `depth_step`) decides the same as asking,
for a newcomer, whether the smallest range that may ever contain it has room. That makes "who is nearest" a binary
search and one small sort, which is what a swarm spends its time on.

Against poisoning: only peers that spoke to us, or answered, from where their handshake proved them to be are put in
(the caller sees to that; whether strangers reach them too is found out by calling them), an old peer that lives is
never pushed out by a new one, and of one bucket only a part may be in the same network (see `network_of`).
"""

from __future__ import annotations

import ipaddress
from bisect import bisect_left, insort
from collections import Counter, OrderedDict
from collections.abc import Container
from enum import Enum
from functools import lru_cache
from typing import Final

from strobe.swarm.dht.id import BITS, common_prefix, number
from strobe.swarm.net.network import Contact

NOBODY: Final = frozenset[int]()
_MAX_WAITING: Final = 8  # per bucket: enough to fill in for those who leave
_MAX_BUCKETS_WAITING: Final = 1024


class Admission(Enum):
    """What became of a contact that was to be added."""

    ADDED = "added"
    KNOWN = "known"
    WAITING = "waiting"  # its bucket is full; it fills in when somebody leaves
    REFUSED = "refused"  # ourselves, or too many of its network are there


class RoutingTable:
    """Contacts by id, with the limits of Kademlia's buckets."""

    def __init__(self, own_id: int, *, bucket_size: int = 20, depth_step: int = 5, max_per_network: int = 5) -> None:
        self.own_id = own_id
        self.bucket_size = bucket_size
        self._depth_step = depth_step
        self._max_per_network = max_per_network
        self._ids: list[int] = []
        self._contacts: dict[int, Contact] = {}
        self._seen: dict[int, float] = {}
        self._waiting: OrderedDict[tuple[int, int], OrderedDict[int, Contact]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._ids)

    def __contains__(self, peer: int) -> bool:
        return peer in self._contacts

    def __getitem__(self, peer: int) -> Contact:
        return self._contacts[peer]

    def get(self, peer: int) -> Contact | None:
        """Return the contact of a peer of the table."""
        return self._contacts.get(peer)

    def add(self, contact: Contact, now: float) -> Admission:
        """Note that this peer was heard of just now, and keep it if there is room."""
        peer = number(contact.id)
        if self.refresh(peer, contact, now):
            return Admission.KNOWN
        if peer == self.own_id:
            return Admission.REFUSED
        first, last = self._range(self._bucket(peer))
        if last - first >= self.bucket_size:
            self._wait(peer, contact)
            return Admission.WAITING
        if not self._is_diverse(contact, self._ids[first:last]):
            return Admission.REFUSED
        insort(self._ids, peer)
        self._contacts[peer] = contact
        self._seen[peer] = now
        return Admission.ADDED

    def refresh(self, peer: int, contact: Contact, now: float) -> bool:
        """Note that a peer was heard of, if it is in the table; return whether it is."""
        if peer not in self._contacts:
            return False
        self._contacts[peer] = contact
        self._seen[peer] = now
        return True

    def remove(self, peer: int, now: float) -> Contact | None:
        """Forget a peer that does not answer; return who of those waiting took its place."""
        if self._contacts.pop(peer, None) is None:
            return None
        del self._seen[peer]
        del self._ids[bisect_left(self._ids, peer)]
        bucket = self._bucket(peer)
        waiting = self._waiting.get(bucket)
        while waiting:
            _, contact = waiting.popitem()  # the one heard of last is the likeliest to live
            if self.add(contact, now) is Admission.ADDED:
                return contact
        self._waiting.pop(bucket, None)
        return None

    def nearest(self, target: int, count: int, skip: Container[object] = NOBODY) -> list[int]:
        """Return up to `count` ids, nearest first, leaving out those in `skip`."""
        ids = self._ids
        wanted = count
        xor = target.__xor__
        while True:
            # All ids that share a prefix with the target are nearer than all that do not: find one with enough of them.
            depth = max((len(ids) // (wanted + 1)).bit_length() - 1, 0)
            while True:
                shift = BITS - depth
                low = target >> shift << shift
                first = bisect_left(ids, low)
                last = bisect_left(ids, low + (1 << shift), first)
                if last - first >= wanted or depth == 0:
                    break
                depth -= 1
            found = ids[first:last]
            found.sort(key=xor)
            if skip is not NOBODY:
                found = [peer for peer in found if peer not in skip]
            if len(found) >= count or depth == 0:
                del found[count:]
                return found
            wanted = 2 * wanted + count - len(found)

    def contacts(self, peers: list[int]) -> list[Contact]:
        """Return the contacts of ids that `nearest` gave."""
        return [self._contacts[peer] for peer in peers]

    def all(self) -> list[Contact]:
        """Return every contact."""
        return list(self._contacts.values())

    def stalest(self, before: float, count: int) -> list[Contact]:
        """Return those not heard of since `before`, longest silent first."""
        silent = sorted((seen, peer) for peer, seen in self._seen.items() if seen < before)
        return [self._contacts[peer] for _, peer in silent[:count]]

    def seen(self, peer: int) -> float:
        """Return when a peer of the table was last heard of."""
        return self._seen[peer]

    def _bucket(self, peer: int) -> tuple[int, int]:
        """Return (depth, prefix) of the smallest range that may hold `peer`."""
        apart = common_prefix(self.own_id, peer) + 1
        depth = min(-(-apart // self._depth_step) * self._depth_step, BITS)
        return depth, peer >> (BITS - depth)

    def _range(self, bucket: tuple[int, int]) -> tuple[int, int]:
        depth, prefix = bucket
        low = prefix << (BITS - depth)
        first = bisect_left(self._ids, low)
        return first, bisect_left(self._ids, low + (1 << (BITS - depth)), first)

    def _wait(self, peer: int, contact: Contact) -> None:
        bucket = self._bucket(peer)
        waiting = self._waiting.setdefault(bucket, OrderedDict())
        waiting[peer] = contact
        waiting.move_to_end(peer)
        while len(waiting) > _MAX_WAITING:
            waiting.popitem(last=False)
        while len(self._waiting) > _MAX_BUCKETS_WAITING:
            self._waiting.popitem(last=False)

    def _is_diverse(self, contact: Contact, others: list[int]) -> bool:
        network = network_of(contact.host)
        if network is None:
            return True
        there = Counter(network_of(self._contacts[peer].host) for peer in others)
        return there[network] < self._max_per_network


@lru_cache(maxsize=65536)
def network_of(host: str) -> str | None:
    """Return the /24 (IPv4) or /48 (IPv6) that `host` is in; None where peers may crowd: local addresses and names."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return None
    if not address.is_global:
        return None
    return str(ipaddress.ip_network((address, 24 if address.version == 4 else 48), strict=False))
