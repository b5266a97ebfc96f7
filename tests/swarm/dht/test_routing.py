"""The routing table: nearest against brute force, and what it lets in."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from strobe.swarm.dht.id import BITS, SIZE, common_prefix
from strobe.swarm.dht.routing import Admission, RoutingTable, network_of
from strobe.swarm.net.network import Contact, PeerId


def _contact(peer: int, host: str = "10.0.0.1") -> Contact:
    return Contact(PeerId(peer.to_bytes(SIZE, "big")), host, 4000)


def _full(seed: int = 0, count: int = 2000) -> tuple[RoutingTable, list[int]]:
    rng = random.Random(seed)
    table = RoutingTable(rng.getrandbits(BITS))
    for _ in range(count):
        table.add(_contact(rng.getrandbits(BITS)), now=0)
    return table, [int.from_bytes(contact.id, "big") for contact in table.all()]


@given(st.integers(0, 2**BITS - 1), st.integers(1, 40), st.integers(0, 300))
def test_nearest_is_what_sorting_all_would_give(target: int, count: int, num_skipped: int) -> None:
    table, known = _full()
    skip = set(sorted(known, key=target.__xor__)[:num_skipped])
    expected = sorted((peer for peer in known if peer not in skip), key=target.__xor__)[:count]
    assert table.nearest(target, count, skip) == expected


def test_few_far_away_and_all_nearby() -> None:
    rng = random.Random(1)
    table, known = _full(1)
    own = table.own_id
    everyone = [random.Random(1).getrandbits(BITS)]  # the first number drawn was our own id
    assert everyone == [own]
    rng.getrandbits(BITS)
    everyone = [rng.getrandbits(BITS) for _ in range(2000)]
    assert 600 < len(known) < 1000
    assert sorted(known, key=own.__xor__)[:20] == sorted(everyone, key=own.__xor__)[:20]
    for prefix in range(32):  # buckets of the far half are 5 bits deep
        in_bucket = [peer for peer in known if peer >> (BITS - 5) == prefix and common_prefix(peer, own) < 5]
        assert len(in_bucket) <= 20


def test_a_newcomer_waits_until_somebody_of_its_bucket_leaves() -> None:
    table = RoutingTable(0, bucket_size=2)
    far = [(1 << 159) + number for number in range(4)]
    assert [table.add(_contact(peer), now=0) for peer in far] == [
        Admission.ADDED,
        Admission.ADDED,
        Admission.WAITING,
        Admission.WAITING,
    ]
    assert table.add(_contact(far[0]), now=1) is Admission.KNOWN
    assert table.remove(far[0], now=2) == _contact(far[3])
    assert far[3] in table
    assert far[0] not in table
    assert table.remove(12345, now=3) is None
    assert table.add(_contact(0), now=3) is Admission.REFUSED, "ourselves"


def test_one_network_cannot_fill_a_bucket() -> None:
    table = RoutingTable(0)
    rng = random.Random(3)
    crowd = [_contact((1 << 159) + rng.getrandbits(154), f"8.8.8.{n}") for n in range(100)]
    admitted = [contact for contact in crowd if table.add(contact, now=0) is Admission.ADDED]
    assert len(admitted) == 5
    assert table.add(_contact((1 << 159) + 7, "9.9.9.9"), now=0) is Admission.ADDED
    assert network_of("192.168.1.1") is None, "machines of one cluster may know each other"
    assert network_of("2001:4860:4860::8888") == network_of("2001:4860:4860::1")


def test_memory_is_bounded_whatever_is_added() -> None:
    rng = random.Random(5)
    table = RoutingTable(0)
    for _ in range(30_000):
        table.add(_contact(rng.getrandbits(BITS)), now=0)
    assert len(table) < 1500
    assert sum(len(waiting) for waiting in table._waiting.values()) <= 8 * 1024


def test_the_longest_silent_are_told() -> None:
    table = RoutingTable(0)
    for number in range(1, 6):
        table.add(_contact(1 << number), now=number)
    assert [contact.id[-1] for contact in table.stalest(before=4, count=2)] == [2, 4]
