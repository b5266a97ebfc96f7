"""Calls over a path that loses, doubles and reorders, and to peers that vanish and come back."""

from __future__ import annotations

import asyncio
import time

import pytest

from strobe.swarm.net import Caller, Identity, Payload, PeerNetwork, PeerUnreachable
from strobe.swarm.net import message as m
from strobe.swarm.net.identity import peer_text
from strobe.swarm.net.session import Session
from tests.swarm.net.peers import bad_path, peers, run, serve_echo


def test_calls_get_through_and_handlers_run_once() -> None:
    """A fifth lost, a fifth doubled, all reordered: every call is answered and none is handled twice."""

    async def work() -> None:
        async with peers() as (ann, bob), bad_path(bob, loss=0.2, doubles=0.2, delay_s=0.01) as (contact, _):
            handled: list[bytes] = []

            async def note(caller: Caller, payload: Payload) -> Payload:
                handled.append(bytes(payload))
                await asyncio.sleep(0.001)
                return payload

            bob.serve("note", note)
            payloads = [f"{i:04} ".encode() * (1 + i % 9 * 700) for i in range(120)]
            answers = await asyncio.gather(*(ann.call(contact, "note", each, timeout_s=30) for each in payloads))
            assert answers == payloads
            assert sorted(handled) == sorted(payloads)
            assert ann.calls.resends > 0

    run(work())


@pytest.mark.parametrize("size", [2000, 20_000])
def test_a_reply_is_still_there_after_a_path_was_down_for_longer_than_a_few_sweeps(size: int) -> None:
    async def work() -> None:
        async with peers() as (ann, bob), bad_path(bob) as (contact, path):
            handled = asyncio.Event()

            def answer(caller: Caller, payload: Payload) -> Payload:
                assert not handled.is_set()
                path.is_cut = True  # the reply is the first that gets lost
                handled.set()
                return bytes(size)

            bob.serve("answer", answer)
            await ann.call(contact, "echo", b"", timeout_s=10)
            path.log.clear()
            call = asyncio.create_task(ann.call(contact, "answer", b"", timeout_s=30))
            await handled.wait()
            while sum(map(len, path.log)) < size:
                await asyncio.sleep(0.005)
            for _ in range(5):
                bob._sessions.sweep(time.monotonic())
            path.is_cut = False
            assert await call == bytes(size)

    run(work())


def test_parts_of_a_reply_are_kept_while_the_rest_is_sent_again() -> None:
    """However long the call has been waiting: a session is swept as quiet when nothing began on it for a while."""

    async def work() -> None:
        async with peers() as (ann, bob):
            begun = asyncio.Event()

            async def never(caller: Caller, payload: Payload) -> Payload:
                begun.set()
                await asyncio.Event().wait()
                return b""

            bob.serve("never", never)
            call = asyncio.create_task(ann.call(bob.address.contact, "never", b"", timeout_s=10))
            await begun.wait()
            (theirs,) = (each for each in bob._sessions.indices.values() if isinstance(each, Session))
            ours = ann._sessions.get(bob.address.contact)
            assert ours is not None
            (number,) = ours.calls
            for part in m.parts(number, True, m.reply(number, bytes(3000)), 1000):
                ann.incoming.on_datagram(theirs.seal(part), ours.address, ann._ports[0])
                ann._sessions.sweep(ours.used + 10)
            assert await call == bytes(3000)

    run(work())


def test_the_handshake_survives_a_bad_path() -> None:
    async def work() -> None:
        for seed in range(6):
            async with peers() as (ann, bob), bad_path(bob, loss=0.3, doubles=0.3, delay_s=0.02, seed=seed) as (at, _):
                assert await ann.call(at, "echo", b"x", timeout_s=20) == b"x"
                assert ann.handshakes.completed == 1

    run(work())


def test_recorded_datagrams_do_nothing_when_sent_again() -> None:
    async def work() -> None:
        async with peers() as (ann, bob), bad_path(bob) as (contact, path):
            for expected in (b"1", b"2", b"3"):
                assert await ann.call(contact, "count", b"", timeout_s=5) == expected
            served, sessions, recorded = bob.serving.served, bob.num_sessions, list(path.log)
            for packet in recorded:
                path.datagram_received(packet, ("127.0.0.1", ann.address.port))
            await asyncio.sleep(0.1)
            assert (bob.serving.served, bob.num_sessions) == (served, sessions)
            assert await ann.call(contact, "count", b"", timeout_s=5) == b"4"

    run(work())


def test_nothing_readable_goes_over_the_path() -> None:
    async def work() -> None:
        async with peers() as (ann, bob), bad_path(bob) as (contact, path):
            secret = b"a secret that nobody else may read"
            await ann.call(contact, "echo", secret, timeout_s=5)
            seen = b"".join(path.log)
            assert len(seen) > 300
            for word in (secret, b"echo", ann.identity.public_key, bob.identity.public_key):
                assert word not in seen

    run(work())


def test_a_forged_datagram_is_dropped() -> None:
    async def work() -> None:
        async with peers() as (ann, bob), bad_path(bob) as (contact, path):
            await ann.call(contact, "count", b"", timeout_s=5)
            genuine = next(packet for packet in reversed(path.log) if packet[0] == 6)
            for position in range(5, len(genuine)):
                forged = bytearray(genuine)
                forged[position] ^= 0x40
                path.datagram_received(bytes(forged), ("127.0.0.1", ann.address.port))
            await asyncio.sleep(0.05)
            assert await ann.call(contact, "count", b"", timeout_s=5) == b"2"

    run(work())


def test_a_dead_path_is_told_in_time_and_works_when_it_is_back() -> None:
    async def work() -> None:
        async with peers() as (ann, bob), bad_path(bob) as (contact, path):
            assert await ann.call(contact, "count", b"", timeout_s=5) == b"1"
            path.is_cut = True
            with pytest.raises(PeerUnreachable, match=peer_text(contact.id)):
                await ann.call(contact, "count", b"", timeout_s=0.4)
            path.is_cut = False
            assert await ann.call(contact, "count", b"", timeout_s=5) == b"2"

    run(work())


@pytest.mark.parametrize("size", [10, 300_000])
def test_a_peer_that_came_back_is_reached_without_waiting_for_a_time_out(size: int) -> None:
    """Same identity, same port, no memory of the session: it says so, and hands are shaken again."""

    async def work() -> None:
        identity = Identity.generate()
        async with peers(1) as (ann,):
            bob = await PeerNetwork.listen(identity)
            serve_echo(bob)
            contact = bob.address.contact
            assert bytes(await ann.call(contact, "echo", bytes(size), timeout_s=5)) == bytes(size)
            await bob.close()
            bob = await PeerNetwork.listen(identity, port=contact.port)
            serve_echo(bob)
            try:
                assert bytes(await ann.call(contact, "echo", bytes(size), timeout_s=5)) == bytes(size)
                assert ann.handshakes.completed == 2
            finally:
                await bob.close()

    run(work())


def test_a_peer_that_is_gone_is_told_in_time() -> None:
    async def work() -> None:
        async with peers() as (ann, bob):
            contact = bob.address.contact
            for payload in (b"x", bytes(300_000)):
                await ann.call(contact, "echo", payload, timeout_s=5)
            await bob.close()
            for payload in (b"x", bytes(300_000)):
                with pytest.raises(PeerUnreachable):
                    await ann.call(contact, "echo", payload, timeout_s=0.5)
            assert not ann.calls.live

    run(work())


def test_a_slow_handler_is_not_flooded_with_repeats() -> None:
    async def work() -> None:
        async with peers() as (ann, bob):
            runs = 0

            async def slow(caller: Caller, payload: Payload) -> Payload:
                nonlocal runs
                runs += 1
                await asyncio.sleep(1.2)
                return b"done"

            bob.serve("slow", slow)
            assert await ann.call(bob.address.contact, "slow", b"", timeout_s=10) == b"done"
            assert runs == 1
            assert ann.calls.resends <= 2

    run(work())


def test_a_slow_handler_does_not_make_the_path_slow() -> None:
    async def work() -> None:
        async with peers() as (ann, bob):

            async def slow(caller: Caller, payload: Payload) -> Payload:
                await asyncio.sleep(1.2)
                return payload

            bob.serve("slow", slow)
            contact = bob.address.contact
            for _ in range(10):
                await ann.call(contact, "echo", b"", timeout_s=5)
            [session] = [each for each in ann._sessions.indices.values() if isinstance(each, Session)]
            before = session.round_trip.timeout_s
            await ann.call(contact, "slow", b"", timeout_s=10)
            assert ann.calls.resends, "it was asked whether it works on it"
            assert session.round_trip.timeout_s == before < 0.5

    run(work())


def test_what_was_sent_after_a_pause_is_not_held_back_by_it() -> None:
    async def work() -> None:
        async with peers() as (ann, bob):
            contact = bob.address.contact
            await ann.call(contact, "echo", b"", timeout_s=5)
            early = ann.begin(contact, "slow_echo", b"", timeout_s=5)
            time.sleep(0.5)
            late = ann.begin(contact, "slow_echo", b"", timeout_s=5)
            assert early is not None
            assert late is not None
            waits = {call.future: call.resend_at - call.sent_at for call in ann.calls.live}
            ann._tick()
            now_waits = {call.future: call.resend_at - call.sent_at for call in ann.calls.live}
            assert now_waits[early] > waits[early] + 0.3
            assert now_waits[late] < waits[late] + 0.1
            await asyncio.gather(early, late)

    run(work())


def test_a_process_that_is_busy_itself_does_not_take_others_for_slow() -> None:
    async def work() -> None:
        async with peers() as (ann, bob):

            async def soon(caller: Caller, payload: Payload) -> Payload:
                for _ in range(2):
                    await asyncio.sleep(0)
                return b"done"

            async def keep_busy() -> None:
                while True:
                    time.sleep(0.08)
                    await asyncio.sleep(0)

            bob.serve("soon", soon)
            for _ in range(10):  # so that it knows how quick the peer is
                await ann.call(bob.address.contact, "soon", b"", timeout_s=10)
            busy = asyncio.create_task(keep_busy())
            for _ in range(3):
                await ann.call(bob.address.contact, "soon", b"", timeout_s=10)
            busy.cancel()
            assert ann.calls.resends == 0

    run(work())


def test_a_session_on_which_nothing_came_back_is_not_used_again() -> None:
    """The peer may have been started anew, with so much junk at its door that it cannot say so."""

    async def work() -> None:
        async with peers() as (ann, bob), bad_path(bob) as (contact, path):
            release = asyncio.Event()

            async def waits(caller: Caller, payload: Payload) -> Payload:
                await release.wait()
                return b""

            bob.serve("waits", waits)
            for _ in range(10):  # so that the time-out is short
                await ann.call(contact, "echo", b"", timeout_s=5)
            session = ann._sessions.get(contact)
            with pytest.raises(PeerUnreachable):
                await ann.call(contact, "waits", b"", timeout_s=0.5)
            assert ann._sessions.get(contact) is session  # it said that it is working
            path.is_cut = True
            with pytest.raises(PeerUnreachable):
                await ann.call(contact, "echo", b"", timeout_s=0.5)
            path.is_cut = False
            assert ann._sessions.get(contact) is None
            assert await ann.call(contact, "echo", b"x", timeout_s=5) == b"x"
            assert ann.handshakes.completed == 2

    run(work())
