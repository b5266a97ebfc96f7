"""Large swarms in simulated time: a thousand peers, churn, loss, partitions and merges."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from strobe.swarm.dht.options import Options
from strobe.swarm.dht.sim.loop import clock, run
from strobe.swarm.dht.sim.world import World
from tests.swarm.dht.swarms import Swarm

pytestmark = pytest.mark.slow

_UNCACHED = Options(cache_locally=False, cache_nearest=0, cache_on_store=False, refresh_s=60.0)
_SLOW = replace(_UNCACHED, refresh_s=150.0)


async def _num_found(swarm: Swarm, keys: list[Any], *, latest: bool = False) -> int:
    """Return how many of the keys are found, each 10 of them by another node."""
    found = 0
    for start in range(0, len(keys), 10):
        reader = swarm.world.random.choice(swarm.nodes)
        got = await reader.get_many(keys[start : start + 10], latest=latest)
        found += sum(value is not None for value in got.values())
    return found


def test_a_thousand_peers_hold_each_record_where_it_belongs() -> None:
    async def main() -> None:
        swarm = await Swarm.grow(1000, World(latency_s=0.02), Options(join_width=6, refresh_s=0, republish_s=0))
        keys = [f"expert.{number}" for number in range(300)]
        before = swarm.world.num_calls
        stored = await swarm.nodes[-1].store_many(keys, keys, clock() + 1000)
        per_record = (swarm.world.num_calls - before) / len(keys)
        assert all(stored.values())
        assert per_record < 6, f"{per_record} messages per record with 5 replicas"
        assert sum(swarm.is_held_by_nearest(key) for key in keys) == len(keys)
        assert sum(len(swarm.holders(key)) for key in keys) < 8 * len(keys), "those on the way there may keep it too"
        before = swarm.world.num_calls
        got = await swarm.nodes[500].get_many(keys)
        assert all((value := got[key]) is not None and value.value == key for key in keys)
        assert (swarm.world.num_calls - before) / len(keys) < 4
        swarm.check()

    run(main())


def test_the_same_seed_gives_the_same_swarm() -> None:
    async def main() -> tuple[int, int, float]:
        swarm = await Swarm.grow(20, World(seed=5, loss=0.1))
        await swarm.nodes[3].store_many(list(range(100)), list(range(100)), clock() + 500)
        await asyncio.sleep(300)
        return swarm.world.num_calls, swarm.world.num_bytes, clock()

    assert run(main()) == run(main())


def test_a_fifth_dies_and_packets_are_lost_yet_all_is_found() -> None:
    async def main() -> None:
        swarm = await Swarm.grow(60, World(seed=2, loss=0.05), _SLOW)
        keys = [f"k{number}" for number in range(1000)]
        for start in range(0, 1000, 200):
            part = keys[start : start + 200]
            stored = await swarm.world.random.choice(swarm.nodes).store_many(part, part, clock() + 3000)
            assert all(stored.values())
            await swarm.kill(swarm.world.random.sample(swarm.nodes, 3))
        assert len(swarm.nodes) == 45
        assert await _num_found(swarm, keys) >= 0.999 * len(keys)
        await asyncio.sleep(600)  # some rounds of storing anew
        assert sum(swarm.is_held_by_nearest(key) for key in keys) >= 0.99 * len(keys)
        assert await _num_found(swarm, keys, latest=True) == len(keys)
        swarm.check()

    run(main())


def test_records_outlive_all_their_first_holders() -> None:
    async def main() -> None:
        swarm = await Swarm.grow(24, World(seed=3), _SLOW)
        keys = [f"k{number}" for number in range(60)]
        await swarm.nodes[0].store_many(keys, keys, clock() + 100_000)
        veterans = list(swarm.nodes)
        for _ in range(6):  # four leave and four come, every five minutes, until nobody of the first is left
            await swarm.kill(veterans[:4])
            del veterans[:4]
            await asyncio.gather(*(swarm.add() for _ in range(4)))
            await asyncio.sleep(300)
        assert not veterans
        assert await _num_found(swarm, keys, latest=True) == len(keys)
        swarm.check()

    run(main())


def test_newcomers_get_the_records_that_they_should_hold() -> None:
    async def main() -> None:
        swarm = await Swarm.grow(20, World(seed=4), Options(republish_s=0, refresh_s=0, join_width=16))
        keys = [f"k{number}" for number in range(100)]
        await swarm.nodes[0].store_many(keys, keys, clock() + 5000)
        for _ in range(10):
            await swarm.add()
            await asyncio.sleep(5)
        assert sum(swarm.is_held_by_nearest(key) for key in keys) >= 97
        swarm.check()

    run(main())


def test_two_swarms_that_grew_apart_merge_through_one_introduction() -> None:
    async def main() -> None:
        world = World(seed=6)
        one, other = await Swarm.grow(24, world, _UNCACHED), await Swarm.grow(24, world, _UNCACHED)
        now = clock()
        await one.nodes[3].store_many([f"one{n}" for n in range(50)], range(50), now + 9000)
        await other.nodes[3].store_many([f"other{n}" for n in range(50)], range(50), now + 9000)
        await one.nodes[0].store("same", "older", now + 8000)
        await other.nodes[0].store("same", "newer", now + 9000)
        await one.nodes[0].store("both", 1, now + 8000, subkey="one")
        await other.nodes[0].store("both", 2, now + 8000, subkey="other")
        assert await one.nodes[0].get("other1") is None
        await one.nodes[7].join([other.nodes[9].network.address.contact])
        await asyncio.sleep(400)
        merged = Swarm(world)
        merged.nodes = one.nodes + other.nodes
        keys = [f"{side}{n}" for side in ("one", "other") for n in range(50)]
        assert await _num_found(merged, keys) == 100
        assert sum(merged.is_held_by_nearest(key) for key in keys) >= 98
        for node in (one.nodes[11], other.nodes[11]):
            assert await node.get("same", latest=True) == ("newer", now + 9000)
            both = await node.get("both", latest=True)
            assert both is not None
            assert set(both.value) == {"one", "other"}
        merged.check()

    run(main())


def test_a_partition_heals_by_itself() -> None:
    async def main() -> None:
        swarm = await Swarm.grow(24, World(seed=7), _UNCACHED)
        sides = swarm.nodes[:12], swarm.nodes[12:]
        swarm.world.partition(*([node.network.address.id for node in side] for side in sides))
        await asyncio.sleep(900)  # long enough for each side to forget the other
        assert all(len(node.peers.table) < 12 for node in swarm.nodes)
        now = clock()
        for number, side in enumerate(sides):
            assert await side[0].store("k", number, now + 5000 + number, subkey=number)
        swarm.world.partition()
        await asyncio.sleep(900)
        for side in sides:
            got = await side[5].get("k", latest=True)
            assert got is not None
            assert set(got.value) == {0, 1}
        assert swarm.is_held_by_nearest("k")
        swarm.check()

    run(main())


def test_an_old_peer_that_lives_is_not_pushed_out_by_strangers() -> None:
    async def main() -> None:
        swarm = await Swarm.grow(8, options=Options(bucket_size=3, depth_step=1))
        node = swarm.nodes[0]
        known = {contact.id for contact in node.peers.table.all()}
        for _ in range(60):
            await swarm.add()
        assert {contact.id for contact in node.peers.table.all()} >= known

    run(main())
