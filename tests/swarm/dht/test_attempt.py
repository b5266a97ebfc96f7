"""Jobs that need a task only when their first attempt fails."""

from __future__ import annotations

import asyncio
import threading

import pytest

from strobe.swarm.dht import DHT, DhtStopped, Node
from strobe.swarm.dht.attempt import Attempt


def _future() -> asyncio.Future[int]:
    return asyncio.get_running_loop().create_future()


def _attempt(first: asyncio.Future[int], result: int | None) -> Attempt[int]:
    async def otherwise() -> int:
        try:
            return await first
        except ZeroDivisionError:
            if result is None:
                raise
            return result

    return Attempt(first, otherwise)


def _soon(node: Node) -> Attempt[int]:
    first = _future()
    asyncio.get_running_loop().call_soon(first.set_result, 1)
    return _attempt(first, None)


def _failing(result: int | None, node: Node) -> Attempt[int]:
    first = _future()
    asyncio.get_running_loop().call_soon(first.set_exception, ZeroDivisionError("on purpose"))
    return _attempt(first, result)


async def _awaiting(attempt: Attempt[int]) -> int:
    return await attempt


def test_an_attempt_is_its_future_or_what_is_awaited_in_its_place() -> None:
    with DHT() as dht:
        assert dht.run_coroutine(_soon) == 1
        assert dht.run_coroutine(lambda node: _failing(2, node)) == 2
        with pytest.raises(ZeroDivisionError):
            dht.run_coroutine(lambda node: _failing(None, node))
        assert dht.run_coroutine(lambda node: _awaiting(_soon(node))) == 1
        assert dht.run_coroutine(lambda node: _awaiting(_failing(2, node))) == 2
        with pytest.raises(ZeroDivisionError):
            dht.run_coroutine(lambda node: _awaiting(_failing(None, node)))


def test_a_job_that_fails_before_there_is_anything_to_wait_for_tells_so() -> None:
    def fails(node: Node) -> Attempt[int]:
        raise ZeroDivisionError("on purpose")

    with DHT() as dht, pytest.raises(ZeroDivisionError):
        dht.run_coroutine(fails)


def test_a_reply_that_was_cancelled_before_its_turn_is_not_begun() -> None:
    begun: list[Node] = []
    entered, go_on = threading.Event(), threading.Event()

    async def blocks(node: Node) -> None:
        entered.set()
        go_on.wait(10)

    async def begins(node: Node) -> None:
        begun.append(node)

    with DHT() as dht:
        blocking = dht.run_coroutine(blocks, return_future=True)
        assert entered.wait(10)
        reply = dht.run_coroutine(begins, return_future=True)
        assert reply.cancel()
        go_on.set()
        blocking.result(10)
        dht.run_coroutine(_soon)
    assert not begun


def test_two_jobs_may_wait_for_one_future() -> None:
    shared: list[asyncio.Future[int]] = []

    def waits(node: Node) -> asyncio.Future[int]:
        shared.append(shared[0] if shared else _future())
        return shared[0]

    async def ends(node: Node) -> None:
        shared[0].set_result(3)

    with DHT() as dht:
        replies = [dht.run_coroutine(waits, return_future=True) for _ in range(2)]
        dht.run_coroutine(ends)
        assert [reply.result(10) for reply in replies] == [3, 3]


def test_an_attempt_ends_when_its_reply_is_cancelled_and_when_the_dht_is_shut_down() -> None:
    begun: list[asyncio.Future[int]] = []
    is_cancelled = threading.Event()

    def begin(node: Node) -> Attempt[int]:
        begun.append(first := _future())
        first.add_done_callback(lambda _: is_cancelled.set())
        return _attempt(first, 2)

    with DHT() as dht:
        reply = dht.run_coroutine(begin, return_future=True)
        dht.run_coroutine(_soon)  # so that it has begun
        assert reply.cancel()
        assert is_cancelled.wait(10)
        assert begun[0].cancelled()
        reply = dht.run_coroutine(begin, return_future=True)
    with pytest.raises(DhtStopped):
        reply.result(10)
