"""The gate: how many are let in, how many bytes they may hold together, and when the others may come back."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress

import httpx
import pytest

from strobe.server.gate import Gate
from strobe.server.problem import Problem
from strobe.wire import BATCHES
from strobe.wire.batch import encode_batch
from tests.server.conftest import Stage
from tests.server.test_ingest import batch_of


def test_so_many_at_once() -> None:
    gate = Gate(2)
    with gate.enter(), gate.enter():
        with pytest.raises(Problem, match="2 are being taken in") as refusal, gate.enter():
            pass
        assert refusal.value.status == 429
        assert int(refusal.value.headers["Retry-After"]) >= 1
    with gate.enter():
        assert gate.inside == 1


def test_so_many_bytes_at_once() -> None:
    gate = Gate(10, max_bytes=100)
    with gate.enter() as first, gate.enter() as second:
        first.hold(60)
        second.hold(40)
        with pytest.raises(Problem, match="100 bytes are being taken in"):
            second.hold(41)
        second.hold(10)
        first.hold(90)
        assert gate.held_bytes == 100
    assert gate.held_bytes == 0


def test_who_is_alone_always_has_room() -> None:
    gate = Gate(10, max_bytes=100)
    with gate.enter() as alone, gate.enter() as other:
        alone.hold(1000)
        with pytest.raises(Problem):
            other.hold(1)
        alone.hold(0)
        other.hold(1)


def test_a_refusal_lets_go_of_what_was_held() -> None:
    gate = Gate(10, max_bytes=100)
    with gate.enter() as first:
        first.hold(60)
        with suppress(Problem), gate.enter() as second:
            second.hold(30)
            second.hold(50)
            raise AssertionError("there was no room for that")
        assert (gate.inside, gate.held_bytes) == (1, 60)


def test_large_batches_at_once_are_sent_away_and_come_back(stage: Stage) -> None:
    gate = Gate(64, max_bytes=200_000)
    object.__setattr__(stage.services, "gate", gate)
    rows = [{"text": "x" * 1000} for _ in range(150)]
    bodies = [encode_batch(batch_of(rows, first=number * 150)) for number in range(2)]
    headers = {"Authorization": f"Bearer {stage.key('ann')}", "Content-Type": BATCHES}
    go_on = asyncio.Event()

    async def in_two(body: bytes) -> AsyncIterator[bytes]:
        yield body[:-10]
        await go_on.wait()
        yield body[-10:]

    async def use(client: httpx.AsyncClient) -> None:
        slow = asyncio.create_task(client.post("/api/v1/ingest", content=in_two(bodies[0]), headers=headers))
        while not gate.held_bytes:
            await asyncio.sleep(0.01)
        refused = await client.post("/api/v1/ingest", content=bodies[1], headers=headers)
        assert (refused.status_code, int(refused.headers["Retry-After"]) >= 1) == (429, True), refused.text
        go_on.set()
        assert (await slow).json()["acks"][0]["status"] == "stored"
        again = await client.post("/api/v1/ingest", content=bodies[1], headers=headers)
        assert again.json()["acks"][0]["next"] == 300
        assert (gate.inside, gate.held_bytes) == (0, 0)

    stage.run(use)


def test_large_documents_at_once_are_sent_away_and_small_ones_are_not(stage: Stage) -> None:
    gate = Gate(1 << 30, "held", max_bytes=200_000)
    object.__setattr__(stage.services, "bodies", gate)
    headers = {"Authorization": f"Bearer {stage.key('ann')}", "Content-Type": "application/json"}
    large = b'{"runs": [' + b" " * 150_000 + b"]}"
    go_on = asyncio.Event()

    async def in_two() -> AsyncIterator[bytes]:
        yield large[:-1]
        await go_on.wait()
        yield large[-1:]

    async def use(client: httpx.AsyncClient) -> None:
        async def send(body: bytes | AsyncIterator[bytes]) -> int:
            answer = await client.post("/api/v1/heartbeat", content=body, headers=headers)
            return answer.status_code

        slow = asyncio.create_task(send(in_two()))
        while not gate.held_bytes:
            await asyncio.sleep(0.01)
        assert await send(large) == 429
        assert await send(b'{"runs": []}') == 200
        go_on.set()
        assert (await slow, await send(large)) == (200, 200)

    stage.run(use)
