"""Copies and what is held are as new as what was read, and no older than they may be."""

from __future__ import annotations

import asyncio

from strobe.swarm.dht.id import place_of
from strobe.swarm.dht.sim.loop import clock, run
from strobe.swarm.dht.value import pack
from tests.swarm.dht.swarms import Swarm


def test_a_copy_of_a_dictionary_is_renewed_before_the_first_of_it_expires() -> None:
    async def main() -> None:
        swarm = await Swarm.grow(30)
        writer, reader = swarm.nodes[0], swarm.nearest("d", 30)[-1]
        await writer.store("d", "stays", clock() + 5000, subkey="long")
        for beat in range(20):
            await writer.store("d", beat, clock() + 60, subkey="beat")
            for _ in range(3):
                got = await reader.get("d")
                assert got is not None
                assert set(got.value) == {"long", "beat"}
                assert got.value["beat"].value >= beat - 2, "it is the copy that is renewed"
                await asyncio.sleep(10)
        assert place_of("d") in reader.cache
        swarm.check()

    run(main())


def test_a_copy_that_lost_a_subkey_is_not_taken_for_the_whole() -> None:
    async def main() -> None:
        swarm = await Swarm.grow(30)
        writer, reader = swarm.nodes[0], swarm.nearest("d", 30)[-1]
        await writer.store("d", "stays", clock() + 5000, subkey="long")
        for beat in range(40):
            await writer.store("d", beat, clock() + 60, subkey="beat")
            if beat in (0, 1, 39):  # twice, and then for a long time nobody wants it
                got = await reader.get("d")
                assert got is not None
                assert set(got.value) == {"long", "beat"}
            await asyncio.sleep(30)
        swarm.check()

    run(main())


def test_a_holder_learns_what_it_reads_of_others() -> None:
    async def main() -> None:
        swarm = await Swarm.grow(12)
        now, place = clock(), place_of("k")
        await swarm.nodes[0].store("k", "old", now + 100)
        await swarm.nodes[0].store("d", 1, now + 100, subkey="old")
        behind = swarm.nearest("k")[1]
        for node in swarm.holders("k"):
            if node is not behind:
                node.storage.put(place, pack("new"), now + 200, now)
        assert await behind.get("k") == ("old", now + 100)
        assert await behind.get("k", latest=True) == ("new", now + 200)
        assert await behind.get("k") == ("new", now + 200)
        assert place in behind.storage
        assert place not in behind.cache

        lacking, place = swarm.nearest("d")[1], place_of("d")
        for node in swarm.holders("d"):
            if node is not lacking:
                node.storage.put(place, pack(2), now + 50, now, pack("new"))
        for latest in (True, False):
            got = await lacking.get("d", latest=latest)
            assert got is not None
            assert set(got.value) == {"old", "new"}
        swarm.check()

    run(main())


def test_what_expires_while_other_keys_are_searched_for_is_not_returned() -> None:
    async def main() -> None:
        swarm = await Swarm.grow(2)
        reader, now = swarm.nodes[0], clock()
        for subkey, expires in (("stays", now + 100), ("goes", now + 0.5)):
            reader.storage.put(place_of("d"), pack(1), expires, now, pack(subkey))
        reader.storage.put(place_of("k"), pack(1), now + 0.5, now)
        swarm.world.latency_s = 0.8
        got = await reader.get_many(["d", "k", "elsewhere"])
        assert clock() > now + 0.5
        assert got == {"d": ({"stays": (1, now + 100)}, now + 100), "k": None, "elsewhere": None}

    run(main())
