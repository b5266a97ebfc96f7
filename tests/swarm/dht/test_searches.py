"""Searches that several share: whoever stops waiting takes nothing away from the others."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from strobe.swarm.dht.id import place_of
from strobe.swarm.dht.node import Node
from strobe.swarm.dht.options import Options
from strobe.swarm.dht.protocol import FIND
from strobe.swarm.dht.sim.loop import clock, run
from strobe.swarm.dht.value import pack
from strobe.swarm.net.network import Caller, NetworkError, Payload
from tests.swarm.dht.swarms import Swarm

_UNCACHED = Options(cache_locally=False, cache_nearest=0, cache_on_store=False)


async def _swarm() -> tuple[Swarm, Node]:
    """Return a swarm that holds "k", and a node that has to ask others for it."""
    swarm = await Swarm.grow(30, options=_UNCACHED)
    await swarm.nodes[0].store("k", 1, clock() + 50)
    return swarm, next(node for node in swarm.nodes if node not in swarm.holders("k"))


@pytest.mark.parametrize("latest", [False, True])
@pytest.mark.parametrize("cancelled", [0, 1, 2])
def test_one_who_stops_waiting_leaves_the_others_their_result(latest: bool, cancelled: int) -> None:
    async def main() -> None:
        swarm, reader = await _swarm()
        tasks = [asyncio.ensure_future(reader.get("k", latest=latest)) for _ in range(3)]
        await asyncio.sleep(0.001)  # all are on their way, nobody has answered
        before = swarm.world.num_calls
        tasks[cancelled].cancel()
        got = await asyncio.gather(*tasks, return_exceptions=True)
        for number, value in enumerate(got):
            if number == cancelled:
                assert isinstance(value, asyncio.CancelledError)
            else:
                assert isinstance(value, tuple), value
                assert value[0] == 1
        assert swarm.world.num_calls - before < 15, "one search for all of them"
        swarm.check()

    run(main())


def test_a_search_that_nobody_waits_for_ends() -> None:
    async def main() -> None:
        swarm, reader = await _swarm()
        tasks = [asyncio.ensure_future(reader.get("k", latest=True)) for _ in range(3)]
        await asyncio.sleep(0.001)
        before, running = reader.exchange.num_requests, asyncio.all_tasks()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.sleep(5)
        assert reader.exchange.num_requests == before
        assert len(asyncio.all_tasks() & running) == len(running) - len(tasks) - 2, "nor the search, nor its request"
        assert (await reader.get("k", latest=True)) is not None, "and another begins anew"
        swarm.check()

    run(main())


def test_those_who_share_see_what_this_node_holds_too() -> None:
    async def main() -> None:
        swarm = await Swarm.grow(12, options=_UNCACHED)
        now, reader = clock(), swarm.nearest("d")[0]
        await swarm.nodes[0].store("d", 1, now + 50, subkey="all")
        reader.storage.put(place_of("d"), pack(2), now + 60, now, pack("only here"))
        for got in await asyncio.gather(*(reader.get("d", latest=True) for _ in range(3))):
            assert got is not None
            assert set(got.value) == {"all", "only here"}

    run(main())


@pytest.mark.parametrize("latest", [False, True])
def test_who_has_stored_reads_that_and_not_what_was_found_on_the_way(latest: bool) -> None:
    async def main() -> None:
        swarm = await Swarm.grow(1, options=_UNCACHED)
        holder, client = swarm.nodes[0], await swarm.add(replace(_UNCACHED, client_mode=True))
        now = clock()
        assert await client.store("k", "old", now + 50)

        async def slowly(caller: Caller, payload: Payload) -> bytes:
            answer = holder.service.find(caller, payload)
            await asyncio.sleep(0.5)
            return answer

        holder.network.serve(FIND, slowly)
        before = asyncio.ensure_future(client.get("k", latest=latest))
        await asyncio.sleep(0.1)
        assert await client.store("k", "new", now + 60)
        assert await client.get("k", latest=latest) == ("new", now + 60)
        assert await before == ("old", now + 50), "who asked earlier has what it asked for"
        waiting = asyncio.ensure_future(client.get("k", latest=latest))
        await asyncio.sleep(0.1)
        assert await client.store("k", "newer", now + 70)
        await client.close()
        with pytest.raises(NetworkError, match="closed"):
            await waiting
        swarm.check()

    run(main())


def test_a_node_that_is_closed_tells_those_who_wait() -> None:
    async def main() -> None:
        _, reader = await _swarm()
        waiting = asyncio.ensure_future(reader.get("k", latest=True))
        await asyncio.sleep(0.001)
        await reader.close()
        with pytest.raises(NetworkError, match="closed"):
            await waiting

    run(main())
