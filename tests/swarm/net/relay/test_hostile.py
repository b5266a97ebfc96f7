"""A relay that reads, alters, drops, repeats and swaps what it passes on: it gets nothing, and nobody is fooled."""

from __future__ import annotations

import asyncio
import os
import random
import socket
from collections.abc import Callable
from typing import TypeAlias

import pytest

from strobe.swarm.net import Caller, Payload, PeerNetwork, PeerUnreachable
from strobe.swarm.net.packet import ANSWER, DATA, GONE, LINK, RELAYED
from strobe.swarm.net.relay.circuit import Circuit
from strobe.swarm.net.relay.path import CircuitEnd
from strobe.swarm.net.relay.protocol import link_packet
from strobe.swarm.net.relay.relay import _Reservation
from tests.swarm.net.peers import peers, run
from tests.swarm.net.relay.relays import make_hostile, relay, sheltered

MB = 1 << 20
PAYLOADS = [f"{i:03} ".encode() * (1 + i % 4 * 150) for i in range(24)]
Hostility: TypeAlias = Callable[[random.Random], Callable[[bytes], list[bytes]]]


def flipped(packet: bytes, generator: random.Random) -> bytes:
    position = generator.randrange(len(packet))
    return packet[:position] + bytes([packet[position] ^ 1 << generator.randrange(8)]) + packet[position + 1 :]


def noted(network: PeerNetwork) -> list[bytes]:
    """Serve `note`; return what it has been called with."""
    handled: list[bytes] = []

    async def note(caller: Caller, payload: Payload) -> Payload:
        handled.append(bytes(payload))
        await asyncio.sleep(0.001)
        return payload

    network.serve("note", note)
    return handled


async def exchanged(callers: list[PeerNetwork], bob: PeerNetwork) -> list[Payload]:
    calls = [callers[i % 2].call(bob.address.contact, "note", each, timeout_s=50) for i, each in enumerate(PAYLOADS)]
    return await asyncio.gather(*calls)


def some_altered(generator: random.Random) -> Callable[[bytes], list[bytes]]:
    return lambda packet: [flipped(packet, generator) if generator.random() < 0.15 else packet]


def some_dropped(generator: random.Random) -> Callable[[bytes], list[bytes]]:
    return lambda packet: [] if generator.random() < 0.15 else [packet]


def all_repeated(generator: random.Random) -> Callable[[bytes], list[bytes]]:
    seen: list[bytes] = []

    def work(packet: bytes) -> list[bytes]:
        seen.append(packet)
        return [packet, packet, generator.choice(seen)]

    return work


@pytest.mark.parametrize("hostility", [some_altered, some_dropped, all_repeated])
def test_what_arrives_is_what_was_sent_and_arrives_once(hostility: Hostility) -> None:
    async def work() -> None:
        generator = random.Random(7)
        async with peers(2) as callers, relay() as middle:
            make_hostile(middle, lambda: hostility(generator))
            async with sheltered(middle.address) as bob:
                handled = noted(bob)
                assert await exchanged(callers, bob) == PAYLOADS
                assert sorted(handled) == sorted(PAYLOADS)

    run(work())


def test_packets_of_other_circuits_and_directions_are_of_no_use() -> None:
    """Such a relay can make hands be shaken again, and then a handler run again: it cannot change a byte."""

    async def work() -> None:
        generator = random.Random(7)
        bag: list[bytes] = []

        def swapped(packet: bytes) -> list[bytes]:
            bag.append(packet)
            return [packet, generator.choice(bag)]

        async with peers(2) as callers, relay() as middle:
            make_hostile(middle, lambda: swapped)
            async with sheltered(middle.address) as bob:
                handled = noted(bob)
                assert await exchanged(callers, bob) == PAYLOADS
                assert set(handled) == set(PAYLOADS)

    run(work())


def test_a_relay_that_alters_everything_is_no_way() -> None:
    async def work() -> None:
        generator = random.Random(3)
        async with peers(1) as (ann,), relay() as middle:
            make_hostile(middle, lambda: lambda packet: [flipped(packet, generator)])
            async with sheltered(middle.address) as bob:
                handled = noted(bob)
                with pytest.raises(PeerUnreachable):
                    await ann.call(bob.address.contact, "note", b"x", timeout_s=2)
                assert not handled

    run(work())


def test_a_relay_cannot_put_another_peer_in_the_place() -> None:
    async def work() -> None:
        async with (
            peers(1) as (ann,),
            relay() as middle,
            sheltered(middle.address) as bob,
            sheltered(middle.address) as mallory,
        ):
            seen = noted(mallory)
            assert middle.relaying.relay is not None
            reservations = middle.relaying.relay._reservations
            to_mallory = reservations[mallory.identity.peer_id]
            reservations[bob.identity.peer_id] = _Reservation(to_mallory.contact, to_mallory.expires)
            with pytest.raises(PeerUnreachable):
                await ann.call(bob.address.contact, "note", b"for bob only", timeout_s=1)
            assert not seen

    run(work())


def test_the_relay_reads_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    async def work() -> None:
        passed = bytearray()

        async def listening_pump(self: Circuit, source: socket.socket, target: socket.socket) -> None:
            loop = asyncio.get_running_loop()
            while piece := await loop.sock_recv(source, 65536):
                passed.extend(piece)
                await loop.sock_sendall(target, piece)

        def listen(packet: bytes) -> list[bytes]:
            passed.extend(packet)
            return [packet]

        monkeypatch.setattr(Circuit, "_pump", listening_pump)
        async with peers(1) as (ann,), relay() as middle:
            make_hostile(middle, lambda: listen)
            async with sheltered(middle.address) as bob:
                noted(bob)
                secret = b"a secret that nobody else may read"
                for size in (1, 10_000):
                    await ann.call(bob.address.contact, "note", secret * size, timeout_s=20)
                assert len(passed) > 300_000
                for word in (secret, b"note", ann.identity.public_key, bob.identity.public_key):
                    assert word not in passed

    run(work())


def hostile_pump(harm: Callable[[bytes], bytes], after: int, times: list[int]) -> Callable[..., object]:
    """Return a pump that harms what passes after so many bytes, as often as `times` allows."""

    async def pump(self: Circuit, source: socket.socket, target: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        passed = 0
        while piece := await loop.sock_recv(source, 65536):
            passed += len(piece)
            if passed > after and times[0]:
                times[0] -= 1
                piece = harm(piece)
            await loop.sock_sendall(target, piece)

    return pump


@pytest.mark.parametrize(
    "harm", [lambda piece: piece[:-1] + bytes([piece[-1] ^ 4]), lambda piece: piece[1:], lambda piece: piece + piece]
)
def test_a_harmed_connection_is_noticed_and_replaced(
    harm: Callable[[bytes], bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def work() -> None:
        monkeypatch.setattr(Circuit, "_pump", hostile_pump(harm, 2 * MB, [1]))
        async with peers(1) as (ann,), relay() as middle, sheltered(middle.address) as bob:
            handled = noted(bob)
            payload = os.urandom(5 * MB)
            assert bytes(await ann.call(bob.address.contact, "note", payload, timeout_s=40)) == payload
            assert handled == [payload]
            assert ann.streams.rejected + bob.streams.rejected >= 1

    run(work())


def test_connections_that_are_harmed_always_fail_the_call(monkeypatch: pytest.MonkeyPatch) -> None:
    async def work() -> None:
        monkeypatch.setattr(Circuit, "_pump", hostile_pump(lambda piece: piece[::-1], 0, [1 << 30]))
        async with peers(1) as (ann,), relay() as middle, sheltered(middle.address) as bob:
            handled = noted(bob)
            with pytest.raises(PeerUnreachable):
                await ann.call(bob.address.contact, "note", bytes(MB), timeout_s=8)
            assert not handled

    run(work())


def test_forged_news_of_a_circuits_end_changes_nothing_for_the_calls() -> None:
    async def work() -> None:
        async with peers(1) as (ann,), relay() as middle, sheltered(middle.address) as bob:
            contact = bob.address.contact
            assert await ann.call(contact, "count", b"", timeout_s=10) == b"1"
            [(_, end)] = ann.relaying.ends._ends.values()
            source = (contact.host, contact.port)
            for index in (end.relay_index, end.relay_index ^ 1):
                ann.incoming.on_datagram(RELAYED.pack(GONE, index), source, ann._ports[0])
            assert await ann.call(contact, "count", b"", timeout_s=10) == b"2"
            assert ann.handshakes.completed == 2  # with the relay and with bob, once each

    run(work())


@pytest.mark.parametrize("kind", [LINK, ANSWER])
def test_a_connection_without_the_circuits_secret_gets_nowhere(kind: int) -> None:
    async def work() -> None:
        async with peers(1) as (ann,), relay() as middle, sheltered(middle.address) as bob:
            await ann.call(bob.address.contact, "echo", b"x", timeout_s=10)
            [(_, end)] = ann.relaying.ends._ends.values()
            for forged in (
                CircuitEnd(0, end.relay_index, bytes(16), True),
                CircuitEnd(0, end.relay_index ^ 1, end.token, True),
            ):
                reader, writer = await asyncio.open_connection("127.0.0.1", middle.address.port)
                writer.write(link_packet(kind, forged.relay_index, 9, forged.token, 16))
                assert await reader.read() == b""
                writer.close()
            assert middle.relaying.relay is not None
            assert middle.relaying.relay.rejected == 2

    run(work())


def test_packets_of_circuits_from_elsewhere_are_dropped() -> None:
    """Who guesses a circuit's number still has to send from its end's address; and circuits carry no circuits."""

    async def work() -> None:
        async with peers(2) as (ann, eve), relay() as middle, sheltered(middle.address) as bob:
            await ann.call(bob.address.contact, "echo", b"x", timeout_s=10)
            [(path, end)] = ann.relaying.ends._ends.values()
            assert middle.relaying.relay is not None
            dropped = middle.relaying.relay.dropped
            eve._ports[0].send(path._head + bytes([DATA]) * 40, path.at)
            while middle.relaying.relay.dropped == dropped:
                await asyncio.sleep(0.005)
            handled = bob.serving.served
            path.send(RELAYED.pack(GONE, end.relay_index), path.address)
            assert await ann.call(bob.address.contact, "echo", b"y", timeout_s=10) == b"y"
            assert bob.serving.served == handled + 1

    run(work())
