"""Strangers: floods of first packets, forged addresses, resets, garbage; and what they may cost."""

from __future__ import annotations

import asyncio
import contextlib
import random
import socket
import time
from collections.abc import Callable, Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from strobe.swarm.net import AES_GCM, Contact, Identity, Limits, PeerNetwork, PeerUnreachable
from strobe.swarm.net import message as m
from strobe.swarm.net.calls import Call
from strobe.swarm.net.handshake import Ephemeral, Initiator
from strobe.swarm.net.packet import ACCEPT, RESET, RETRY, pack_reset
from strobe.swarm.net.replies import QUIET_SWEEPS
from strobe.swarm.net.session import Session
from tests.swarm.net.peers import bad_path, peers, run

EVE = Identity(bytes(32))


def init_to(network: PeerNetwork, index: int) -> bytes:
    initiator = Initiator.begin(AES_GCM, EVE, Ephemeral(0), network.identity.peer_id, index)
    return initiator.init.pack()


class Stranger:
    """A bare UDP socket that talks to a peer."""

    def __init__(self, network: PeerNetwork) -> None:
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.setblocking(False)
        self._socket.bind(("127.0.0.1", 0))
        self._target = tuple(network.address.contact[1:3])
        self.sent = 0

    @property
    def name(self) -> tuple[str, int]:
        host, port = self._socket.getsockname()
        return host, port

    def send(self, packet: bytes) -> None:
        self.sent += len(packet)
        self._socket.sendto(packet, self._target)

    async def answers(self) -> list[bytes]:
        await asyncio.sleep(0.05)
        found = []
        while True:
            try:
                found.append(self._socket.recv(65536))
            except BlockingIOError:
                return found

    def __enter__(self) -> Stranger:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()


def test_a_flood_of_first_packets_is_bounded_and_the_honest_get_in() -> None:
    async def work() -> None:
        async with peers(1, limits=Limits(max_half_open=8)) as (bob,), peers(1) as (ann,):
            with Stranger(bob) as stranger:
                for index in range(100):
                    stranger.send(init_to(bob, index))
                answers = await stranger.answers()
                kinds = [answer[0] for answer in answers]
                assert kinds.count(ACCEPT) == 4
                assert kinds.count(RETRY) == 96
                assert sum(map(len, answers)) < stranger.sent
                assert bob.handshakes.num_half_open == 4
                # the honest peer sends its cookie back, which costs one more round trip and nothing else
                assert await ann.call(bob.address.contact, "echo", b"x", timeout_s=5) == b"x"

    run(work())


def test_a_cookie_is_good_for_one_address_and_one_packet() -> None:
    async def work() -> None:
        async with peers(1, limits=Limits(max_half_open=2)) as (bob,):
            with Stranger(bob) as one, Stranger(bob) as other:
                one.send(init_to(bob, 1))
                await one.answers()
                packet = init_to(bob, 2)
                one.send(packet)
                (retry,) = await one.answers()
                with_cookie = packet[:-16] + retry[5:]
                other.send(with_cookie)
                assert [answer[0] for answer in await other.answers()] == [RETRY]
                one.send(init_to(bob, 2)[:-16] + retry[5:])
                assert [answer[0] for answer in await one.answers()] == [RETRY]
                one.send(with_cookie)
                assert [answer[0] for answer in await one.answers()] == [ACCEPT]
                assert bob.handshakes.num_half_open <= 2

    run(work())


def test_many_dials_at_once_take_turns_and_the_dead_keep_nobody_waiting() -> None:
    async def work() -> None:
        async with peers(1, limits=Limits(max_dials=2)) as (ann,), peers(10) as others:
            with Stranger(ann) as one, Stranger(ann) as two:
                dead = [
                    asyncio.create_task(ann.call(Contact(EVE.peer_id, *each.name), "echo", b"", timeout_s=2))
                    for each in (one, two)
                ]
                await asyncio.sleep(0)
                calls = [ann.call(other.address.contact, "echo", b"x", timeout_s=10) for other in others]
                assert await asyncio.gather(*calls) == [b"x"] * 10
                assert not any(task.done() for task in dead)
                for task in dead:
                    with pytest.raises(PeerUnreachable):
                        await task
            assert ann.handshakes._first_tries == 0
            assert not ann.handshakes._queue

    run(work())


def test_handshakes_of_strangers_have_a_rate() -> None:
    async def work() -> None:
        async with peers(1, limits=Limits(handshakes_per_s=10)) as (bob,):
            with Stranger(bob) as stranger:
                for index in range(60):
                    stranger.send(init_to(bob, index))
                assert len(await stranger.answers()) <= 13

    run(work())


def test_a_repeated_first_packet_gets_the_same_answer() -> None:
    async def work() -> None:
        async with peers(1) as (bob,):
            with Stranger(bob) as stranger:
                packet = init_to(bob, 1)
                stranger.send(packet)
                stranger.send(packet)
                first, second = await stranger.answers()
                assert first == second
                assert bob.handshakes.num_half_open == 1

    run(work())


def test_who_does_not_finish_is_forgotten() -> None:
    async def work() -> None:
        async with peers(1) as (bob,):
            with Stranger(bob) as stranger:
                for index in range(5):
                    stranger.send(init_to(bob, index))
                await stranger.answers()
            assert bob.handshakes.num_half_open == 5
            bob.handshakes.sweep(float("inf"))
            assert bob.handshakes.num_half_open == 0
            assert not bob._sessions.indices

    run(work())


def test_forged_resets_cost_a_handshake_at_most() -> None:
    async def work() -> None:
        async with peers() as (ann, bob), bad_path(bob) as (contact, _):
            assert await ann.call(contact, "count", b"", timeout_s=5) == b"1"
            session = ann._sessions.get(contact)
            assert session is not None
            for index in (0, session.remote_index, 2**32 - 1):
                ann.incoming.on_datagram(pack_reset(index), ("127.0.0.1", contact.port), ann._ports[0])
            assert ann._sessions.get(contact) is session  # nobody waits: no reason to believe it
            call = asyncio.create_task(ann.call(contact, "slow_echo", b"x", timeout_s=5))
            await asyncio.sleep(0.01)
            ann.incoming.on_datagram(pack_reset(session.remote_index), ("127.0.0.1", contact.port), ann._ports[0])
            assert await call == b"x"

    run(work())


def test_a_forged_reset_is_not_looked_for_among_all_calls() -> None:
    async def work() -> None:
        async with peers() as (ann, bob), bad_path(bob) as (contact, _):
            await ann.call(contact, "echo", b"", timeout_s=5)

            class Watched(set[Call]):
                num_scans = 0

                def __iter__(self) -> Iterator[Call]:
                    self.num_scans += 1
                    return super().__iter__()

            live = ann.calls.live = Watched(ann.calls.live)
            for index in range(100):
                ann.incoming.on_datagram(pack_reset(index), ("127.0.0.1", contact.port), ann._ports[0])
            assert live.num_scans == 0

    run(work())


def test_junk_does_not_keep_a_peer_from_learning_that_its_session_is_gone() -> None:
    async def work() -> None:
        async with peers() as (ann, bob), bad_path(bob) as (contact, _):
            await ann.call(contact, "echo", b"", timeout_s=5)
            session = ann._sessions.get(contact)
            assert session is not None
            call = asyncio.create_task(ann.call(contact, "slow_echo", b"x", timeout_s=5))
            await asyncio.sleep(0.01)
            for _ in range(200):
                ann.incoming.on_datagram(bytes([6, 1, 2, 3, 4]) + bytes(50), ("127.0.0.1", 9), ann._ports[0])
            ann.incoming.on_datagram(pack_reset(session.remote_index), ("127.0.0.1", contact.port), ann._ports[0])
            assert ann._sessions.get(contact) is None
            assert await call == b"x"

    run(work())


def test_a_datagram_of_an_unknown_session_is_answered_by_less() -> None:
    async def work() -> None:
        async with peers(1) as (bob,):
            with Stranger(bob) as stranger:
                stranger.send(bytes([6, 1, 2, 3, 4]) + bytes(50))
                (answer,) = await stranger.answers()
                assert answer == bytes([RESET, 1, 2, 3, 4])
                for _ in range(1000):
                    stranger.send(bytes([6, 1, 2, 3, 4]) + bytes(50))
                assert len(await stranger.answers()) <= 130

    run(work())


def test_connections_that_say_nothing_do_not_keep_others_out() -> None:
    async def work() -> None:
        async with peers(1, limits=Limits(max_unattached=4)) as (bob,), peers(1) as (ann,):
            silent = [await asyncio.open_connection("127.0.0.1", bob.address.port) for _ in range(12)]
            payload = bytes(300_000)
            assert bytes(await ann.call(bob.address.contact, "echo", payload, timeout_s=5)) == payload
            assert await asyncio.wait_for(silent[0][0].read(), 5) == b""  # the first of them lost its place
            for _, writer in silent:
                writer.close()

    run(work())


def test_a_flood_of_connections_is_bounded() -> None:
    async def work() -> None:
        async with peers(1, limits=Limits(max_unattached=4)) as (bob,):
            with contextlib.ExitStack() as stack:
                target = ("127.0.0.1", bob.address.port)
                flood = [stack.enter_context(socket.create_connection(target)) for _ in range(50)]
                await asyncio.sleep(0.1)
                assert len(bob.streams._tasks) == 1 + 4
                for each in flood[:-4]:
                    each.setblocking(False)
                    assert each.recv(1) == b""

    run(work())


def test_streams_are_bounded_and_the_idle_ones_make_room() -> None:
    async def work() -> None:
        async with peers(1, limits=Limits(max_streams=2)) as (bob,), peers(5) as others:
            for other in [*others, *others]:
                payload = bytes(300_000)
                assert bytes(await other.call(bob.address.contact, "echo", payload, timeout_s=5)) == payload
                await asyncio.sleep(0.01)
                assert len(bob.streams.live) <= 3

    run(work())


def test_streams_of_one_peer_are_bounded_and_push_nobody_else_out() -> None:
    async def work() -> None:
        async with (
            peers(1, limits=Limits(max_streams_per_peer=2, max_streams=4)) as (bob,),
            peers(2) as (ann, eve),
        ):
            for each in (ann, eve):
                await each.call(bob.address.contact, "echo", bytes(300_000), timeout_s=5)
            session = eve._sessions.get(bob.address.contact)
            assert session is not None
            for _ in range(20):
                eve.streams._spawn(eve.streams._open(session))
            await asyncio.sleep(0.1)
            assert session.attaches == 21
            whose = [stream.session.keys.peer_id for stream in bob.streams.live]
            assert whose.count(ann.identity.peer_id) == 1
            assert whose.count(eve.identity.peer_id) == 2
            assert bytes(await eve.call(bob.address.contact, "echo", bytes(300_000), timeout_s=5)) == bytes(300_000)

    run(work())


def _state(network: PeerNetwork) -> tuple[int, ...]:
    return (
        len(network._sessions.indices),
        network.num_sessions,
        network.handshakes.num_half_open,
        len(network.streams.live),
        network.serving.load.inbound_bytes,
        len(network.calls.live),
    )


packets = st.one_of(
    st.binary(max_size=300),
    st.builds(lambda kind, rest: bytes([kind]) + rest, st.integers(0, 8), st.binary(max_size=300)),
    st.builds(
        lambda kind, size, seed: bytes([kind]) + random.Random(seed).randbytes(size),
        st.integers(0, 8),
        st.sampled_from([4, 12, 20, 28, 60, 96, 100, 109, 152, 200, 1200]),
        st.integers(0, 2**32),
    ),
)


@settings(max_examples=12, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(packets, min_size=40, max_size=150))
def test_garbage_at_the_ports_changes_nothing(garbage: list[bytes]) -> None:
    async def work() -> None:
        async with peers() as (ann, bob):
            await ann.call(bob.address.contact, "echo", b"x", timeout_s=5)
            before = _state(bob)
            with Stranger(bob) as stranger:
                for packet in garbage:
                    stranger.send(packet)
                answers = await stranger.answers()
                assert sum(map(len, answers)) <= 3 * stranger.sent
            for packet in garbage[:5]:
                reader, writer = await asyncio.open_connection("127.0.0.1", bob.address.port)
                writer.write(packet)
                writer.write_eof()
                with contextlib.suppress(ConnectionError):
                    assert len(await reader.read()) <= 5
                writer.close()
            assert _state(bob) == before
            assert await ann.call(bob.address.contact, "echo", b"y", timeout_s=5) == b"y"

    run(work())


@settings(max_examples=12, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(packets, min_size=40, max_size=150))
def test_garbage_of_a_peer_that_proved_itself_changes_nothing(garbage: list[bytes]) -> None:
    """Sealed properly, by datagram and by stream: what is inside is as untrusted as ever."""

    async def work() -> None:
        async with peers() as (ann, bob):
            await ann.call(bob.address.contact, "echo", bytes(200_000), timeout_s=5)
            session = ann._sessions.get(bob.address.contact)
            assert session is not None
            for each in garbage:
                session.port.send(session.seal(each), session.address)
            for each in garbage:
                if session.stream is not None:
                    session.stream.out.send(each)
            await asyncio.sleep(0.02)
            bob._sweep()
            bob._sweep()
            assert bob.num_sessions == 1
            assert bob.serving.load.inbound_bytes == 0
            # the mess may have used numbers up: a new session works whatever happened to this one
            ann._sessions.drop(session)
            assert await ann.call(bob.address.contact, "echo", b"y", timeout_s=5) == b"y"

    run(work())


def _requests(session: Session, count: int) -> None:
    for number in range(count):
        session.send(m.request(10_000 + number, 0, b"large", b""))


def _parts(session: Session, count: int) -> None:
    for number in range(count):
        first = m.parts(10_000 + number, False, bytes(4000), 1000)[0]
        session.port.send(session.seal(first), session.address)


@pytest.mark.parametrize("flood", [_requests, _parts])
def test_a_peer_that_never_listens_does_not_fill_memory(flood: Callable[[Session, int], None]) -> None:
    """Replies that are not fetched and messages that are not completed are bounded and swept."""

    async def work() -> None:
        async with peers(limits=Limits(requests_per_s=1, burst=200)) as (ann, bob):
            bob.serve("large", lambda caller, payload: bytes(7000))
            await ann.call(bob.address.contact, "echo", b"", timeout_s=5)
            session = ann._sessions.get(bob.address.contact)
            assert session is not None
            for _ in range(20):
                flood(session, 100)
                await asyncio.sleep(0.001)
            (theirs,) = (each for each in bob._sessions.indices.values() if isinstance(each, Session))
            assert len(theirs._assembly) <= 16
            assert len(theirs.replies) <= 310  # of 7,000 bytes each
            quiet = time.monotonic() + 10
            for _ in range(QUIET_SWEEPS + 1):
                bob._sessions.sweep(quiet)
            assert (len(theirs.replies), len(theirs._assembly)) == (0, 0)

    run(work())


def test_sessions_are_bounded_and_the_idle_ones_go() -> None:
    async def work() -> None:
        async with peers(1, limits=Limits(max_sessions=4)) as (bob,), peers(8) as others:
            for other in others:
                await other.call(bob.address.contact, "echo", b"x", timeout_s=5)
            assert bob.num_sessions == 4
            assert len(bob._sessions.indices) == 4
            # who was forgotten is told so, and comes back in one more round trip
            assert await others[0].call(bob.address.contact, "echo", b"y", timeout_s=5) == b"y"

    run(work())


def test_an_old_session_is_renewed() -> None:
    async def work() -> None:
        async with peers(limits=Limits(session_lifetime_s=0.05)) as (ann, bob):
            contact: Contact = bob.address.contact
            await ann.call(contact, "echo", b"x", timeout_s=5)
            await asyncio.sleep(0.1)
            ann._sweep()
            assert await ann.call(contact, "count", b"", timeout_s=5) == b"1"
            assert ann.handshakes.completed == 2

    run(work())


def test_a_session_that_rests_is_passed_over_until_it_is_used_or_its_round_comes() -> None:
    async def work() -> None:
        async with peers() as (ann, bob):
            await ann.call(bob.address.contact, "echo", b"x", timeout_s=5)
            (theirs,) = (each for each in bob._sessions.indices.values() if isinstance(each, Session))
            later = time.monotonic() + 10
            for _ in range(QUIET_SWEEPS + 1):  # the reply may be asked for again
                bob._sessions.sweep(later)
            assert theirs.is_resting
            much_later = later + 2 * Limits().session_lifetime_s
            bob._sessions.sweep(much_later)
            assert bob.num_sessions == 1
            await ann.call(bob.address.contact, "echo", b"x", timeout_s=5)
            assert not theirs.is_resting
            for _ in range(20):
                bob._sessions.sweep(much_later)
            assert bob.num_sessions == 0

    run(work())
