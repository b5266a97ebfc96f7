"""The walk without I/O: in which order peers are asked, and when it ends."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strobe.swarm.dht.lookup import Lookup
from strobe.swarm.net.network import Contact, PeerId


def _walk(
    lookup: Lookup, knows: dict[int, list[int]], dead: frozenset[int] = frozenset()
) -> list[tuple[int, list[int]]]:
    """Ask until nothing is due; each peer names all that it knows."""
    asked = []
    while (due := lookup.take(64)) is not None:
        peer, indexes = due
        asked.append((peer, indexes))
        if peer in dead:
            lookup.failed(peer, indexes)
            continue
        for index in indexes:
            lookup.learn(index, knows[peer])
        lookup.answered(peer, indexes)
    return asked


def test_one_at_a_time_until_somebody_near_has_answered() -> None:
    lookup = Lookup([0], width=2)
    lookup.learn(0, [100, 101])
    assert lookup.take(9) == (100, [0])
    assert lookup.take(9) is None
    lookup.learn(0, [10, 11])
    lookup.answered(100, [0])
    assert lookup.take(9) == (10, [0]), "100 is not near any more: its answer says little about who is"
    assert lookup.take(9) is None
    lookup.learn(0, [1])
    lookup.answered(10, [0])
    assert lookup.take(9) == (1, [0])
    lookup.answered(1, [0])
    assert lookup.take(9) is None
    assert lookup.is_settled(0)
    assert lookup.nearest(0) == [1, 10]


def test_it_narrows_again_when_all_that_answered_turn_out_to_be_far() -> None:
    lookup = Lookup([0], width=2)
    lookup.learn(0, [100, 101])
    assert lookup.take(9) == (100, [0])
    lookup.answered(100, [0])
    assert lookup.take(9) == (101, [0]), "100 is one of the two nearest: both are asked"
    lookup.learn(0, [1, 2, 3])
    lookup.answered(101, [0])
    assert lookup.take(9) == (1, [0])
    assert lookup.take(9) is None
    lookup.answered(1, [0])
    assert lookup.take(9) == (2, [0]), "and wide again"
    lookup.answered(2, [0])
    assert lookup.is_settled(0)


def test_it_goes_on_when_the_one_it_waited_for_has_nothing_to_add() -> None:
    lookup = Lookup([0], width=2)
    lookup.learn(0, [100, 101])
    assert lookup.take(9) == (100, [0])
    lookup.answered(100, [0])
    assert lookup.take(9) == (101, [0])
    lookup.learn(0, [50])  # somebody else's answer names one while 101 is still waited for …
    assert lookup.take(9) == (50, [0])
    lookup.learn(0, [1, 2])  # … and then two that are nearer than all who have answered
    lookup.answered(101, [0])
    assert lookup.take(9) == (1, [0])
    lookup.learn(0, [0])
    assert lookup.take(9) is None
    lookup.answered(1, [0])
    assert lookup.take(9) == (0, [0])
    lookup.answered(0, [0])
    assert lookup.take(9) is None
    assert lookup.is_settled(0)


def test_many_keys_for_one_peer_go_in_one_message_of_limited_size() -> None:
    lookup = Lookup([0] * 10, width=1)
    for index in range(10):
        lookup.learn(index, [5])
    assert lookup.take(4) == (5, [0, 1, 2, 3])
    assert lookup.take(100) == (5, [4, 5, 6, 7, 8, 9])
    assert lookup.take(4) is None


def test_the_next_nearest_stand_in_for_the_dead() -> None:
    lookup = Lookup([0], width=2)
    lookup.learn(0, [1, 2, 3, 4])
    asked = _walk(lookup, {peer: [] for peer in range(1, 5)}, frozenset({1, 3}))
    assert [peer for peer, _ in asked] == [1, 2, 3, 4] or [peer for peer, _ in asked] == [1, 2, 4, 3]
    assert lookup.nearest(0) == [2, 4]
    assert lookup.is_settled(0)


def test_those_who_name_ever_nearer_peers_do_not_keep_us_for_ever() -> None:
    lookup = Lookup([0], width=2)
    lookup.learn(0, [1 << 159])
    num_asked = 0
    while (due := lookup.take(9)) is not None:
        num_asked += 1
        lookup.learn(0, [due[0] - 1, due[0] - 2])
        lookup.answered(due[0], [0])
    assert num_asked <= 210


@pytest.mark.parametrize(("host", "most"), [("10.0.0.9", 16), ("8.8.8.8", 16), ("127.0.0.1", 200), ("::1", 200)])
def test_peers_invented_at_one_host_are_not_all_asked(host: str, most: int) -> None:
    lookup = Lookup([0], width=50)
    lookup.contacts = {peer: Contact(PeerId(peer.to_bytes(20, "big")), host, 1 + peer) for peer in range(1, 1000)}
    lookup.contacts[1] = Contact(PeerId(bytes(20)), "10.0.0.1", 1)
    lookup.learn(0, [1])
    assert lookup.take(9) == (1, [0])
    lookup.learn(0, range(2, 1000))
    lookup.answered(1, [0])
    num_asked = 0
    while (due := lookup.take(9)) is not None:
        num_asked += 1
        lookup.failed(*due)
    assert most - 1 <= num_asked <= most + 5
    lookup.answered(2, [0])  # one that was overdue is there after all: so may be others
    assert (lookup.take(9) is not None) == (most == 16)


def test_a_host_where_peers_answer_may_have_many() -> None:
    lookup = Lookup([0], width=500)
    lookup.contacts = {peer: Contact(PeerId(peer.to_bytes(20, "big")), "10.0.0.9", 1 + peer) for peer in range(1, 150)}
    lookup.learn(0, range(1, 150))
    asked: list[int] = []
    while (due := lookup.take(9)) is not None:
        asked.append(due[0])
        lookup.answered(*due) if due[0] % 3 else lookup.failed(*due)
    assert sorted(asked) == list(range(1, 150))


def _contact(peer: int, host: str) -> Contact:
    return Contact(PeerId(peer.to_bytes(20, "big")), host, 4000)


def test_a_peer_that_does_not_answer_is_asked_wherever_others_say_it_is() -> None:
    lookup = Lookup([0], width=1)
    lookup.contacts = {1: _contact(1, "10.0.0.1")}
    lookup.learn(0, [1])
    assert lookup.take(9) == (1, [0])
    lookup.learn_address(1, _contact(1, "10.0.0.2"), PeerId(b"a" * 20))
    assert lookup.take(9) is None, "while it may still answer where it was asked first"
    lookup.failed(1, [0])
    assert lookup.take(9) == (1, [0])
    assert lookup.contacts[1] == _contact(1, "10.0.0.2")
    lookup.failed(1, [0])
    assert lookup.take(9) is None
    lookup.learn_address(1, _contact(1, "10.0.0.1"), PeerId(b"b" * 20))
    assert lookup.take(9) is None, "there it was asked"
    lookup.learn_address(1, _contact(1, "10.0.0.3"), PeerId(b"a" * 20))
    assert lookup.take(9) is None, "who was wrong once has had its turn"
    lookup.learn_address(1, _contact(1, "10.0.0.3"), PeerId(b"c" * 20))
    assert lookup.take(9) == (1, [0])
    lookup.answered(1, [0])
    assert lookup.is_settled(0)
    lookup.failed(1, [0])
    assert lookup.is_settled(0), "it has answered, though not everywhere"


def test_a_late_answer_lets_the_peer_be_asked_what_was_due_for_it_meanwhile() -> None:
    lookup = Lookup([0, 0], width=1)
    lookup.learn(0, [1])
    lookup.learn(1, [1, 2])
    assert lookup.take(1) == (1, [0]), "and 1 is due for it, in the next message"
    lookup.failed(1, [0])
    assert lookup.take(9) == (2, [1])
    lookup.answered(2, [1])
    lookup.answered(1, [0])
    assert not lookup.is_settled(1), "1 is nearer than 2"
    assert lookup.take(9) == (1, [1])
    lookup.answered(1, [1])
    assert lookup.is_settled(1)
    assert lookup.take(9) is None


def test_those_who_invent_addresses_of_a_peer_do_not_keep_us_for_ever() -> None:
    lookup = Lookup([0], width=1)
    lookup.contacts = {1: _contact(1, "10.0.0.1")}
    lookup.learn(0, [1])
    num_asked = 0
    while (due := lookup.take(9)) is not None:
        num_asked += 1
        lookup.learn_address(1, _contact(1, f"10.0.1.{num_asked}"), PeerId(bytes([num_asked]) * 20))
        lookup.failed(*due)
    assert num_asked == 5


def test_a_finished_key_asks_nobody_else() -> None:
    lookup = Lookup([0, 0], width=2)
    for index in (0, 1):
        lookup.learn(index, [1, 2])
    assert lookup.take(9) == (1, [0, 1])
    lookup.finish(0)
    lookup.answered(1, [0, 1])
    assert lookup.take(9) == (2, [1])
    assert lookup.is_settled(0)
    assert not lookup.is_settled(1)


def _table(own: int, peers: list[int]) -> list[int]:
    """Return whom a peer knows: its neighbours, and two at each distance."""
    buckets: dict[int, list[int]] = {}
    for peer in peers:
        buckets.setdefault((peer ^ own).bit_length(), []).append(peer)
    return sorted(peers, key=own.__xor__)[:10] + [peer for bucket in buckets.values() for peer in bucket[:2]]


@given(st.integers(0, 2**32), st.integers(1, 8), st.integers(1, 3))
def test_it_finds_the_true_nearest_where_everybody_knows_their_neighbours(seed: int, width: int, patience: int) -> None:
    rng = random.Random(seed)
    peers = rng.sample(range(1 << 20), 60)
    knows = {peer: _table(peer, peers) for peer in peers}
    targets = [rng.randrange(1 << 20) for _ in range(3)]
    lookup = Lookup(targets, width=width, patience=patience)
    for index in range(3):
        lookup.learn(index, rng.sample(peers, 4))
    asked, outstanding = [], []
    while True:  # many are asked at a time, and answer in any order
        while (due := lookup.take(64)) is not None:
            outstanding.append(due)
        if not outstanding:
            break
        peer, indexes = outstanding.pop(rng.randrange(len(outstanding)))
        asked.append((peer, indexes))
        for index in indexes:
            lookup.learn(index, sorted(knows[peer], key=targets[index].__xor__)[:width])
        lookup.answered(peer, indexes)
    for index, target in enumerate(targets):
        assert lookup.is_settled(index)
        assert lookup.nearest(index)[0] == min(peers, key=target.__xor__)
    pairs = [(peer, index) for peer, indexes in asked for index in indexes]
    assert len(pairs) == len(set(pairs)), "nobody is asked twice about a key"
