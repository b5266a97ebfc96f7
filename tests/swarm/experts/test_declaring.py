"""Experts stay declared: with many of them, over a slow network, and when a round fails. In simulated time."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from strobe.errors import UsageError
from strobe.swarm.dht import Node
from strobe.swarm.dht.sim.loop import run
from strobe.swarm.experts.declaring import Declaring
from strobe.swarm.experts.directory import AT_ONCE
from strobe.swarm.experts.server import ServerOptions
from strobe.swarm.experts.uid import ExpertUid, parse_uid
from tests.swarm.dht.swarms import Swarm

pytestmark = pytest.mark.frameworks

PERIOD_S, LIFE_S = 30.0, 60.0


def names(count: int) -> list[ExpertUid]:
    return [parse_uid(f"ffn.{number}.0") for number in range(count)]


def stores_after(node: Node, monkeypatch: pytest.MonkeyPatch, before: Callable[[], Awaitable[None]]) -> None:
    """Let something happen before each batch of records is stored."""
    store_many = node.store_many

    async def slow(*args: Any, **more: Any) -> Any:
        expiration_time: float = args[2]
        assert expiration_time > node.clock()  # or it has expired when it is stored
        await before()
        return await store_many(*args, **more)

    monkeypatch.setattr(node, "store_many", slow)


async def lapses(node: Node, uids: list[ExpertUid], for_s: float) -> list[tuple[float, str]]:
    """Look every second; return when which expert was not declared."""
    loop = asyncio.get_running_loop()
    end, missing = loop.time() + for_s, []
    while loop.time() < end:
        found = await node.get_many(uids, latest=True)
        missing += [(loop.time(), uid) for uid, entry in found.items() if entry is None]
        await asyncio.sleep(1.0)
    return missing


def test_a_round_that_takes_long_lets_none_of_many_experts_lapse(monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> list[tuple[float, str]]:
        swarm = await Swarm.grow(2)
        stores_after(swarm.nodes[0], monkeypatch, lambda: asyncio.sleep(12.0))
        uids = names(2 * AT_ONCE)
        declaring = Declaring(swarm.nodes[0], uids, period_s=PERIOD_S, life_s=LIFE_S)
        await declaring.begin()
        missing = await lapses(swarm.nodes[1], [uids[0], uids[-1]], 200.0)
        await declaring.end()
        return missing

    assert run(main()) == []


def test_a_round_that_fails_lets_no_expert_lapse(monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> list[tuple[float, str]]:
        swarm = await Swarm.grow(2)
        rounds = iter([True, False, True, True, False, False])

        async def every_other() -> None:
            await asyncio.sleep(5.0)
            if not next(rounds, True):
                raise OSError("no network")

        stores_after(swarm.nodes[0], monkeypatch, every_other)
        declaring = Declaring(swarm.nodes[0], names(1), period_s=PERIOD_S, life_s=LIFE_S)
        await declaring.begin()
        missing = await lapses(swarm.nodes[1], names(1), 200.0)
        await declaring.end()
        return missing

    assert run(main()) == []


def test_it_ends_though_a_cancellation_gets_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> None:
        swarm = await Swarm.grow(1)
        is_storing = asyncio.Event()

        async def deaf() -> None:
            with contextlib.suppress(asyncio.CancelledError):  # as wait_for may be before Python 3.12
                is_storing.set()
                await asyncio.sleep(5.0)

        stores_after(swarm.nodes[0], monkeypatch, deaf)
        declaring = Declaring(swarm.nodes[0], names(1), period_s=PERIOD_S, life_s=LIFE_S)
        await declaring.begin()
        is_storing.clear()
        await is_storing.wait()
        await asyncio.wait_for(declaring.end(), 2 * PERIOD_S)

    run(main())


@pytest.mark.parametrize(
    "options",
    [
        {"update_period_s": 0.0},
        {"update_period_s": -1.0},
        {"update_period_s": float("nan")},
        {"update_period_s": float("inf")},
        {"update_period_s": 30.0, "expiration_s": 20.0},
        {"update_period_s": 30.0, "expiration_s": 30.0},
        {"expiration_s": 0.0},
        {"expiration_s": float("nan")},
    ],
)
def test_times_at_which_experts_would_vanish_are_refused(options: dict[str, float]) -> None:
    with pytest.raises(UsageError, match="experts"):
        ServerOptions(**options)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["max_waiting", "num_threads", "num_parallel"])
def test_a_server_that_could_answer_nobody_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match=f"{name} is 0"):
        ServerOptions(**{name: 0})  # type: ignore[arg-type]
