"""Payloads too large for datagrams: over real connections that are slow, cut, silent, or lie."""

from __future__ import annotations

import asyncio
import hashlib
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from strobe.swarm.net import (
    PLAIN,
    Caller,
    Limits,
    Payload,
    PeerBusy,
    PeerNetwork,
    PeerRefused,
    PeerUnreachable,
    Pieces,
    ReplyTooLarge,
    peer_text,
)
from strobe.swarm.net.cipher import AES_GCM, Suite
from strobe.swarm.net.seen import MAX_UNANSWERED
from strobe.swarm.net.stream import Stream
from tests.swarm.net.peers import bad_stream, peers, run

MB = 1 << 20


@pytest.mark.parametrize("suite", [AES_GCM, PLAIN])
def test_many_large_payloads_share_one_connection_in_both_directions(suite: Suite) -> None:
    async def work() -> None:
        async with peers(suite=suite) as (ann, bob):
            payloads = [os.urandom(size) for size in (100, MB, 300_000, 2 * MB + 1, 262_144, 262_145, 5 * MB)] * 2
            pairs = [(ann, bob), (bob, ann)]
            calls = [
                pairs[i % 2][0].call(pairs[i % 2][1].address.contact, "slow_echo", each, timeout_s=30)
                for i, each in enumerate(payloads)
            ]
            for got, sent in zip(await asyncio.gather(*calls), payloads, strict=True):
                assert hashlib.sha256(got).digest() == hashlib.sha256(sent).digest()
            assert ann.serving.load.inbound_bytes == bob.serving.load.inbound_bytes == 0
            # each side may have opened one before it saw the other's
            assert len(ann.streams.live) <= 2

    run(work())


def test_a_small_call_does_not_wait_behind_a_large_one() -> None:
    async def work() -> None:
        async with peers() as (ann, bob):
            order: list[str] = []

            async def call(name: str, size: int) -> None:
                await ann.call(bob.address.contact, "echo", bytes(size), timeout_s=30)
                order.append(name)

            await asyncio.gather(call("large", 30 * MB), call("medium", 200_000), call("small", 10))
            assert order == ["small", "medium", "large"]

    run(work())


def test_views_of_other_shapes_are_sent_as_their_bytes() -> None:
    async def work() -> None:
        async with peers() as (ann, bob):
            floats = memoryview(os.urandom(80_000)).cast("I", (100, 200))
            assert bytes(await ann.call(bob.address.contact, "echo", floats, timeout_s=5)) == floats.tobytes()

    run(work())


@pytest.mark.parametrize("suite", [AES_GCM, PLAIN])
@pytest.mark.parametrize("size", [1000, 2 * MB])
def test_a_payload_in_pieces_arrives_whole_both_ways(suite: Suite, size: int) -> None:
    async def work() -> None:
        async with peers(suite=suite) as (ann, bob):
            tail = os.urandom(size)
            bob.serve("twice", lambda caller, payload: Pieces((payload, b"", memoryview(tail))))
            sent = Pieces((b"head", memoryview(tail), b"end"))
            assert len(sent) == size + 7
            got = await ann.call(bob.address.contact, "twice", sent, timeout_s=10)
            assert bytes(got) == b"head" + tail + b"end" + tail

    run(work())


def test_a_large_reply_to_a_small_request_comes_by_stream_and_the_handler_runs_once() -> None:
    async def work() -> None:
        async with peers() as (ann, bob):
            runs = 0

            def large(caller: Caller, payload: Payload) -> Payload:
                nonlocal runs
                runs += 1
                return bytes(int(bytes(payload)))

            bob.serve("large", large)
            for count, size in enumerate((MB, 3 * MB), start=1):
                answer = await ann.call(bob.address.contact, "large", str(size).encode(), timeout_s=10)
                assert (len(answer), runs) == (size, count)

    run(work())


def test_a_payload_over_the_peers_limit_is_refused_before_it_is_sent() -> None:
    async def work() -> None:
        async with (
            peers(1, limits=Limits(max_payload=64 * MB)) as (ann,),
            peers(1, limits=Limits(max_payload=MB)) as (bob,),
        ):
            payload = bytes(64 * MB)
            with pytest.raises(PeerRefused, match=f"over this peer's limit of {MB}"):
                await ann.call(bob.address.contact, "echo", payload, timeout_s=5)
            bob.serve("large", lambda caller, payload: bytes(2 * MB))
            with pytest.raises(PeerRefused, match="limit"):
                await ann.call(bob.address.contact, "large", b"", timeout_s=5)
            assert bytes(await ann.call(bob.address.contact, "echo", bytes(MB), timeout_s=5)) == bytes(MB)

    run(work())


def test_a_method_with_a_limit_of_its_own_refuses_before_the_payload_is_read() -> None:
    async def work() -> None:
        async with peers() as (ann, bob):
            contact, sizes = bob.address.contact, list[int]()

            def note(caller: Caller, payload: Payload) -> Payload:
                sizes.append(len(payload))
                return b""

            bob.serve("note", note, max_payload=1000)
            for size in (1001, 20_000, 64 * MB):
                with pytest.raises(PeerRefused, match=f"{size} bytes is over this peer's limit of 1000 for 'note'"):
                    await ann.call(contact, "note", bytes(size), timeout_s=5)
                assert bob.serving.load.inbound_bytes == 0
            await ann.call(contact, "note", bytes(1000), timeout_s=5)
            assert sizes == [1000]
            assert len(await ann.call(contact, "echo", bytes(MB), timeout_s=5)) == MB
            with pytest.raises(PeerRefused, match="no method 'nope' here"):
                await ann.call(contact, "nope", bytes(64 * MB), timeout_s=5)

    run(work())


def test_a_reply_over_ones_own_limit_is_refused() -> None:
    async def work() -> None:
        async with peers(1, limits=Limits(max_payload=MB)) as (ann,), peers(1) as (bob,):
            bob.serve("large", lambda caller, payload: bytes(2 * MB))
            with pytest.raises(ReplyTooLarge, match=f"{2 * MB} bytes; at most {MB} are taken"):
                await ann.call(bob.address.contact, "large", b"", timeout_s=5)

    run(work())


@pytest.mark.parametrize("suite", [AES_GCM, PLAIN])
def test_a_reply_over_what_the_call_takes_is_refused_before_it_is_read(suite: Suite) -> None:
    async def work() -> None:
        async with peers(suite=suite) as (ann, bob):
            contact = bob.address.contact
            bob.serve("large", lambda caller, payload: bytes(int(bytes(payload))))
            assert len(await ann.call(contact, "large", b"100", timeout_s=10, max_reply=100)) == 100
            for size in (101, 20_000, 128 * MB):  # by one datagram, by several, by stream
                words = f"{peer_text(contact.id)} at .* answers 'large' with {size} bytes; at most 100 are taken"
                with pytest.raises(ReplyTooLarge, match=words):
                    await ann.call(contact, "large", str(size).encode(), timeout_s=10, max_reply=100)
                assert ann.serving.load.inbound_bytes == 0
            while bob.serving.load.outbound_bytes:  # until it has heard that it should stop
                await asyncio.sleep(0.01)
            # what else there is goes on as before
            assert len(await ann.call(contact, "large", str(MB).encode(), timeout_s=10, max_reply=MB)) == MB
            assert len(await ann.call(contact, "large", str(2 * MB).encode(), timeout_s=10)) == 2 * MB

    run(work())


def test_more_at_once_than_there_is_memory_for_is_busy() -> None:
    async def work() -> None:
        async with peers(limits=Limits(max_inbound_per_peer=3 * MB)) as (ann, bob):
            calls = [ann.call(bob.address.contact, "slow_echo", bytes(MB), timeout_s=10) for _ in range(6)]
            answers = await asyncio.gather(*calls, return_exceptions=True)
            assert any(isinstance(answer, PeerBusy) for answer in answers)
            assert sum(not isinstance(answer, BaseException) for answer in answers) >= 1
            assert bob.serving.load.inbound_bytes == 0
            assert len(await ann.call(bob.address.contact, "echo", bytes(MB), timeout_s=5)) == MB

    run(work())


async def _counting(bob: PeerNetwork) -> list[int]:
    runs: list[int] = []

    async def once(caller: Caller, payload: Payload) -> Payload:
        runs.append(len(payload))
        await asyncio.sleep(0.1)
        return payload

    bob.serve("once", once)
    return runs


def test_a_connection_that_is_cut_costs_no_call() -> None:
    async def work() -> None:
        async with peers() as (ann, bob), bad_stream(bob) as (contact, proxy):
            runs = await _counting(bob)
            proxy.cut_after = 3 * MB
            payload = os.urandom(8 * MB)
            assert await ann.call(contact, "once", payload, timeout_s=20) == payload
            assert (runs, proxy.accepted) == ([8 * MB], 2)
            assert bob.serving.load.inbound_bytes == 0

    run(work())


def test_a_connection_cut_while_the_handler_works_does_not_make_it_run_again() -> None:
    async def work() -> None:
        async with peers() as (ann, bob), bad_stream(bob) as (contact, _):
            runs = await _counting(bob)
            await ann.call(contact, "echo", bytes(MB), timeout_s=10)
            task = asyncio.create_task(ann.call(contact, "once", bytes(MB), timeout_s=10))
            while not runs:
                await asyncio.sleep(0.005)
            for stream in list(ann.streams.live):
                stream.cancel()
            assert len(await task) == MB
            assert runs == [MB]

    run(work())


def test_a_connection_that_is_cut_before_it_is_known_does_not_make_a_handler_run_again() -> None:
    """As when so many strangers are at the door that the newest lose their places: no sign of a new beginning."""

    async def work() -> None:
        async with peers() as (ann, bob), bad_stream(bob) as (contact, proxy):
            runs = 0

            def large(caller: Caller, payload: Payload) -> Payload:
                nonlocal runs
                runs += 1
                return bytes(MB)

            bob.serve("large", large)
            await ann.call(contact, "echo", b"", timeout_s=5)
            proxy.cut_after = 10
            assert len(await ann.call(contact, "large", b"", timeout_s=5)) == MB
            assert (runs, proxy.accepted, ann.handshakes.completed) == (1, 2, 1)

    run(work())


@pytest.mark.parametrize("size", [100_000, 16 * MB])
def test_a_peer_that_forgot_the_session_says_so_on_a_connection(size: int) -> None:
    async def work() -> None:
        async with peers() as (ann, bob):
            await ann.call(bob.address.contact, "echo", b"", timeout_s=5)
            for session in list(bob._sessions._all):
                bob._sessions._forget(session)
            assert len(await ann.call(bob.address.contact, "echo", bytes(size), timeout_s=5)) == size
            assert (ann.handshakes.completed, bob.streams.rejected) == (2, 1)

    run(work())


def test_a_call_that_is_given_up_while_its_answer_comes_holds_no_room() -> None:
    """It was asked by datagram: nothing but the answer knows the connection."""

    async def work() -> None:
        async with peers() as (ann, bob):
            bob.serve("large", lambda caller, payload: bytes(64 * MB))
            await ann.call(bob.address.contact, "echo", bytes(MB), timeout_s=5)
            (stream,) = ann.streams.live
            task = asyncio.create_task(ann.call(bob.address.contact, "large", b"", timeout_s=5))
            while not ann.serving.load.inbound_bytes:
                await asyncio.sleep(0)
            task.cancel()
            for _ in range(200):
                await asyncio.sleep(0.005)
                if not ann.serving.load.inbound_bytes and stream.is_idle:
                    break
            assert (ann.serving.load.inbound_bytes, stream.is_idle) == (0, True)
            assert ann.streams.live == {stream}

    run(work())


@asynccontextmanager
async def _crossed() -> AsyncIterator[tuple[asyncio.Task[Payload], Stream, list[int], PeerNetwork]]:
    """Both open a connection at once: one's call is on its way by the older, and its session has a newer."""
    async with peers() as (ann, bob):
        runs = await _counting(bob)
        await ann.call(bob.address.contact, "echo", b"", timeout_s=5)
        session = ann._sessions.get(bob.address.contact)
        assert session is not None
        task = asyncio.create_task(ann.call(bob.address.contact, "once", bytes(32 * MB), timeout_s=4))
        other = asyncio.create_task(bob.call(ann.address.contact, "echo", bytes(MB), timeout_s=4))
        while len(ann.streams.live) < 2 or not bob.serving.load.inbound_bytes:
            await asyncio.sleep(0)
        assert not runs
        (older,) = (stream for stream in ann.streams.live if stream is not session.stream)
        yield task, older, runs, bob
        await other


def test_the_loss_of_the_older_of_two_connections_costs_no_call() -> None:
    async def work() -> None:
        async with _crossed() as (task, older, runs, _):
            older.cancel()
            assert len(await task) == 32 * MB
            assert runs == [32 * MB]

    run(work())


def test_a_cancelled_call_is_not_sent_on_by_the_older_of_two_connections() -> None:
    async def work() -> None:
        async with _crossed() as (task, older, runs, bob):
            assert older.out._large
            task.cancel()
            while not task.done():
                await asyncio.sleep(0)
            await asyncio.sleep(0)  # its future's callback
            assert not older.out._large
            while bob.serving.load.inbound_bytes:
                await asyncio.sleep(0.005)
            assert not runs

    run(work())


def test_a_connection_that_went_silent_is_replaced() -> None:
    """Half open: no reset, no end, no answer. One call pays with its time-out, the next gets a new connection."""

    async def work() -> None:
        async with peers() as (ann, bob), bad_stream(bob) as (contact, proxy):
            await ann.call(contact, "echo", bytes(MB), timeout_s=10)
            proxy.is_silent = True
            with pytest.raises(PeerUnreachable):
                await ann.call(contact, "echo", bytes(MB), timeout_s=0.5)
            proxy.is_silent = False
            assert len(await ann.call(contact, "echo", bytes(MB), timeout_s=10)) == MB
            assert proxy.accepted == 2

    run(work())


def test_what_came_by_stream_is_answered_by_stream() -> None:
    """A small answer, a refusal, a large answer: none of them depends on a datagram that may be lost."""

    async def work() -> None:
        async with peers() as (ann, bob), bad_stream(bob) as (contact, proxy):

            async def length(caller: Caller, payload: Payload) -> Payload:
                if payload[0]:
                    raise PeerRefused("not this one")
                return str(len(payload)).encode()

            bob.serve("length", length)
            await ann.call(contact, "echo", bytes(MB), timeout_s=10)
            proxy.path.is_cut = True
            assert await ann.call(contact, "length", bytes(MB), timeout_s=2) == str(MB).encode()
            with pytest.raises(PeerRefused, match="not this one"):
                await ann.call(contact, "length", b"x" * MB, timeout_s=2)
            assert len(await ann.call(contact, "echo", bytes(MB), timeout_s=2)) == MB

    run(work())


def test_a_large_answer_that_takes_long_is_waited_for() -> None:
    """The request goes by datagram and is sent again while its answer is on its way by stream."""

    async def work() -> None:
        async with peers() as (ann, bob), bad_stream(bob) as (contact, proxy):
            runs = 0

            def large(caller: Caller, payload: Payload) -> Payload:
                nonlocal runs
                runs += 1
                return bytes(MB)

            bob.serve("large", large)
            await ann.call(contact, "echo", bytes(MB), timeout_s=10)
            proxy.pause = asyncio.Event()
            task = asyncio.create_task(ann.call(contact, "large", b"", timeout_s=10))
            await asyncio.sleep(1)
            assert not task.done()
            proxy.pause.set()
            assert len(await task) == MB
            assert runs == 1

    run(work())


def test_a_call_whose_answer_comes_by_stream_keeps_no_call_to_others_waiting() -> None:
    async def work() -> None:
        async with (
            peers(1, limits=Limits(max_in_flight=1)) as (ann,),
            peers(2) as (bob, cid),
            bad_stream(bob) as (contact, proxy),
        ):
            bob.serve("large", lambda caller, payload: bytes(MB))
            for each in (contact, cid.address.contact):
                await ann.call(each, "echo", b"", timeout_s=5)
            proxy.pause = asyncio.Event()
            large = asyncio.create_task(ann.call(contact, "large", b"", timeout_s=5))
            await asyncio.sleep(0)
            assert await ann.call(cid.address.contact, "echo", b"x", timeout_s=1) == b"x"
            assert not large.done()
            proxy.pause.set()
            assert len(await large) == MB

    run(work())


def test_a_large_request_is_served_however_many_small_ones_overtake_it() -> None:
    async def work() -> None:
        async with peers() as (ann, bob), bad_stream(bob) as (contact, proxy):
            runs = await _counting(bob)
            await ann.call(contact, "echo", b"", timeout_s=10)
            proxy.pause = asyncio.Event()
            large = asyncio.create_task(ann.call(contact, "once", bytes(MB), timeout_s=40))
            for _ in range(20):
                await asyncio.gather(*(ann.call(contact, "echo", b"", timeout_s=20) for _ in range(60)))
            assert not runs
            proxy.pause.set()
            assert len(await large) == MB
            assert runs == [MB]

    run(work())


def test_more_large_requests_than_may_be_unanswered_wait_for_their_turn() -> None:
    async def work() -> None:
        async with peers() as (ann, bob), bad_stream(bob) as (contact, proxy):
            await ann.call(contact, "echo", b"", timeout_s=10)
            session = ann._sessions.get(contact)
            assert session is not None
            proxy.pause = asyncio.Event()
            # the first is complete last, so that all others overtake it
            sizes = [MB] + [40_000] * (MAX_UNANSWERED + 100)
            calls = [asyncio.create_task(ann.call(contact, "count", bytes(size), timeout_s=40)) for size in sizes]
            small = asyncio.create_task(ann.call(contact, "count", b"", timeout_s=40))
            await asyncio.sleep(0)
            assert len(session.calls) == MAX_UNANSWERED
            proxy.pause.set()
            answers = await asyncio.gather(*calls, small)
            assert {int(bytes(answer)) for answer in answers} == set(range(1, len(sizes) + 2))
            assert not session.waiting

    run(work())


def test_no_tcp_where_udp_works_is_told_at_once() -> None:
    async def work() -> None:
        async with peers() as (ann, bob), bad_stream(bob) as (contact, proxy):
            await proxy.close()
            assert await ann.call(contact, "echo", b"x", timeout_s=5) == b"x"
            with pytest.raises(PeerUnreachable, match="no TCP connection"):
                await ann.call(contact, "echo", bytes(MB), timeout_s=5)

    run(work())


def test_a_recorded_connection_opens_nothing() -> None:
    async def work() -> None:
        async with peers() as (ann, bob), bad_stream(bob) as (contact, proxy):
            await ann.call(contact, "count", bytes(300_000), timeout_s=10)
            served, live = bob.serving.served, len(bob.streams.live)
            reader, writer = await asyncio.open_connection("127.0.0.1", bob.address.port)
            writer.write(bytes(proxy.log))
            with pytest.raises((ConnectionError, asyncio.IncompleteReadError)):
                await reader.readexactly(1000)
            writer.close()
            assert (bob.serving.served, len(bob.streams.live)) == (served, live)

    run(work())


def test_a_flipped_bit_on_a_connection_ends_it() -> None:
    async def work() -> None:
        async with peers() as (ann, bob), bad_stream(bob) as (contact, proxy):
            await ann.call(contact, "count", bytes(300_000), timeout_s=10)
            before = bob.streams.rejected
            stream = next(iter(bob.streams.live))
            writer = proxy._writers[1]
            writer.write(bytes([40, 0, 0, 0, 0, 0, 0, 0, 0]) + bytes(40))
            while stream in bob.streams.live:
                await asyncio.sleep(0.005)
            assert bob.streams.rejected == before + 1
            assert await ann.call(contact, "count", bytes(300_000), timeout_s=10) == b"2"

    run(work())


def test_idle_connections_are_closed_and_stalled_ones_too() -> None:
    async def work() -> None:
        limits = Limits(stream_idle_s=0.05, stream_stall_s=0.1)
        async with peers(limits=limits) as (ann, bob), bad_stream(bob) as (contact, proxy):
            await ann.call(contact, "echo", bytes(MB), timeout_s=10)
            await asyncio.sleep(0.1)
            bob._sweep()
            while bob.streams.live or ann.streams.live:
                await asyncio.sleep(0.005)
            assert len(await ann.call(contact, "echo", bytes(MB), timeout_s=10)) == MB
            task = asyncio.create_task(ann.call(contact, "echo", bytes(40 * MB), timeout_s=10))
            while not bob.serving.load.inbound_bytes:
                await asyncio.sleep(0.001)
            proxy.is_silent = True
            await asyncio.sleep(0.2)
            bob._sweep()
            while bob.serving.load.inbound_bytes:
                await asyncio.sleep(0.005)
            task.cancel()

    run(work())
