"""Peers that nobody can dial, reached through a relay over real sockets."""

from __future__ import annotations

import asyncio
import os
import time

import pytest

from strobe.swarm.net import (
    PLAIN,
    Address,
    Caller,
    Identity,
    Limits,
    Payload,
    PeerId,
    PeerNetwork,
    PeerUnreachable,
    RelayLimits,
    ReplyTooLarge,
)
from strobe.swarm.net.cipher import AES_GCM, Suite
from strobe.swarm.net.identity import peer_text
from strobe.swarm.net.ports import DatagramPort
from strobe.swarm.net.relay import path as relay_path
from tests.swarm.net.peers import bad_path, peers, run, serve_echo
from tests.swarm.net.relay.relays import QUICK, NatPort, relay, sheltered

MB = 1 << 20


@pytest.mark.parametrize("suite", [AES_GCM, PLAIN])
def test_calls_of_any_size_get_through_and_back(suite: Suite) -> None:
    async def work() -> None:
        async with (
            peers(1, suite=suite) as (ann,),
            relay(suite=suite) as middle,
            sheltered(middle.address, suite=suite) as bob,
        ):
            callers: list[Caller] = []

            def note(caller: Caller, payload: Payload) -> Payload:
                callers.append(caller)
                return payload

            bob.serve("note", note)
            assert bob.address.relay == middle.address.id
            contact = Address.parse(str(bob.address)).contact
            for size in (0, 10, 1100, 5_000, 30_000, 100_000, 5 * MB + 3):
                payload = os.urandom(size)
                assert bytes(await ann.call(contact, "note", payload, timeout_s=20)) == payload
            assert {caller.id for caller in callers} == {ann.identity.peer_id}
            # and back, to where it was heard: small by the circuit that there is, large by a connection of its own
            for stream in list(bob.streams.live):
                stream.cancel()
            for size in (10, MB):
                answer = await bob.call(callers[0].contact, "echo", bytes(size), timeout_s=20)
                assert bytes(answer) == bytes(size)
            assert middle.relaying.relay is not None
            assert middle.relaying.relay.num_circuits == 1

    run(work())


def test_a_reply_over_what_the_call_takes_is_refused_through_a_relay_too() -> None:
    async def work() -> None:
        async with peers(1) as (ann,), relay() as middle, sheltered(middle.address) as bob:
            for size in (101, 5_000, 5 * MB):
                with pytest.raises(ReplyTooLarge, match=f"{size} bytes; at most 100 are taken"):
                    await ann.call(bob.address.contact, "echo", bytes(size), timeout_s=20, max_reply=100)
            assert len(await ann.call(bob.address.contact, "echo", bytes(100), timeout_s=20, max_reply=100)) == 100

    run(work())


def test_many_calls_at_once_of_several_callers() -> None:
    async def work() -> None:
        async with peers(3) as callers, relay() as middle, sheltered(middle.address) as bob:
            payloads = [f"{i:04}".encode() * (1 + i % 7 * 3000) for i in range(90)]
            answers = await asyncio.gather(
                *(
                    callers[i % 3].call(bob.address.contact, "slow_echo", each, timeout_s=30)
                    for i, each in enumerate(payloads)
                )
            )
            assert [bytes(answer) for answer in answers] == payloads

    run(work())


def test_nobody_gets_in_but_through_the_relay() -> None:
    async def work() -> None:
        async with peers(1) as (ann,), relay() as middle, sheltered(middle.address) as bob:
            direct = bob.own_contact
            with pytest.raises(PeerUnreachable):
                await ann.call(direct, "echo", b"x", timeout_s=0.6)
            with pytest.raises(ConnectionRefusedError):
                await asyncio.open_connection(direct.host, direct.port)
            assert await ann.call(bob.address.contact, "echo", b"x", timeout_s=10) == b"x"

    run(work())


def test_a_peer_without_a_relay_answers_nobody_and_calls_everybody() -> None:
    async def work() -> None:
        async with peers(1) as (ann,):
            bob = await PeerNetwork.listen(Identity.generate(), reachable=False)
            try:
                assert bytes(await bob.call(ann.address.contact, "echo", bytes(MB), timeout_s=10)) == bytes(MB)
                stranger = await PeerNetwork.listen(Identity.generate())
                try:
                    with pytest.raises(PeerUnreachable):
                        await stranger.call(bob.address.contact, "echo", b"x", timeout_s=0.6)
                finally:
                    await stranger.close()
            finally:
                await bob.close()

    run(work())


def test_a_relay_reaches_those_it_shelters_itself() -> None:
    async def work() -> None:
        async with relay() as middle, sheltered(middle.address) as bob:
            for size in (10, 20_000, 3 * MB):
                payload = os.urandom(size)
                assert bytes(await middle.call(bob.address.contact, "echo", payload, timeout_s=10)) == payload

    run(work())


def test_two_sheltered_peers_call_each_other_at_once() -> None:
    async def work() -> None:
        async with relay() as middle, sheltered(middle.address) as ann, sheltered(middle.address) as bob:
            sizes = [10, 300_000, 5_000, MB] * 3
            calls = [
                one.call(other.address.contact, "slow_echo", bytes(size), timeout_s=20)
                for size in sizes
                for one, other in ((ann, bob), (bob, ann))
            ]
            answers = await asyncio.gather(*calls)
            assert [len(answer) for answer in answers] == [size for size in sizes for _ in range(2)]

    run(work())


def test_the_relay_has_to_be_the_one_that_is_named() -> None:
    async def work() -> None:
        async with peers(1) as (ann,), relay() as middle, sheltered(middle.address) as bob:
            wrong = bob.address.contact._replace(relay=PeerId(bytes(20)))
            with pytest.raises(PeerUnreachable):
                await ann.call(wrong, "echo", b"x", timeout_s=0.6)

    run(work())


def test_what_the_relay_cannot_reach_is_told_at_once() -> None:
    async def work() -> None:
        async with peers(2) as (ann, other), relay() as middle:
            unknown = PeerId(os.urandom(20))
            contact = middle.address.contact._replace(id=unknown, relay=middle.address.id)
            started = time.monotonic()
            with pytest.raises(PeerUnreachable, match=f"{peer_text(unknown)} is not reached through this relay"):
                await ann.call(contact, "echo", b"x", timeout_s=30)
            no_relay = contact._replace(port=other.address.port, relay=other.address.id)
            with pytest.raises(PeerUnreachable, match="no method"):
                await ann.call(no_relay, "echo", bytes(MB), timeout_s=30)
            itself = contact._replace(relay=ann.address.id, port=ann.address.port)
            with pytest.raises(PeerUnreachable, match="this peer is no relay"):
                await ann.call(itself, "echo", b"x", timeout_s=30)
            assert time.monotonic() - started < 25

    run(work())


def test_a_relay_that_takes_nobody_is_told_at_the_start() -> None:
    async def work() -> None:
        async with peers(1) as (other,):
            with pytest.raises(PeerUnreachable, match=r"none of 1 relays takes this peer.*no method 'relay\.reserve'"):
                async with sheltered(other.address):
                    pass

    run(work())


def test_when_the_relay_dies_the_next_one_takes_over() -> None:
    async def work() -> None:
        async with (
            peers(1) as (ann,),
            relay() as first,
            relay() as second,
            sheltered(first.address, second.address) as bob,
        ):
            before = bob.address
            assert before.relay == first.address.id
            assert bytes(await ann.call(before.contact, "echo", bytes(MB), timeout_s=10)) == bytes(MB)
            await first.close()
            after = await asyncio.wait_for(bob.moved(before), 30)
            assert (after, after.relay) == (bob.address, second.address.id)
            assert bytes(await ann.call(after.contact, "echo", bytes(MB), timeout_s=10)) == bytes(MB)
            with pytest.raises(PeerUnreachable):
                await ann.call(before.contact, "echo", b"x", timeout_s=0.6)

    run(work())


def test_asking_for_a_circuit_again_harms_nothing_that_is_under_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """Slow answers look like a dead circuit: asked for again and again, it goes on, and so do its connections."""

    async def work() -> None:
        monkeypatch.setattr(relay_path, "_SILENCE_S", 0.01)
        limits = RelayLimits(bytes_per_s=8 * MB)
        async with peers(1) as (ann,), relay(limits) as middle, sheltered(middle.address) as bob:
            runs: list[int] = []

            async def slow(caller: Caller, payload: Payload) -> Payload:
                runs.append(len(payload))
                await asyncio.sleep(1.0)
                return payload

            bob.serve("slow", slow)
            sizes = [10, 4 * MB, 20, 5000]
            answers = await asyncio.gather(
                *(ann.call(bob.address.contact, "slow", bytes(size), timeout_s=30) for size in sizes)
            )
            assert [len(answer) for answer in answers] == sizes
            assert sorted(runs) == sorted(sizes)
            [path] = {path for path, _ in ann.relaying.ends._ends.values()}
            assert len(path.ends) > 1
            assert (ann.streams.rejected, bob.streams.rejected) == (0, 0)

    run(work())


def test_a_relay_that_was_restarted_is_used_again() -> None:
    async def work() -> None:
        identity = Identity.generate()
        async with peers(1) as (ann,):
            middle = await PeerNetwork.listen(identity, relay=True)
            async with sheltered(middle.address) as bob:
                contact = bob.address.contact
                assert await ann.call(contact, "count", b"", timeout_s=10) == b"1"
                await middle.close()
                middle = await PeerNetwork.listen(identity, port=contact.port, relay=True)
                try:
                    assert middle.relaying.relay is not None
                    while not middle.relaying.relay.num_reservations:
                        await asyncio.sleep(0.02)
                    assert await ann.call(contact, "count", b"", timeout_s=20) == b"2"
                    assert bytes(await ann.call(contact, "echo", bytes(MB), timeout_s=20)) == bytes(MB)
                finally:
                    await middle.close()

    run(work())


def test_a_sheltered_peer_that_was_restarted_is_reached_again() -> None:
    async def work() -> None:
        identity = Identity.generate()
        async with peers(1) as (ann,), relay() as middle:
            for expected in (b"1", b"1"):
                bob = await PeerNetwork.listen(identity, relays=[middle.address], reachable=False, limits=QUICK)
                serve_echo(bob)
                try:
                    assert await ann.call(bob.address.contact, "count", b"", timeout_s=20) == expected
                    assert len(await ann.call(bob.address.contact, "echo", bytes(MB), timeout_s=20)) == MB
                finally:
                    await bob.close()

    run(work())


def test_a_peer_is_followed_when_its_nat_gives_it_another_port() -> None:
    async def work() -> None:
        async with peers() as (ann, bob), bad_path(bob) as (through, path):
            assert await ann.call(through, "count", b"", timeout_s=10) == b"1"
            seen: list[Caller] = []
            bob.serve("note", lambda caller, payload: seen.append(caller) or b"")  # type: ignore[func-returns-value]
            await ann.call(through, "note", b"", timeout_s=10)
            path._backs.clear()
            await ann.call(through, "note", b"", timeout_s=10)
            assert seen[0].contact.port != seen[1].contact.port
            assert bob.num_sessions == 1
            assert await bob.call(seen[1].contact, "echo", b"back", timeout_s=10) == b"back"

    run(work())


def test_a_sheltered_peer_answers_by_the_way_it_is_asked_after_the_one_before_was_forgotten() -> None:
    async def work() -> None:
        limits = RelayLimits(circuit_idle_s=0.01)
        async with peers(1) as (ann,), relay(limits) as middle, sheltered(middle.address) as bob:
            contact = bob.address.contact
            assert await ann.call(contact, "count", b"", timeout_s=10) == b"1"
            await asyncio.sleep(0.02)
            assert middle.relaying.relay is not None
            middle.relaying.relay.sweep(time.monotonic())
            bob.relaying.ends.sweep(time.monotonic() + 3000)
            assert await ann.call(contact, "count", b"", timeout_s=2) == b"2"
            assert bytes(await ann.call(contact, "echo", bytes(MB), timeout_s=10)) == bytes(MB)
            assert ann.handshakes.completed == 2  # with the relay and with bob, once each

    run(work())


def test_a_relay_shakes_hands_again_with_those_it_shelters() -> None:
    async def work() -> None:
        rarely = Limits(relay_renew_s=60.0)
        async with peers(1) as (ann,), relay() as middle, sheltered(middle.address, limits=rarely) as bob:
            assert middle.relaying.relay is not None
            (reservation,) = middle.relaying.relay._reservations.values()
            middle.forget(reservation.contact)
            assert await ann.call(bob.address.contact, "echo", b"x", timeout_s=2) == b"x"

    run(work())


@pytest.mark.parametrize("is_reachable", [True, False])
def test_a_peer_finds_out_whether_others_reach_it(is_reachable: bool) -> None:
    async def work() -> None:
        port = DatagramPort if is_reachable else NatPort
        async with (
            peers(1) as (ann,),
            relay() as middle,
            sheltered(middle.address, reachable=None, open_port=port) as bob,
        ):
            assert bob.is_reachable == is_reachable
            assert (bob.address.relay is None) == is_reachable
            assert bytes(await ann.call(bob.address.contact, "echo", bytes(MB), timeout_s=10)) == bytes(MB)

    run(work())
