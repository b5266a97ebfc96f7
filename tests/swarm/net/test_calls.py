"""Calls between real peers on loopback."""

from __future__ import annotations

import asyncio
import socket
import time
from typing import Any

import pytest

from strobe.errors import CommError, UsageError
from strobe.swarm.net import (
    PLAIN,
    Caller,
    Contact,
    Identity,
    Limits,
    NetworkError,
    Payload,
    PeerBusy,
    PeerId,
    PeerNetwork,
    PeerRefused,
    PeerUnreachable,
)
from strobe.swarm.net.cipher import AES_GCM, Suite
from tests.swarm.net.peers import peers, run


@pytest.mark.parametrize("suite", [AES_GCM, PLAIN])
@pytest.mark.parametrize("size", [0, 1, 1000, 8192, 50_000, 200_000, 3_000_001])
def test_a_payload_of_any_size_comes_back(size: int, suite: Suite) -> None:
    async def work() -> None:
        async with peers(suite=suite) as (ann, bob):
            payload = bytes(i * 7 & 255 for i in range(min(size, 9999))) * (size // 9999 + 1)
            payload = payload[:size]
            assert bytes(await ann.call(bob.address.contact, "echo", payload, timeout_s=10)) == payload
            assert bytes(await bob.call(ann.address.contact, "slow_echo", payload, timeout_s=10)) == payload

    run(work())


def test_one_handshake_serves_both_directions() -> None:
    async def work() -> None:
        async with peers() as (ann, bob):
            for _ in range(3):
                await ann.call(bob.address.contact, "echo", b"x", timeout_s=5)
                await bob.call(ann.address.contact, "echo", b"y", timeout_s=5)
            assert (ann.handshakes.completed, bob.handshakes.completed) == (1, 1)

    run(work())


def test_peers_that_dial_each_other_at_once_share_one_session() -> None:
    async def work() -> None:
        for _ in range(10):
            async with peers() as (ann, bob):
                await asyncio.gather(
                    ann.call(bob.address.contact, "echo", b"x", timeout_s=5),
                    bob.call(ann.address.contact, "echo", b"y", timeout_s=5),
                )
                assert (ann.handshakes.completed, bob.handshakes.completed) == (1, 1)
                assert ann.calls.resends + bob.calls.resends == 0

    run(work())


def test_the_caller_is_who_the_handler_is_told_it_is() -> None:
    async def work() -> None:
        async with peers(3) as (ann, bob, cid):
            seen: list[Caller] = []

            def who(caller: Caller, payload: Payload) -> Payload:
                seen.append(caller)
                return caller.id

            bob.serve("who", who)
            assert await ann.call(bob.address.contact, "who", b"", timeout_s=5) == ann.identity.peer_id
            assert await cid.call(bob.address.contact, "who", b"", timeout_s=5) == cid.identity.peer_id
            assert seen[0].public_key == ann.identity.public_key
            # where it was seen is where it can be called back
            assert seen[0].contact == ann.address.contact
            assert await bob.call(seen[1].contact, "echo", b"hi", timeout_s=5) == b"hi"

    run(work())


def test_another_peer_at_the_dialled_port_is_not_called() -> None:
    async def work() -> None:
        async with peers() as (ann, bob):
            wrong = Contact(PeerId(bytes(20)), *bob.address.contact[1:])
            with pytest.raises(PeerUnreachable, match="did not answer"):
                await ann.call(wrong, "count", b"secret", timeout_s=0.3)
            assert await ann.call(bob.address.contact, "count", b"", timeout_s=5) == b"1"

    run(work())


def test_nobody_there_is_told_in_time() -> None:
    async def work() -> None:
        async with peers(1) as (ann,):
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as silent:
                silent.bind(("127.0.0.1", 0))
                began = time.monotonic()
                with pytest.raises(PeerUnreachable, match="did not answer 'echo'"):
                    await ann.call(Contact(PeerId(bytes(20)), *silent.getsockname()), "echo", b"", timeout_s=0.2)
                assert 0.15 < time.monotonic() - began < 5
            assert not ann.calls.live
            await asyncio.sleep(0.1)
            assert not ann.handshakes.dials

    run(work())


def test_sealed_and_plain_peers_do_not_talk() -> None:
    async def work() -> None:
        async with peers(1) as (ann,), peers(1, suite=PLAIN) as (bob,):
            for one, other in ((ann, bob), (bob, ann)):
                with pytest.raises(PeerUnreachable):
                    await one.call(other.address.contact, "echo", b"", timeout_s=0.2)

    run(work())


def test_refusals_reach_the_caller_as_they_are() -> None:
    async def work() -> None:
        async with peers() as (ann, bob):

            def refuses(caller: Caller, payload: Payload) -> Payload:
                raise PeerRefused("not for you")

            async def is_busy(caller: Caller, payload: Payload) -> Payload:
                raise PeerBusy("come back", 2.5)

            bob.serve("refuses", refuses)
            bob.serve("is_busy", is_busy)
            contact = bob.address.contact
            with pytest.raises(PeerRefused, match="not for you") as refused:
                await ann.call(contact, "refuses", b"", timeout_s=5)
            assert refused.value.retry_after_s is None
            for payload in (b"", bytes(300_000)):
                with pytest.raises(PeerBusy, match="come back") as busy:
                    await ann.call(contact, "is_busy", payload, timeout_s=5)
                assert busy.value.retry_after_s == 2.5
            with pytest.raises(PeerRefused, match="no method 'nope'"):
                await ann.call(contact, "nope", b"", timeout_s=5)

    run(work())


@pytest.mark.parametrize("size", [0, 100_000])
@pytest.mark.parametrize("answer", [None, "text"])
def test_a_handler_that_returns_no_bytes_is_a_handler_that_failed(size: int, answer: object) -> None:
    async def work() -> None:
        async with peers() as (ann, bob):

            def wrong(caller: Caller, payload: Payload) -> Any:
                return answer

            async def wrong_later(caller: Caller, payload: Payload) -> Any:
                return answer

            bob.serve("wrong", wrong)
            bob.serve("wrong_later", wrong_later)
            for method in ("wrong", "wrong_later"):
                with pytest.raises(PeerRefused, match=f"the handler of '{method}' failed"):
                    await ann.call(bob.address.contact, method, bytes(size), timeout_s=2)
            (session,) = bob._sessions._all
            assert (session.running, session.account.running, bob.serving.load.inbound_bytes) == (0, 0, 0)
            assert (bob.serving.served, bob.serving.failed) == (0, 2)

    run(work())


def test_a_fault_in_a_handler_is_logged_here_and_not_told_there(caplog: pytest.LogCaptureFixture) -> None:
    async def work() -> None:
        async with peers() as (ann, bob):

            def breaks(caller: Caller, payload: Payload) -> Payload:
                raise KeyError("internal detail")

            async def breaks_later(caller: Caller, payload: Payload) -> Payload:
                await asyncio.sleep(0)
                raise KeyError("internal detail")

            bob.serve("breaks", breaks)
            bob.serve("breaks_later", breaks_later)
            for method in ("breaks", "breaks_later"):
                with pytest.raises(PeerRefused, match="the handler of") as refused:
                    await ann.call(bob.address.contact, method, b"", timeout_s=5)
                assert "internal detail" not in str(refused.value)
            assert await ann.call(bob.address.contact, "echo", b"!", timeout_s=5) == b"!"
            assert bob.serving.failed == 2

    run(work())
    assert caplog.text.count("internal detail") >= 2


@pytest.mark.parametrize("size", [10, 300_000])
def test_cancelling_a_call_cancels_the_handler(size: int) -> None:
    async def work() -> None:
        async with peers() as (ann, bob):
            started, ended = asyncio.Event(), asyncio.Event()

            async def hangs(caller: Caller, payload: Payload) -> Payload:
                started.set()
                try:
                    await asyncio.Event().wait()
                finally:
                    ended.set()
                return b""

            bob.serve("hangs", hangs)
            task = asyncio.create_task(ann.call(bob.address.contact, "hangs", bytes(size), timeout_s=30))
            await asyncio.wait_for(started.wait(), 5)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await asyncio.wait_for(ended.wait(), 5)
            assert not ann.calls.live
            assert await ann.call(bob.address.contact, "echo", b"!", timeout_s=5) == b"!"
            assert bob.serving.load.inbound_bytes == 0

    run(work())


def test_a_peer_that_asks_too_fast_is_told_when_to_come_back() -> None:
    async def work() -> None:
        async with peers(limits=Limits(requests_per_s=10, burst=5)) as (ann, bob):
            contact = bob.address.contact
            for _ in range(5):
                await ann.call(contact, "echo", b"", timeout_s=5)
            with pytest.raises(PeerBusy, match="10 requests per second") as busy:
                await ann.call(contact, "count", b"", timeout_s=5)
            assert 0 < busy.value.retry_after_s <= 0.1
            await asyncio.sleep(busy.value.retry_after_s + 0.05)
            assert await ann.call(contact, "count", b"", timeout_s=5) == b"1"

    run(work())


def test_too_many_requests_at_once_are_refused_and_the_rest_are_served() -> None:
    async def work() -> None:
        async with peers(limits=Limits(max_running_per_peer=4)) as (ann, bob):
            calls = [ann.call(bob.address.contact, "slow_echo", b"x", timeout_s=5) for _ in range(10)]
            answers = await asyncio.gather(*calls, return_exceptions=True)
            assert sum(answer == b"x" for answer in answers) == 4
            assert sum(isinstance(answer, PeerBusy) for answer in answers) == 6

    run(work())


def test_a_burst_of_calls_loses_nothing_and_repeats_nothing() -> None:
    async def work() -> None:
        async with peers(6) as (ann, *others):
            payloads = [f"{i}".encode() * 200 for i in range(1500)]
            calls = [
                ann.call(others[i % 5].address.contact, "echo", payload, timeout_s=20)
                for i, payload in enumerate(payloads)
            ]
            assert await asyncio.gather(*calls) == payloads
            assert sum(other.serving.served for other in others) == 1500
            assert not ann.calls.live

    run(work())


def test_too_many_calls_of_ones_own_are_refused_here() -> None:
    async def work() -> None:
        async with peers(limits=Limits(max_calls=10)) as (ann, bob):
            calls = [ann.call(bob.address.contact, "slow_echo", b"", timeout_s=5) for _ in range(11)]
            answers = await asyncio.gather(*calls, return_exceptions=True)
            assert [type(answer) for answer in answers] == [bytes] * 10 + [NetworkError]

    run(work())


@pytest.mark.skipif(not socket.has_ipv6, reason="no IPv6 here")
def test_ipv6_and_names_and_other_spellings() -> None:
    async def work() -> None:
        async with peers(hosts=("127.0.0.1", "::1")) as (ann, bob):
            assert [contact.host for contact in bob.address.contacts] == ["127.0.0.1", "::1"]
            for contact in bob.address.contacts:
                for payload in (b"x", bytes(300_000)):
                    assert bytes(await ann.call(contact, "echo", payload, timeout_s=5)) == payload
            id_, port = bob.identity.peer_id, bob.address.port
            for host in ("localhost", "0:0:0:0:0:0:0:1"):
                assert await ann.call(Contact(id_, host, port), "echo", b"y", timeout_s=5) == b"y"
            assert ann.handshakes.completed == 2
            with pytest.raises(PeerUnreachable, match="not known"):
                await ann.call(Contact(id_, "no-such-host.invalid", port), "echo", b"y", timeout_s=5)
        async with peers(1) as (ann,), peers(1, hosts=("::1",)) as (bob,):
            with pytest.raises(PeerUnreachable, match="family"):
                await ann.call(bob.address.contact, "echo", b"", timeout_s=1)

    run(work())


def test_a_method_that_is_taken_away_is_refused_and_what_it_works_on_is_answered() -> None:
    async def work() -> None:
        async with peers() as (ann, bob):
            contact, started = bob.address.contact, asyncio.Event()

            async def slow(caller: Caller, payload: Payload) -> Payload:
                started.set()
                await asyncio.sleep(0.05)
                return b"old"

            bob.serve("slow", slow)
            call = asyncio.create_task(ann.call(contact, "slow", b"", timeout_s=5))
            await started.wait()
            bob.unserve("slow")
            with pytest.raises(PeerRefused, match="no method 'slow'"):
                await ann.call(contact, "slow", b"", timeout_s=5)
            assert await call == b"old"
            bob.serve("slow", lambda caller, payload: b"new")
            assert await ann.call(contact, "slow", b"", timeout_s=5) == b"new"

    run(work())


def test_misuse_is_named() -> None:
    async def work() -> None:
        async with peers(limits=Limits(max_payload=1000)) as (ann, bob):
            with pytest.raises(UsageError, match="served already"):
                bob.serve("echo", lambda caller, payload: payload)
            with pytest.raises(UsageError, match="'nope' is not served"):
                bob.unserve("nope")
            for method in ("", "x" * 65, "é"):
                with pytest.raises(UsageError):
                    bob.serve(method, lambda caller, payload: payload)
            with pytest.raises(PeerRefused, match="over the limit of 1000"):
                await ann.call(bob.address.contact, "echo", bytes(1001), timeout_s=1)
            with pytest.raises(PeerUnreachable, match="itself"):
                await ann.call(ann.address.contact, "echo", b"", timeout_s=1)
            with pytest.raises(CommError, match="choose another"):
                await PeerNetwork.listen(Identity.generate(), port=bob.address.port)
            with pytest.raises(UsageError):
                await PeerNetwork.listen(Identity.generate(), ())

    run(work())


def test_closing_fails_what_is_outstanding_and_frees_the_port() -> None:
    async def work() -> None:
        async with peers() as (ann, bob):
            call = asyncio.create_task(ann.call(bob.address.contact, "slow_echo", b"", timeout_s=30))
            large = asyncio.create_task(ann.call(bob.address.contact, "slow_echo", bytes(500_000), timeout_s=30))
            await asyncio.sleep(0.02)
            await ann.close()
            for task in (call, large):
                with pytest.raises(PeerUnreachable, match="closed"):
                    await task
            with pytest.raises(PeerUnreachable, match="closed"):
                await ann.call(bob.address.contact, "echo", b"", timeout_s=1)
            again = await PeerNetwork.listen(Identity.generate(), port=ann.address.port)
            await again.close()

    run(work())


def test_a_call_is_begun_at_once_where_a_session_is() -> None:
    async def work() -> None:
        async with peers() as (ann, bob):
            contact = bob.address.contact
            assert ann.begin(contact, "echo", b"x", timeout_s=5) is None, "they have not met"
            assert not ann.calls.live
            await ann.call(contact, "echo", b"x", timeout_s=5)
            begun = ann.begin(contact, "echo", b"x", timeout_s=5)
            assert begun is not None
            assert await begun == b"x"
            refused = ann.begin(contact, "nope", b"", timeout_s=5)
            assert refused is not None
            with pytest.raises(PeerRefused, match="no method"):
                await refused
            late = ann.begin(contact, "slow_echo", b"x", timeout_s=0.01)
            assert late is not None
            with pytest.raises(PeerUnreachable):
                await late
            given_up = ann.begin(contact, "slow_echo", b"x", timeout_s=5)
            assert given_up is not None
            given_up.cancel()
            await asyncio.sleep(0)
            assert not ann.calls.live
            with pytest.raises(PeerRefused, match="over the limit"):
                ann.begin(contact, "echo", bytes(1 << 30), timeout_s=5)
            assert not ann.calls.live
            ended = ann.begin(contact, "slow_echo", b"x", timeout_s=5)
            assert ended is not None
            await ann.close()
            with pytest.raises(PeerUnreachable, match="closed"):
                await ended

    run(work())
