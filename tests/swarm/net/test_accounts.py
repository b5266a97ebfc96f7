"""Limits for a peer hold for the peer: over all of its sessions and ports, and over what it does not read."""

from __future__ import annotations

import asyncio
import selectors
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest

from strobe.swarm.net import Caller, Contact, Identity, Limits, Payload, PeerBusy, PeerNetwork, PeerUnreachable, outbox
from strobe.swarm.net import message as m
from strobe.swarm.net.frame import CHUNK, CHUNK_REQUEST, OPEN, OPEN_REQUEST
from strobe.swarm.net.replies import QUIET_SWEEPS
from strobe.swarm.net.session import Session
from strobe.swarm.net.stream import Stream
from tests.swarm.net.peers import bad_stream, peers, run

MB = 1 << 20


@asynccontextmanager
async def faces(count: int) -> AsyncIterator[list[PeerNetwork]]:
    """One identity at several ports."""
    identity = Identity.generate()
    networks = [await PeerNetwork.listen(identity) for _ in range(count)]
    try:
        yield networks
    finally:
        for network in networks:
            await network.close()


async def outcome(network: PeerNetwork, contact: Contact, method: str, size: int = 0) -> str:
    try:
        await network.call(contact, method, bytes(size), timeout_s=20)
    except PeerBusy:
        return "busy"
    return "served"


async def until(is_so: Callable[[], bool], what: str) -> None:
    for _ in range(2000):
        if is_so():
            return
        await asyncio.sleep(0.005)
    raise AssertionError(what)


def test_the_rate_of_a_peer_is_one_for_all_of_its_ports_and_handshakes() -> None:
    async def work() -> None:
        async with peers(1, limits=Limits(requests_per_s=0.01, burst=5)) as (bob,), faces(4) as many:
            contact = bob.address.contact
            got = [await outcome(each, contact, "count") for each in many for _ in range(5)]
            for each in many:
                each.forget(contact)
            got += [await outcome(each, contact, "count") for each in many for _ in range(5)]
            assert got.count("served") == 5
            assert bob.num_sessions == 8
            async with peers(1) as (ann,):
                assert await outcome(ann, contact, "count") == "served"

    run(work())


def test_a_peer_that_went_and_came_back_has_no_fresh_rate() -> None:
    async def work() -> None:
        async with peers(1, limits=Limits(requests_per_s=0.01, burst=3)) as (bob,):
            identity, got = Identity.generate(), list[str]()
            for _ in range(3):
                ann = await PeerNetwork.listen(identity)
                got += [await outcome(ann, bob.address.contact, "count") for _ in range(3)]
                await ann.close()
                for session in list(bob._sessions._all):
                    bob._sessions._forget(session)
                bob._sweep()
                assert bob.num_sessions == 0
            assert got.count("served") == 3

    run(work())


def test_running_requests_and_bytes_are_counted_for_the_peer() -> None:
    async def work() -> None:
        limits = Limits(max_running_per_peer=4, max_inbound_per_peer=3 * MB)
        async with peers(1, limits=limits) as (bob,), faces(3) as many:
            contact, release = bob.address.contact, asyncio.Event()

            async def waits(caller: Caller, payload: Payload) -> Payload:
                await release.wait()
                return b""

            bob.serve("waits", waits)
            small = [asyncio.create_task(outcome(each, contact, "waits")) for each in many for _ in range(3)]
            await until(lambda: sum(task.done() for task in small) == 5, "five of nine are refused")
            release.set()
            assert sorted(await asyncio.gather(*small)) == ["busy"] * 5 + ["served"] * 4
            release.clear()
            large = [asyncio.create_task(outcome(each, contact, "waits", MB)) for each in many for _ in range(2)]
            await until(lambda: sum(task.done() for task in large) == 3, "three of six are refused")
            release.set()
            assert sorted(await asyncio.gather(*large)) == ["busy"] * 3 + ["served"] * 3
            assert (bob.serving.load.inbound_bytes, bob.serving.load.outbound_bytes) == (0, 0)

    run(work())


def test_sessions_of_one_peer_are_bounded_and_push_nobody_else_out() -> None:
    async def work() -> None:
        async with peers(1, limits=Limits(max_sessions_per_peer=3)) as (bob,), peers(1) as (ann,), faces(6) as many:
            contact = bob.address.contact
            await outcome(ann, contact, "echo")
            for each in many:
                assert await outcome(each, contact, "echo") == "served"
            assert bob.num_sessions == 4
            assert await outcome(many[0], contact, "echo") == "served"
            assert await outcome(ann, contact, "echo") == "served"
            assert ann.handshakes.completed == 1

    run(work())


def test_accounts_are_forgotten_when_they_are_as_good_as_new_and_are_bounded() -> None:
    async def work() -> None:
        async with peers(1, limits=Limits(max_sessions=4, burst=3, requests_per_s=0.01)) as (bob,), peers(12) as others:
            for other in others:
                await outcome(other, bob.address.contact, "echo")
            accounts = bob._sessions.accounts
            assert len(accounts) == 8  # as many without a session as may have one
            accounts.sweep(float("inf"))
            assert len(accounts) == 4

    run(work())


def _large(caller: Caller, payload: Payload) -> Payload:
    return bytes(MB)


async def is_stuck(stream: Stream) -> bool:
    """Tell whether a stream has something to send, and nobody takes it for a while."""
    with selectors.DefaultSelector() as selector:  # select() knows no numbers from 1,024 on
        selector.register(stream.socket, selectors.EVENT_WRITE)
        for _ in range(20):
            if not stream.out.is_busy or selector.select(0):
                return False
            await asyncio.sleep(0.01)
    return True


def test_replies_that_are_not_read_are_bounded_and_then_others_come_first() -> None:
    """The peer has a stream, stops reading it, and asks for more."""

    async def work() -> None:
        limits = Limits(max_outbound_per_peer=8 * MB, max_outbound=12 * MB)
        async with peers(1, limits=limits) as (bob,), peers(2) as (ann, eve), bad_stream(bob) as (contact, proxy):
            load = bob.serving.load
            bob.serve("large", _large)
            await ann.call(contact, "echo", bytes(MB), timeout_s=10)
            session = ann._sessions.get(contact)
            assert session is not None

            async def ask(first: int) -> int:
                """Ask for twenty large replies; return how many of them are made."""
                served, refused = bob.serving.served, bob.serving.refused
                for number in range(first, first + 20):
                    session.send(m.request(number, 0, b"large", b""))
                await until(
                    lambda: bob.serving.served + bob.serving.refused == served + refused + 20, "all are answered"
                )
                assert load.outbound_bytes <= 8 * MB
                return bob.serving.served - served

            proxy.pause = asyncio.Event()
            first = 1000
            while not await is_stuck(next(iter(bob.streams.live))):  # the system's buffers take some of it first
                await ask(first)
                first += 20
            await ask(first)
            assert await ask(first + 20) == 0  # who does not read is not worked for
            assert await outcome(ann, contact, "count") == "busy"
            assert await outcome(eve, bob.address.contact, "large") == "served"
            proxy.pause.set()
            await until(lambda: load.outbound_bytes == 0, "all is read")
            assert await outcome(ann, contact, "large") == "served"

    run(work())


@pytest.mark.parametrize("end", ["cancelled", "cut", "closed"])
def test_what_waits_to_be_read_is_freed_however_it_ends(end: str) -> None:
    async def work() -> None:
        async with peers() as (ann, bob), bad_stream(bob) as (contact, proxy):
            load = bob.serving.load
            bob.serve("large", _large)
            await ann.call(contact, "echo", bytes(MB), timeout_s=10)
            proxy.pause = asyncio.Event()
            calls = [asyncio.create_task(ann.call(contact, "large", b"", timeout_s=20)) for _ in range(40)]
            await until(lambda: load.outbound_bytes > 3 * MB, "replies wait")
            for call in calls:
                call.cancel()
            await asyncio.gather(*calls, return_exceptions=True)
            if end == "cut":
                for each in list(bob.streams.live):
                    each.cancel()
            elif end == "closed":
                await bob.close()
            else:
                proxy.pause.set()
            await until(lambda: load.outbound_bytes == 0, "nothing waits any more")

    run(work())


def test_replies_that_nobody_fetches_are_bounded_in_bytes_and_freed() -> None:
    async def work() -> None:
        async with peers(1, limits=Limits(max_outbound_per_peer=4 * MB)) as (bob,), peers(1) as (ann,):
            bob.serve("large", _large)
            await ann.call(bob.address.contact, "echo", b"", timeout_s=5)
            session = ann._sessions.get(bob.address.contact)
            assert session is not None
            for number in range(100, 150):  # not calls: nobody fetches what they are answered with
                session.send(m.request(number, 0, b"large", b""))
            await until(lambda: bob.serving.served + bob.serving.refused == 51, "they are answered")
            assert (bob.serving.served, bob.serving.load.outbound_bytes) == (1 + 3, 3 * MB)
            for _ in range(QUIET_SWEEPS + 1):
                bob._sessions.sweep(time.monotonic())
            assert bob.serving.load.outbound_bytes == 0
            release = asyncio.Event()

            async def large_later(caller: Caller, payload: Payload) -> Payload:
                await release.wait()
                return bytes(MB)

            bob.serve("large_later", large_later)
            for number in range(200, 210):  # there is room when they begin, not when all of them are ready
                session.send(m.request(number, 0, b"large_later", b""))
            await until(lambda: sum(each.account.running for each in bob._sessions._all) == 10, "they have begun")
            release.set()
            await until(lambda: bob.serving.served == 4 + 10, "they are handled")
            assert bob.serving.load.outbound_bytes == 4 * MB

    run(work())


def test_answers_to_what_comes_by_stream_do_not_pile_up_either(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small replies count like large ones; and what asks for still more, refused or not, is not even read."""

    async def work() -> None:
        monkeypatch.setattr(outbox, "_MAX_BACKLOG", 256 << 10)
        async with peers(1, limits=Limits(max_outbound_per_peer=MB)) as (bob,), peers(1) as (ann,):
            bob.serve("medium", lambda caller, payload: bytes(30_000))
            async with bad_stream(bob) as (contact, proxy):
                await ann.call(contact, "echo", bytes(MB), timeout_s=10)
                session = ann._sessions.get(contact)
                (theirs,) = (each for each in bob._sessions.indices.values() if isinstance(each, Session))
                assert session is not None
                assert session.stream is not None
                assert theirs.stream is not None
                proxy.pause_answers = asyncio.Event()
                for number in range(100, 9000):
                    session.stream.out.send(m.request(number, 0, b"medium", b""))
                theirs_now = theirs.stream
                await until(lambda: theirs_now.out.is_draining, "reading pauses")
                assert bob.serving.load.outbound_bytes <= MB + (300 << 10)
                assert bob.serving.served < 2000
                proxy.pause_answers.set()
                await until(lambda: not theirs_now.out.is_draining and theirs_now.is_idle, "and goes on")
                assert bob.serving.served + bob.serving.refused >= 8900
            await until(lambda: bob.serving.load.outbound_bytes == 0, "all is freed")

    run(work())


async def _streamed(ann: PeerNetwork, bob: PeerNetwork) -> tuple[Stream, Stream]:
    """Return both ends of a connection between two peers."""
    await ann.call(bob.address.contact, "echo", bytes(MB), timeout_s=10)
    (ours,), (theirs,) = ann.streams.live, bob.streams.live
    return ours, theirs


def _announce(stream: Stream, number: int, size: int = 1) -> None:
    stream.out._queue(OPEN_REQUEST, number, OPEN.pack(size, 0) + b"echo")


def test_a_request_counts_when_it_is_announced_and_once() -> None:
    async def work() -> None:
        async with peers(1, limits=Limits(requests_per_s=0.01, burst=5)) as (bob,), peers(1) as (ann,):
            ours, theirs = await _streamed(ann, bob)
            assert await outcome(ann, bob.address.contact, "echo", MB) == "served"
            for number in range(100, 200):
                _announce(ours, number)
            assert await outcome(ann, bob.address.contact, "echo", MB) == "busy"
            assert len(theirs._incoming) == 3

    run(work())


def test_payloads_that_are_announced_and_never_sent_are_bounded() -> None:
    async def work() -> None:
        async with peers() as (ann, bob):
            ours, theirs = await _streamed(ann, bob)
            for number in range(100, 100 + 3000):
                _announce(ours, number)
            await until(lambda: theirs not in bob.streams.live, "who announces without end is not heard any more")
            assert bob.serving.served == 1
            assert bob.serving.load.inbound_bytes == 0

    run(work())


def test_a_repeated_request_is_answered_on_the_connection_that_it_came_by() -> None:
    """One end reads slowly on purpose: what it causes by the other must not wait there."""

    async def work() -> None:
        async with peers() as (ann, bob):
            first, theirs = await _streamed(ann, bob)
            ann.streams._spawn(ann.streams._open(first.session))
            await until(lambda: len(bob.streams.live) == 2, "there is a second connection")
            (other,) = bob.streams.live - {theirs}
            await until(lambda: other.out.is_idle, "it is announced")
            sent, sent_by_other = theirs.out.sent, other.out.sent
            for _ in range(10):
                first.out.send(m.request(100, 0, b"count", b""))
            await until(lambda: theirs.out.sent >= sent + 10, "each is answered where it came from")
            assert (bob.serving.served, other.out.sent) == (2, sent_by_other)

    run(work())


def test_repeated_requests_count_towards_the_rate_of_a_peer() -> None:
    async def work() -> None:
        async with peers(1, limits=Limits(requests_per_s=0.01, burst=10)) as (bob,), peers(1) as (ann,):
            bob.serve("medium", lambda caller, payload: bytes(1000))
            await ann.call(bob.address.contact, "echo", b"", timeout_s=5)
            session = ann._sessions.get(bob.address.contact)
            (theirs,) = bob._sessions._all
            assert session is not None
            sent = theirs._counter
            for _ in range(100):
                session.send(m.request(50, 0, b"medium", b""))
            session.send(m.request(51, 0, b"medium", b""))
            await until(lambda: bob.serving.refused == 1, "all were read")
            assert theirs._counter - sent == 9 + 1

    run(work())


def test_room_is_not_held_by_a_payload_that_trickles() -> None:
    async def work() -> None:
        async with peers() as (ann, bob):
            ours, theirs = await _streamed(ann, bob)
            _announce(ours, 100, 256 * MB)
            await until(lambda: bool(theirs._incoming), "it is announced")
            (coming,) = theirs._incoming.values()

            async def is_stalled_after(num_chunks: int, size: int) -> bool:
                due = coming.offset + num_chunks * size
                for _ in range(num_chunks):
                    ours.out._queue(CHUNK_REQUEST, 100, bytes(size))
                await until(lambda: coming.offset == due, "it comes")
                theirs.heard = theirs._paced[0] + 31
                return theirs.is_stalled(theirs.heard, 30)

            paces = ((5, CHUNK), (5, CHUNK), (5, 1))
            assert [await is_stalled_after(*pace) for pace in paces] == [False, False, True]

    run(work())


def test_calls_of_a_session_that_makes_room_do_not_wait_for_their_time_out() -> None:
    async def work() -> None:
        limits = Limits(max_sessions_per_peer=1, max_in_flight_per_peer=8)
        async with peers(1, limits=limits) as (ann,), peers(1) as (bob,):
            contact, release, runs = bob.address.contact, asyncio.Event(), list[int]()

            async def waits(caller: Caller, payload: Payload) -> Payload:
                runs.append(len(payload))
                await release.wait()
                return b""

            bob.serve("waits", waits)
            await ann.call(contact, "echo", b"", timeout_s=5)
            calls = [asyncio.create_task(ann.call(contact, "waits", bytes(size), timeout_s=20)) for size in range(10)]
            await until(lambda: len(runs) == 8, "as many are asked as there is room for")
            ann.forget(contact)
            await ann.call(contact, "echo", b"", timeout_s=5)
            await until(lambda: sum(call.done() for call in calls) == 8, "those that were asked fail")
            release.set()
            answers = await asyncio.gather(*calls, return_exceptions=True)
            assert [type(answer) for answer in answers] == [PeerUnreachable] * 8 + [bytes] * 2
            assert sorted(runs) == list(range(10))

    run(work())


def test_a_peer_that_closes_makes_no_more_answers() -> None:
    async def work() -> None:
        async with peers() as (ann, bob):
            bob.serve("large", _large)
            ours, _ = await _streamed(ann, bob)
            closing = asyncio.create_task(bob.close())
            for number in range(1000, 2000):
                ours.session.send(m.request(number, 0, b"large", b""))
                await asyncio.sleep(0)
                if closing.done():
                    break
            await closing
            assert bob.serving.load.outbound_bytes == 0

    run(work())
