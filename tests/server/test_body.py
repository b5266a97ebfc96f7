"""Bodies: limits hold for what is claimed, what comes, and what it decompresses to."""

from __future__ import annotations

import asyncio
import gzip
import zlib
from collections.abc import AsyncIterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.types import Message, Receive

from strobe.server.body import LimitedReceive, decompressed
from strobe.server.endpoint import Call, endpoint
from strobe.server.problem import Problem
from strobe.server.services import Limits, ServerSettings
from tests.server.conftest import Stage


@endpoint("POST", "/count", access="open", tag="t", returns=int, consumes="application/octet-stream")
async def count(call: Call) -> int:
    return sum([len(piece) async for piece in call.stream()])


@pytest.fixture
def here(stage: Stage) -> Stage:
    stage.open(ServerSettings(limits=Limits(json_bytes=10_000, decompressed_bytes=1_000_000)))
    stage.serve(count)
    return stage


async def pieces(body: bytes, size: int = 1000) -> AsyncIterator[bytes]:
    for start in range(0, len(body), size):
        yield body[start : start + size]


def test_up_to_the_limit_and_not_beyond(here: Stage) -> None:
    assert here.ask("POST", "/count", content=bytes(10_000)).json() == 10_000
    answer = here.ask("POST", "/count", content=bytes(10_001))
    assert answer.status_code == 413
    assert answer.headers["connection"] == "close"
    assert "10001 bytes" in answer.json()["detail"]


def test_a_body_without_a_length_is_counted_as_it_comes(here: Stage) -> None:
    assert here.ask("POST", "/count", content=pieces(bytes(10_000))).json() == 10_000
    assert here.ask("POST", "/count", content=pieces(bytes(10_001))).status_code == 413


def test_a_length_that_lies_does_not_help(here: Stage) -> None:
    answer = here.ask("POST", "/count", content=pieces(bytes(20_000)), headers={"Content-Length": "5"})
    assert answer.status_code == 413


def test_gzip_is_unpacked_up_to_its_own_limit(here: Stage) -> None:
    headers = {"Content-Encoding": "gzip"}
    assert here.ask("POST", "/count", content=gzip.compress(bytes(1_000_000)), headers=headers).json() == 1_000_000
    bomb = here.ask("POST", "/count", content=gzip.compress(bytes(1_000_001)), headers=headers)
    assert bomb.status_code == 413
    assert "decompresses" in bomb.json()["detail"]


@pytest.mark.parametrize(
    "body", [b"not gzip", gzip.compress(b"x" * 5000)[:-3], gzip.compress(b"x")[:5]], ids=["other", "cut", "head"]
)
def test_what_is_not_gzip(here: Stage, body: bytes) -> None:
    assert here.ask("POST", "/count", content=body, headers={"Content-Encoding": "gzip"}).status_code == 400


def test_encodings_that_are_not_understood(here: Stage) -> None:
    answer = here.ask("POST", "/count", content=b"x", headers={"Content-Encoding": "br"})
    assert answer.status_code == 415
    assert "gzip" in answer.json()["detail"]


def test_nothing_is_nothing_in_gzip_too(here: Stage) -> None:
    assert here.ask("POST", "/count", headers={"Content-Encoding": "gzip"}).json() == 0


@given(st.lists(st.binary(max_size=3000), min_size=1, max_size=4), st.integers(1, 500))
def test_members_and_pieces_of_any_size_give_the_whole(parts: list[bytes], size: int) -> None:
    packed = b"".join(map(gzip.compress, parts))

    async def read() -> bytes:
        return b"".join([piece async for piece in decompressed(pieces(packed, size), "gzip", max_bytes=100_000)])

    assert asyncio.run(read()) == b"".join(parts)


@given(st.binary(min_size=1, max_size=300), st.data())
def test_a_cut_is_noticed(body: bytes, data: st.DataObject) -> None:
    packed = gzip.compress(body)
    cut = data.draw(st.integers(1, len(packed) - 1))

    async def read() -> None:
        async for _ in decompressed(pieces(packed[:cut]), "gzip", max_bytes=100_000):
            pass

    with pytest.raises(Problem, match="400"):
        asyncio.run(read())


def test_a_bomb_is_not_unpacked_at_once() -> None:
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    bomb = packer.compress(bytes(50 << 20)) + packer.flush()
    sizes: list[int] = []

    async def read() -> None:
        async for piece in decompressed(pieces(bomb, len(bomb)), "gzip", max_bytes=5 << 20):
            sizes.append(len(piece))

    with pytest.raises(Problem, match="413"):
        asyncio.run(read())
    assert sum(sizes) <= 5 << 20
    assert max(sizes) <= 1 << 20


def test_a_sender_that_dawdles_is_not_waited_for() -> None:
    async def drops() -> Message:
        await asyncio.sleep(0.02)
        return {"type": "http.request", "body": b"x", "more_body": True}

    async def gushes() -> Message:
        await asyncio.sleep(0.02)
        return {"type": "http.request", "body": b"x" * 64, "more_body": True}

    async def read(sender: Receive, times: int) -> None:
        receive = LimitedReceive({"type": "http", "headers": []}, sender, max_bytes=10_000, silence_s=0.2)
        for _ in range(times):
            await receive()

    asyncio.run(read(gushes, 20))
    with pytest.raises(Problem, match="408"):
        asyncio.run(read(drops, 20))


def test_a_sender_that_stops_is_not_waited_for() -> None:
    async def silence() -> Message:
        await asyncio.sleep(60)
        raise AssertionError("nobody waits that long")

    async def read() -> None:
        scope = {"type": "http", "headers": []}
        await LimitedReceive(scope, silence, max_bytes=10, silence_s=0.01)()

    with pytest.raises(Problem, match="408"):
        asyncio.run(read())
