"""What a relay gives, and what it does not: places, bytes, time, and turns."""

from __future__ import annotations

import asyncio
import contextlib
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strobe.swarm.net import Limits, PeerId, PeerNetwork, PeerRefused, PeerUnreachable, RelayLimits
from strobe.swarm.net.relay import protocol as rp
from strobe.swarm.net.relay import relay as relay_module
from strobe.swarm.net.relay.limits import Gate
from strobe.swarm.net.relay.relay import Relay
from tests.swarm.net.peers import peers, run
from tests.swarm.net.relay.relays import QUICK, relay, sheltered

MB = 1 << 20
ANN, BOB = PeerId(b"a" * 20), PeerId(b"b" * 20)


def of(network: PeerNetwork) -> Relay:
    assert network.relaying.relay is not None
    return network.relaying.relay


def test_places_are_limited_and_become_free() -> None:
    async def work() -> None:
        async with relay(RelayLimits(max_reservations=1, reservation_s=3.0)) as middle:
            async with sheltered(middle.address):
                with pytest.raises(PeerUnreachable, match="this relay has its 1 peers; try another one"):
                    async with sheltered(middle.address):
                        pass
                await asyncio.sleep(2)  # renewed meanwhile
                assert of(middle).num_reservations == 1
            while of(middle).num_reservations:
                await asyncio.sleep(0.05)
                of(middle).sweep(time.monotonic())
            async with sheltered(middle.address) as bob:
                assert bob.address.relay == middle.address.id

    run(work())


def test_one_host_does_not_get_all_places() -> None:
    async def work() -> None:
        limits = RelayLimits(max_reservations_per_host=2)
        async with relay(limits) as middle, sheltered(middle.address), sheltered(middle.address):
            with pytest.raises(PeerUnreachable, match=r"has 2 peers of 127\.0\.0\.1"):
                async with sheltered(middle.address):
                    pass

    run(work())


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        (RelayLimits(max_circuits=1), "this relay has its 1 circuits"),
        (RelayLimits(max_circuits_per_peer=1), "has its 1 circuits here"),
    ],
)
def test_circuits_are_limited(limits: RelayLimits, reason: str) -> None:
    async def work() -> None:
        async with peers(2) as (ann, eve), relay(limits) as middle, sheltered(middle.address) as bob:
            for _ in range(3):
                assert await ann.call(bob.address.contact, "echo", b"x", timeout_s=10) == b"x"
            with pytest.raises(PeerUnreachable, match=reason):
                await eve.call(bob.address.contact, "echo", b"x", timeout_s=10)

    run(work())


def test_a_circuit_that_rests_makes_room_and_is_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    async def work() -> None:
        monkeypatch.setattr(relay_module, "_RESTING_S", 0.0)
        async with peers(2) as callers, relay(RelayLimits(max_circuits=1)) as middle, sheltered(middle.address) as bob:
            for number in range(6):
                answer = await callers[number % 2].call(bob.address.contact, "count", b"", timeout_s=20)
                assert answer == str(number + 1).encode()
                assert of(middle).num_circuits == 1
            assert [caller.handshakes.completed for caller in callers] == [2, 2]

    run(work())


def test_a_circuit_carries_so_many_bytes_and_another_takes_over() -> None:
    async def work() -> None:
        limits = RelayLimits(circuit_bytes=3 * MB)
        async with peers(1) as (ann,), relay(limits) as middle, sheltered(middle.address) as bob:
            for _ in range(4):
                assert len(await ann.call(bob.address.contact, "echo", bytes(MB), timeout_s=30)) == MB
            with pytest.raises(PeerUnreachable):
                await ann.call(bob.address.contact, "echo", bytes(4 * MB), timeout_s=30)
            assert await ann.call(bob.address.contact, "echo", b"x", timeout_s=10) == b"x"
            assert of(middle).num_circuits == 1

    run(work())


def test_a_circuit_that_is_too_old_is_replaced_unnoticed() -> None:
    async def work() -> None:
        async with peers(1) as (ann,), relay(RelayLimits(circuit_s=0.01)) as middle, sheltered(middle.address) as bob:
            for expected in (b"1", b"2", b"3"):
                assert await ann.call(bob.address.contact, "count", b"", timeout_s=20) == expected
                await asyncio.sleep(0.02)
                of(middle).sweep(time.monotonic())
                assert of(middle).num_circuits == 0
            assert ann.handshakes.completed == 2  # with the relay and with bob, once each

    run(work())


@pytest.mark.parametrize("limits", [RelayLimits(circuit_bytes_per_s=4 * MB), RelayLimits(bytes_per_s=4 * MB)])
def test_bytes_per_second_are_limited(limits: RelayLimits) -> None:
    async def work() -> None:
        async with peers(1) as (ann,), relay(limits) as middle, sheltered(middle.address) as bob:
            started = time.monotonic()
            assert len(await ann.call(bob.address.contact, "echo", bytes(2 * MB), timeout_s=30)) == 2 * MB
            # both ways, less the burst and the last piece that may overdraw it
            assert time.monotonic() - started >= 0.6
            # what is small still gets through while the rate is used up
            slow = asyncio.create_task(ann.call(bob.address.contact, "echo", bytes(2 * MB), timeout_s=30))
            await asyncio.sleep(0.2)
            assert await ann.call(bob.address.contact, "count", b"", timeout_s=10) == b"1"
            assert len(await slow) == 2 * MB

    run(work())


def test_a_gate_takes_turns_by_peer_not_by_how_many_ask() -> None:
    async def work() -> None:
        gate = Gate(1e6, time.monotonic())
        order: list[PeerId] = []

        async def go(peer: PeerId) -> None:
            await gate.wait(peer, 20_000)
            order.append(peer)

        await gate.wait(ANN, 300_000)  # more than there is: all who come now have to wait
        crowd = [asyncio.create_task(go(ANN)) for _ in range(10)]
        await asyncio.sleep(0)
        await asyncio.gather(*crowd, *(go(BOB) for _ in range(3)))
        assert order[:6] == [ANN, BOB, ANN, BOB, ANN, BOB]

    run(work())


def test_who_stops_waiting_at_a_gate_costs_nothing() -> None:
    async def work() -> None:
        gate = Gate(1e6, time.monotonic())
        await gate.wait(ANN, 300_000)
        given_up = asyncio.create_task(gate.wait(ANN, 1 << 40))
        await asyncio.sleep(0)
        given_up.cancel()
        await asyncio.wait_for(gate.wait(BOB, 10), 10)

    run(work())


def test_datagrams_overdraw_a_gate_only_so_far() -> None:
    gate = Gate(1000.0, 0.0)
    assert sum(gate.take(10, 0.0) for _ in range(100)) == 50  # a burst of 250, and as much on credit
    assert gate.take(10, 1.0)


def test_datagrams_leave_half_of_a_gate_to_connections_that_wait() -> None:
    async def work() -> None:
        gate, passed, is_flooded = Gate(1e6, time.monotonic()), 0, True

        async def flood() -> None:
            while is_flooded:
                while gate.take(1000, time.monotonic()):
                    pass
                await asyncio.sleep(0.001)

        flooding = asyncio.create_task(flood())
        await asyncio.sleep(0.01)
        started = time.monotonic()
        while passed < 200_000 and time.monotonic() < started + 1.5:
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(gate.wait(ANN, 10_000), 1.0)
                passed += 10_000
        is_flooded = False
        await flooding
        assert passed == 200_000  # in 0.4 s, and what the flood had on credit before

    run(work())


def test_what_connections_leave_of_a_gate_is_for_datagrams() -> None:
    gate = Gate(1000.0, 0.0)
    while gate.take(10, 0.0):
        pass
    assert sum(gate.take(10, turn / 100) for turn in range(1, 101)) == 100


@given(st.binary(max_size=60))
def test_garbage_is_refused(payload: bytes) -> None:
    for kind in (rp.Open, rp.Incoming, rp.Link, rp.DialBack, rp.Reserved, rp.Opened, rp.Accepted, rp.DialledBack):
        try:
            message = rp.decode(kind, payload)
        except PeerRefused:
            continue
        assert rp.decode(kind, rp.encode(message)) == message


def test_only_a_relay_that_was_asked_may_bring_circuits() -> None:
    async def work() -> None:
        async with peers(2) as (eve, bob), relay() as middle:
            contact = bob.address.contact
            incoming = rp.encode(rp.Incoming(eve.identity.peer_id, 1, bytes(16)))
            with pytest.raises(PeerRefused, match="has not asked you to be its relay"):
                await eve.call(contact, rp.INCOMING, incoming, timeout_s=5)
            with pytest.raises(PeerRefused, match="no such circuit"):
                await eve.call(contact, rp.LINK, rp.encode(rp.Link(1, 1)), timeout_s=5)
            with pytest.raises(PeerRefused, match="no method"):
                await eve.call(contact, rp.OPEN, b"", timeout_s=5)
            with pytest.raises(PeerRefused, match="this is no Open"):
                await eve.call(middle.address.contact, rp.OPEN, b"\xc1", timeout_s=5)

    run(work())


def test_a_relay_is_not_reserved_through_another_one() -> None:
    async def work() -> None:
        async with relay() as first, sheltered(first.address, relay=True) as second:
            with pytest.raises(PeerUnreachable, match="reserved directly"):
                async with sheltered(second.address, limits=Limits(relay_renew_s=QUICK.relay_renew_s * 4)):
                    pass

    run(work())


def test_what_relays_are_asked_is_short() -> None:
    async def work() -> None:
        async with peers(1) as (ann,), relay() as middle:
            for method in (rp.RESERVE, rp.OPEN, rp.INCOMING, rp.LINK, rp.DIAL_BACK):
                with pytest.raises(PeerRefused, match="over this peer's limit of 1024"):
                    await ann.call(middle.address.contact, method, bytes(1 << 20), timeout_s=10)

    run(work())
