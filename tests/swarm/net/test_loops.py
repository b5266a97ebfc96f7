"""The same scenes on every kind of loop: uvloop, and one that cannot watch sockets (as on Windows)."""

from __future__ import annotations

import asyncio
import runpy
import socket
import sys
from collections.abc import Callable
from typing import Any

import pytest

from strobe.swarm.net import Caller, Payload, PeerUnreachable
from strobe.swarm.net import loop as peer_loop
from tests.swarm.net.peers import bad_stream, peers, run

NewLoop = Callable[[], asyncio.AbstractEventLoop]


class NoReaders(asyncio.SelectorEventLoop):
    """Refuses what Windows' loop refuses."""

    def add_reader(self, *args: Any) -> None:  # type: ignore[override]  # it takes whatever, and refuses
        raise NotImplementedError


@pytest.fixture(params=["asyncio", "uvloop", "no readers"])
def new_loop(request: pytest.FixtureRequest) -> NewLoop:
    if request.param == "uvloop":
        uvloop = pytest.importorskip("uvloop")
        made: NewLoop = uvloop.new_event_loop
        return made
    return asyncio.new_event_loop if request.param == "asyncio" else NoReaders


def test_calls_small_and_large(new_loop: NewLoop) -> None:
    async def work() -> None:
        async with peers(3) as (ann, *others):
            payloads = [bytes([i]) * size for i, size in enumerate([0, 10, 5000, 30_000, 70_000, 1 << 20] * 4)]
            calls = [
                ann.call(others[i % 2].address.contact, ("echo", "slow_echo")[i // 2 % 2], each, timeout_s=20)
                for i, each in enumerate(payloads)
            ]
            assert [bytes(answer) for answer in await asyncio.gather(*calls)] == payloads

    run(work(), new_loop)


def test_cuts_cancellations_and_the_end(new_loop: NewLoop) -> None:
    async def work() -> None:
        async with peers() as (ann, bob), bad_stream(bob) as (contact, proxy):
            proxy.cut_after = 1 << 20
            payload = bytes(4 << 20)
            assert await ann.call(contact, "echo", payload, timeout_s=20) == payload
            tasks = [
                asyncio.create_task(ann.call(contact, "slow_echo", bytes(size), timeout_s=20))
                for size in (10, 1 << 20, 30 << 20)
            ]
            await asyncio.sleep(0.02)
            for task in tasks:
                task.cancel()
            assert all(
                isinstance(each, asyncio.CancelledError)
                for each in await asyncio.gather(*tasks, return_exceptions=True)
            )
            last = asyncio.create_task(ann.call(contact, "slow_echo", payload, timeout_s=20))
            await asyncio.sleep(0.01)
            await ann.close()
            with pytest.raises(PeerUnreachable):
                await last

    run(work(), new_loop)


def test_a_request_that_is_cancelled_before_its_handler_began_leaves_nothing(new_loop: NewLoop) -> None:
    async def work() -> None:
        async with peers() as (ann, bob):
            began = False

            async def handler(caller: Caller, payload: Payload) -> Payload:
                nonlocal began
                began = True
                return b""

            bob.serve("never", handler)
            await ann.call(bob.address.contact, "echo", b"", timeout_s=5)
            task = asyncio.create_task(ann.call(bob.address.contact, "never", b"", timeout_s=5))
            await asyncio.sleep(0)
            task.cancel()  # request and cancellation are read in one turn
            await asyncio.gather(task, return_exceptions=True)
            await asyncio.sleep(0.05)
            assert not bob.serving._tasks
            assert await ann.call(bob.address.contact, "echo", b"y", timeout_s=5) == b"y"

    run(work(), new_loop)


def test_the_loop_for_peers_runs_and_closes() -> None:
    async def work() -> str:
        return type(asyncio.get_running_loop()).__module__

    assert peer_loop.run(work()).split(".")[0] in ("uvloop", "asyncio")


def test_without_uvloop_the_loop_for_peers_watches_sockets_whatever_is_usual(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where it does not, as on Windows, one datagram that comes back as undeliverable makes a node deaf."""
    monkeypatch.setitem(sys.modules, "uvloop", None)
    monkeypatch.setattr(asyncio, "new_event_loop", NoReaders)
    made = runpy.run_path(peer_loop.__file__)["new_event_loop"]()
    ours, theirs = socket.socketpair()
    try:
        with ours, theirs:
            made.add_reader(ours, made.stop)
            theirs.send(b"x")
            made.run_forever()
            made.remove_reader(ours)
    finally:
        made.close()
