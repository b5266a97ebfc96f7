"""Large records over thin lines: they arrive, and nobody counts as silent for sending or receiving them."""

from __future__ import annotations

import asyncio
import random
from dataclasses import replace

import pytest

from strobe.swarm.dht.id import number, place_of
from strobe.swarm.dht.node import Node
from strobe.swarm.dht.options import Options
from strobe.swarm.dht.protocol import FIND, Find, Found, decode, encode
from strobe.swarm.dht.sim.loop import clock, run
from strobe.swarm.dht.sim.world import World
from strobe.swarm.dht.value import pack
from strobe.swarm.net.network import Caller, Payload
from tests.swarm.dht.swarms import Swarm

_UNCACHED = Options(cache_locally=False, cache_nearest=0, cache_on_store=False, refresh_s=0, republish_s=0)
_LARGE = random.Random(1).randbytes(1_000_000)


def _silent(node: Node) -> int:
    return sum(node.peers.is_silent(number(contact.id), clock()) for contact in node.peers.table.all())


@pytest.mark.parametrize("bytes_per_s", [1_250_000, 500_000])
def test_a_large_record_gets_to_all_its_holders_and_back(bytes_per_s: int) -> None:
    async def main() -> None:
        swarm = await Swarm.grow(30, World(bytes_per_s=bytes_per_s), _UNCACHED)
        writer, reader = swarm.nearest("a", 30)[-2:]
        for key in ("a", "b"):
            assert await writer.store(key, _LARGE, clock() + 1000)
            assert swarm.is_held_by_nearest(key)
            assert _silent(writer) == 0
        for latest in (False, True):
            got = await reader.get("a", latest=latest)
            assert got is not None
            assert got.value == _LARGE
            assert _silent(reader) == 0
        swarm.check()

    run(main())


def test_many_records_that_are_large_together_are_read_over_a_thin_line() -> None:
    async def main() -> None:
        swarm = await Swarm.grow(6, World(bytes_per_s=500_000), _UNCACHED)
        values = {n: _LARGE[n * 10_000 : (n + 1) * 10_000] for n in range(100)}
        stored = await swarm.nodes[0].store_many(list(values), list(values.values()), clock() + 1000)
        assert all(stored.values())
        client = await swarm.add(Options(client_mode=True, cache_locally=False))
        got = await client.get_many(values)
        assert all((value := got[key]) is not None and value.value == values[key] for key in values)
        assert _silent(swarm.nodes[0]) == _silent(client) == 0
        swarm.check()

    run(main())


def test_dead_peers_cost_a_large_record_no_more_time_than_a_small_one() -> None:
    async def main() -> None:
        swarm = await Swarm.grow(30, options=_UNCACHED)
        writer = swarm.nodes[0]
        took = []
        for key, value in (("small", 1), ("large", _LARGE)):
            await swarm.kill(node for node in swarm.nearest(key, 2) if node is not writer)
            before = clock()
            assert await writer.store(key, value, before + 1000)
            assert len(swarm.holders(key)) >= 5
            took.append(clock() - before)
        assert took[1] < took[0] + 0.5
        swarm.check()

    run(main())


def test_a_store_waits_for_others_though_one_of_the_holders_is_oneself() -> None:
    async def main() -> None:
        swarm = await Swarm.grow(8, options=replace(_UNCACHED, overdue_s=0.3))
        swarm.world.latency_s = 0.5  # from 0.5 to 1.5 s there and back
        place = place_of("k")
        held = await swarm.nearest("k", 1)[0].writer.store({place: [(b"", pack(1), clock() + 1000)]})
        assert held[place].num_holders > 1
        swarm.check()

    run(main())


@pytest.mark.parametrize("latest", [False, True])
def test_a_peer_that_promises_a_large_record_does_not_keep_others_from_reading_theirs(latest: bool) -> None:
    async def main() -> None:
        swarm = await Swarm.grow(30, options=_UNCACHED)
        assert await swarm.nodes[0].store("k", 1, clock() + 1000)
        liar, reader = swarm.nearest("k", 30)[0], swarm.nearest("k", 30)[-1]

        async def promise(caller: Caller, payload: Payload) -> bytes:
            if decode(Find, payload).most_bytes >= 1 << 20:
                await asyncio.sleep(1000)
            answer = decode(Found, liar.service.find(caller, payload))
            return encode(Found([[]], answer.nearest, answer.contacts, {0: 1 << 20}))

        liar.network.serve(FIND, promise)
        before = clock()
        got = await reader.get("k", latest=latest)
        assert got is not None
        assert got.value == 1
        assert clock() - before < 3
        swarm.check()

    run(main())
