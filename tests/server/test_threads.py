"""Questions, points and things have threads of their own: however many of one wait, the others are answered."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import pytest

from strobe.server.endpoint import Call, Endpoint, endpoint
from strobe.server.threads import SIZES
from strobe.store import sqlite
from tests.server.conftest import Stage

#: more than there are threads by default
MANY = 60


class Stuck:
    """Something that blocks its thread until it is let go."""

    def __init__(self) -> None:
        self.is_free = threading.Event()
        self.num_waiting = 0

    def wait(self) -> str:
        self.num_waiting += 1
        assert self.is_free.wait(20)
        return "done"


def endpoints(stuck: Stuck) -> dict[str, Endpoint]:
    """Return for each crew an endpoint that is stuck."""

    def make(name: str, access: str, tag: str) -> Endpoint:
        async def answer(call: Call) -> str:
            call.note_checked()
            return await call.in_thread(stuck.wait)

        answer.__name__ = f"stuck_{name}"
        made = endpoint("GET", f"/api/v1/stuck/{name}", access=access, tag=tag, returns=str)  # type: ignore[arg-type]  # of the three
        return made(answer)

    return {
        "questions": make("questions", "read", "series"),
        "points": make("points", "write", "ingest"),
        "things": make("things", "read", "files"),
    }


async def quick(call: Call) -> str:
    """Answer at once."""
    call.note_checked()
    return await call.in_thread(lambda: "done")


QUICK = {
    "questions": endpoint("GET", "/api/v1/quick/questions", access="read", tag="runs", returns=str)(quick),
    "points": endpoint("GET", "/api/v1/quick/points", access="write", tag="ingest", returns=str)(quick),
    "things": endpoint("GET", "/api/v1/quick/things", access="write", tag="runs", returns=str)(quick),
}


@contextmanager
def letting_go(stuck: Stuck) -> Iterator[None]:
    try:
        yield
    finally:
        stuck.is_free.set()


@pytest.mark.parametrize("busy", ["questions", "points", "things"])
def test_one_crew_that_is_stuck_holds_up_no_other(stage: Stage, busy: str) -> None:
    stuck = Stuck()
    stage.serve(endpoints(stuck)[busy], *QUICK.values())
    headers = {"Authorization": f"Bearer {stage.key('ann')}"}

    async def use(client: httpx.AsyncClient) -> None:
        waiting = [asyncio.create_task(client.get(f"/api/v1/stuck/{busy}", headers=headers)) for _ in range(MANY)]
        with letting_go(stuck):
            while stuck.num_waiting < SIZES[busy]:  # type: ignore[index]  # one of the three
                await asyncio.sleep(0.01)
            for other in set(QUICK) - {busy}:
                answer = await asyncio.wait_for(client.get(f"/api/v1/quick/{other}", headers=headers), 5)
                assert answer.status_code == 200
            for path in ("/readyz", "/api/v1/server"):
                assert (await asyncio.wait_for(client.get(path), 5)).status_code == 200
        answers = await asyncio.gather(*waiting)
        assert {answer.status_code for answer in answers} == {200}

    stage.run(use)


def test_questions_leave_connections_for_others() -> None:
    assert SIZES["questions"] < sqlite._MAX_READERS
