"""Who is silent, who was lost, who is new; and what follows for records."""

from __future__ import annotations

from strobe.swarm.dht.duty import hand_overs, republication
from strobe.swarm.dht.id import SIZE, number
from strobe.swarm.dht.peers import Newcomer, Peers
from strobe.swarm.dht.routing import RoutingTable
from strobe.swarm.dht.storage import Storage
from strobe.swarm.net.network import Contact, PeerId


def _contact(peer: int) -> Contact:
    return Contact(PeerId(peer.to_bytes(SIZE, "big")), "10.0.0.1", 4000)


def _peers(*known: int, own: int = 0) -> Peers:
    peers = Peers(RoutingTable(own))
    for peer in known:
        peers.heard(_contact(peer), now=0)
    return peers


def test_silence_doubles_and_one_answer_ends_it() -> None:
    peers = _peers(1, 2)
    peers.failed(_contact(1), now=0)
    assert peers.nearest(0, 5, now=4) == [2]
    assert peers.nearest(0, 5, now=5) == [1, 2]
    peers.failed(_contact(1), now=10)
    assert peers.is_silent(1, now=19)
    assert not peers.is_silent(1, now=20)
    assert 1 not in peers.table, "twice in a row: it leaves the table"
    assert peers.lost(now=20, count=5) == [_contact(1)]
    peers.failed(_contact(1), now=20)
    assert peers.lost(now=30, count=5) == []
    peers.heard(_contact(1), now=31)
    assert not peers.is_silent(1, now=31)
    assert 1 in peers.table
    assert peers.lost(now=100, count=5) == []
    peers.failed(_contact(1), now=40)
    assert not peers.is_silent(1, now=45), "it counts from the beginning again"


def test_whom_we_know_we_have_not_lost() -> None:
    peers = _peers(1)
    peers.remember([_contact(1), _contact(2)])
    assert peers.lost(now=0, count=5) == [_contact(2)]
    peers.heard(_contact(2), now=1)
    assert peers.lost(now=1, count=5) == []


def test_silence_at_an_address_that_was_only_said_counts_against_the_address() -> None:
    peers = _peers(1, 2)
    false = _contact(1)._replace(host="10.6.6.6")
    for now in range(3):
        peers.failed(false, now=now)
    assert peers.nearest(0, 5, now=3) == [1, 2]
    assert peers.lost(now=100, count=5) == []
    assert peers.is_silent_at(false, now=20)
    assert not peers.is_silent_at(false, now=22), "5 s, then 10, then 20"
    assert not peers.is_silent_at(_contact(1), now=3)
    peers.failed(_contact(1), now=30)
    assert peers.is_silent_at(_contact(1), now=30)
    assert peers.is_silent(1, now=30)
    assert not peers.is_silent_at(false, now=30), "it may have moved there"
    peers.heard(false, now=31)
    assert peers.nearest(0, 5, now=31) == [1, 2]
    assert not peers.is_silent_at(false, now=31)


def test_memory_of_failures_is_bounded() -> None:
    peers = _peers()
    for peer in range(1, 5000):
        peers.failed(_contact(peer), now=peer)
        peers.remember([_contact(peer)])
    assert len(peers.lost(now=1e9, count=10_000)) <= 1024
    assert len(peers._failures) <= 1024


def test_newcomers_are_those_who_said_since_when_they_serve() -> None:
    peers = _peers(1)
    calls: list[int] = []
    peers.on_newcomers = lambda: calls.append(1)
    peers.heard(_contact(2), now=1, since=0.5)
    peers.heard(_contact(1), now=1, since=0.7)
    peers.heard(_contact(1), now=2, since=0.7)
    assert peers.take_newcomers() == {2: Newcomer(_contact(2), 0.5), 1: Newcomer(_contact(1), 0.7)}
    assert peers.take_newcomers() == {}
    assert calls == [1]


def test_responsible_are_the_nearest_with_ourselves() -> None:
    peers = _peers(1, 2, 4, 8, own=3)
    assert peers.responsible(0, 3, now=0) == [1, 2, 3]
    assert peers.responsible(8, 2, now=0) == [8, 1 ^ 0] or peers.responsible(8, 2, now=0)[0] == 8
    assert peers.responsible(3, 1, now=0) == [3]
    assert _peers(own=7).responsible(0, 5, now=0) == [7]


def _place(target: int) -> bytes:
    return target.to_bytes(SIZE, "big")


def test_the_nearest_hands_over_what_is_older_than_the_newcomer() -> None:
    peers = _peers(16, 32, own=1)
    storage = Storage()
    for target in (0, 17, 48):  # we are nearest to 0; 16 is nearest to 17, 32 to 48
        storage.put(_place(target), b"v", 1000, now=0)
    peers.heard(_contact(2), now=100, since=99)
    newcomers = peers.take_newcomers()
    touched = {_place(0): 50.0, _place(17): 50.0, _place(48): 50.0}
    due = hand_overs(storage.items(100), peers, newcomers, touched, num_replicas=3, now=100)
    assert {peer: list(records) for peer, records in due.items()} == {2: [_place(0)]}
    touched[_place(0)] = 110.0
    assert hand_overs(storage.items(100), peers, newcomers, touched, num_replicas=3, now=100) == {}


def test_what_others_stored_anew_is_left_alone_and_strays_are_told() -> None:
    own = number(b"\xff" * SIZE)
    peers = _peers(*range(1, 12), own=own)
    storage = Storage()
    near, far, fresh, short = _place(own), _place(1), _place(own ^ 1), _place(own ^ 2)
    for key, expires in ((near, 1000), (far, 1000), (fresh, 1000), (short, 110)):
        storage.put(key, b"v", expires, now=0)
    due = republication(
        storage.items(100), peers, {near: 10.0, far: 10.0, fresh: 90.0}, num_replicas=5, now=100, since=50, until=120
    )
    assert set(due.records) == {near, far}
    assert due.strays == {far}
