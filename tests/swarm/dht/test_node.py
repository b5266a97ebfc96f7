"""A small swarm: what store and get mean."""

from __future__ import annotations

import asyncio
import math
from typing import Any

import pytest

from strobe.errors import UsageError
from strobe.swarm.dht.id import place_of
from strobe.swarm.dht.node import BootstrapFailed, ClockSkew, Node
from strobe.swarm.dht.options import Options
from strobe.swarm.dht.sim.loop import clock, run
from strobe.swarm.dht.sim.world import World
from strobe.swarm.dht.value import pack
from strobe.swarm.net.network import Contact, PeerId
from tests.swarm.dht.swarms import Swarm

_UNCACHED = Options(cache_locally=False, cache_nearest=0, cache_on_store=False)


def test_who_joins_over_a_bad_path_waits_for_the_only_ones_it_knows() -> None:
    """If they are overdue there is nobody to ask instead; giving them up would leave it alone, storing for itself."""

    async def main() -> None:
        swarm = await Swarm.grow(10, World(latency_s=0.01))
        swarm.world.latency_s = 0.6  # from 0.6 to 1.8 s there and back
        node = await swarm.add(Options(overdue_s=0.5, cache_nearest=0, cache_on_store=False))
        assert len(node.peers.table) > 2, "those that it was told of, and those that they know"
        assert await node.store("key", 1, clock() + 1000)
        assert len(swarm.holders("key")) > 1
        got = await swarm.nodes[0].get("key")
        assert got is not None
        assert got.value == 1

    run(main())


def test_what_one_stores_all_others_get() -> None:
    async def main() -> None:
        swarm = await Swarm.grow(12)
        value = {"a": [1, 2.5, None], "b": (b"x", ("y",))}
        assert await swarm.nodes[3].store(("key", 1), value, clock() + 100)
        for node in swarm.nodes:
            for latest in (False, True):
                got = await node.get(("key", 1), latest=latest)
                assert got is not None
                assert got.value == value
                assert got == (value, got.expiration_time)
        assert await swarm.nodes[0].get("other") is None
        assert swarm.is_held_by_nearest(("key", 1))
        swarm.check()

    run(main())


def test_the_strictly_newest_wins() -> None:
    async def main() -> None:
        swarm = await Swarm.grow(10, options=_UNCACHED)
        first, second = swarm.nodes[1], swarm.nodes[7]
        now = clock()
        assert await first.store("k", "new", now + 100)
        assert not await second.store("k", "same", now + 100)
        assert not await second.store("k", "older", now + 50)
        assert not await second.store("k", "expired", now - 1)
        await asyncio.sleep(60)  # past the expiration of the refused one
        assert await swarm.nodes[4].get("k") == ("new", now + 100)
        assert await second.store("k", "newest", now + 200)
        assert await swarm.nodes[4].get("k", latest=True) == ("newest", now + 200)
        await asyncio.sleep(150)
        assert await swarm.nodes[4].get("k", latest=True) is None

    run(main())


def test_subkeys_are_merged_over_peers() -> None:
    async def main() -> None:
        swarm = await Swarm.grow(10, options=_UNCACHED)
        now = clock()
        for number, node in enumerate(swarm.nodes):
            assert await node.store("d", number * 10, now + 100 + number, subkey=("s", number))
        assert not await swarm.nodes[0].store("d", -1, now + 102, subkey=("s", 3))
        assert not await swarm.nodes[0].store("d", "plain", now + 105), "a plain value must outlive the dictionary"
        got = await swarm.nodes[5].get("d", latest=True)
        assert got is not None
        assert got.expiration_time == now + 109
        assert got.value == {("s", number): (number * 10, now + 100 + number) for number in range(10)}
        # Peers that hold different subkeys, as after a partition: a reader sees them all.
        for number, node in enumerate(swarm.nearest("split")):
            place = place_of("split")
            node.storage.put(place, b"\x01", now + 50, now, bytes([number]))
        got = await swarm.nodes[0].get("split", latest=True)
        assert got is not None
        assert set(got.value) == {0, 1, 2, 3, 4}
        assert await swarm.nodes[0].store("d", "plain", now + 500)
        assert await swarm.nodes[5].get("d", latest=True) == ("plain", now + 500)

    run(main())


def test_many_keys_cost_few_messages() -> None:
    async def main() -> None:
        swarm = await Swarm.grow(16, options=_UNCACHED)
        keys = [f"key{number}" for number in range(400)]
        before = swarm.world.num_calls
        stored = await swarm.nodes[2].store_many(keys, keys, clock() + 100)
        cost = swarm.world.num_calls - before
        assert all(stored.values())
        assert len(stored) == 400
        assert cost < 100, f"{cost} messages for 400 records at 15 peers"
        assert all(swarm.is_held_by_nearest(key) for key in keys)
        before = swarm.world.num_calls
        got = await swarm.nodes[9].get_many(keys)
        assert swarm.world.num_calls - before < 60
        assert all((value := got[key]) is not None and value.value == key for key in keys)

    run(main())


def test_store_many_names_subkeys_and_checks_lengths() -> None:
    async def main() -> None:
        swarm = await Swarm.grow(3)
        node, now = swarm.nodes[0], clock()
        stored = await node.store_many(["a", "a", "b"], [1, 2, 3], [now + 1, now + 2, now - 5], ["x", "y", None])
        assert stored == {("a", "x"): True, ("a", "y"): True, "b": False}
        with pytest.raises(UsageError, match="2 keys, 1 values"):
            await node.store_many(["a", "b"], [1], now + 5)

    run(main())


def test_a_client_reads_and_writes_and_nobody_remembers_it() -> None:
    async def main() -> None:
        swarm = await Swarm.grow(8)
        client = await swarm.add(Options(client_mode=True))
        swarm.nodes.remove(client)
        assert await client.store("k", 1, clock() + 50)
        assert not len(client.storage)
        got = await client.get("k", latest=True)
        assert got is not None
        assert got.value == 1
        await asyncio.sleep(300)
        place = int.from_bytes(client.network.address.id, "big")
        assert not any(place in node.peers.table for node in swarm.nodes)

    run(main())


def test_alone_one_has_what_one_stored() -> None:
    async def main() -> None:
        node = await Node.create(World().network(), clock=clock)
        assert await node.store("k", 1, clock() + 50)
        assert await node.get("k", latest=True) is not None
        lonely = await Node.create(World().network(), options=Options(client_mode=True), clock=clock)
        assert not await lonely.store("k", 1, clock() + 50)
        assert await lonely.get("k") is None

    run(main())


def test_bootstrap_needs_one_of_several_peers() -> None:
    async def main() -> None:
        swarm = await Swarm.grow(3)
        absent = Contact(PeerId(b"\x01" * 20), "10.9.9.9", 4000)
        there = swarm.nodes[0].network.address.contact
        node = await Node.create(swarm.world.network(), [absent, there], clock=clock)
        assert len(node.peers.table) == 3
        with pytest.raises(BootstrapFailed, match=r"10\.9\.9\.9:4000"):
            await Node.create(swarm.world.network(), [absent], clock=clock)

    run(main())


def test_a_wrong_clock_is_told_by_the_majority() -> None:
    async def main() -> None:
        swarm = await Swarm.grow(3)
        contacts = [node.network.address.contact for node in swarm.nodes]
        with pytest.raises(ClockSkew, match=r"10\.\d s ahead"):
            await Node.create(swarm.world.network(), contacts, clock=lambda: clock() + 10)
        wrong = Node(swarm.world.network(), clock=lambda: clock() - 100)
        await Node.create(swarm.world.network(), [*contacts, wrong.network.address.contact], clock=clock)

    run(main())


def test_gets_of_one_key_share_a_search() -> None:
    async def main() -> None:
        swarm = await Swarm.grow(30, options=_UNCACHED)
        await swarm.nodes[0].store("k", 1, clock() + 50)
        reader = next(node for node in swarm.nodes if node not in swarm.holders("k"))
        before = swarm.world.num_calls
        got = await asyncio.gather(*(reader.get("k", latest=True) for _ in range(20)))
        assert all(value is not None and value.value == 1 for value in got)
        assert swarm.world.num_calls - before < 20

    run(main())


def test_what_was_read_is_read_again_from_the_cache_and_renewed() -> None:
    async def main() -> None:
        swarm = await Swarm.grow(30)
        now = clock()
        await swarm.nodes[0].store("k", "first", now + 60)
        reader = next(node for node in swarm.nodes[1:] if node not in swarm.holders("k"))
        assert await reader.get("k") == ("first", now + 60)
        before = reader.exchange.num_requests
        assert await reader.get("k") == ("first", now + 60)
        assert reader.exchange.num_requests == before, "from the cache"
        await swarm.nodes[0].store("k", "second", now + 600)
        assert await reader.get("k") == ("first", now + 60), "stale, but not expired: that is what a cache is"
        await asyncio.sleep(58)
        assert await reader.get("k") == ("second", now + 600), "renewed before it expired, because it was wanted"

    run(main())


def test_latest_asks_beyond_the_cache() -> None:
    async def main() -> None:
        swarm = await Swarm.grow(30)
        now = clock()
        await swarm.nodes[0].store("k", 1, now + 60)
        reader = next(node for node in swarm.nodes[1:] if node not in swarm.holders("k"))
        await reader.get("k")
        await swarm.nodes[0].store("k", 2, now + 70)
        assert await reader.get("k", latest=True) == (2, now + 70)
        assert await reader.get("k") == (2, now + 70)

    run(main())


def test_expirations_too_far_ahead_are_a_mistake_that_is_told() -> None:
    async def main() -> None:
        swarm = await Swarm.grow(3)
        now = clock()
        for wrong in (math.inf, math.nan, now + 31 * 86400):
            with pytest.raises(UsageError, match="at most 2592000 s are allowed"):
                await swarm.nodes[0].store("k", 1, wrong)
        assert await swarm.nodes[0].store("k", 1, now + 30 * 86400)
        assert await swarm.nodes[1].get("k", latest=True) == (1, now + 30 * 86400)

    run(main())


@pytest.mark.parametrize("name", [["a", 1], {"a": 1}, ("a", [1])])
def test_keys_that_no_result_can_be_found_by_are_refused_before_anything_is_written(name: Any) -> None:
    async def main() -> None:
        node = (await Swarm.grow(3)).nodes[0]
        for call in (node.store(name, 1, clock() + 50), node.store("k", 1, clock() + 50, subkey=name), node.get(name)):
            with pytest.raises(UsageError, match="use a tuple instead"):
                await call
        assert not len(node.storage)

    run(main())


@pytest.mark.parametrize("names", [[1, True], [0, 0.0], [(1, "a"), (True, "a")]])
def test_names_that_python_takes_for_one_are_not_mixed_up(names: list[Any]) -> None:
    async def main() -> None:
        swarm = await Swarm.grow(3)
        node = swarm.nodes[0]
        for name in names:
            assert await node.store(name, repr(name), clock() + 60)
        with pytest.raises(UsageError, match="cannot be told apart"):
            await node.get_many(["k", *names])
        with pytest.raises(UsageError, match="cannot be told apart"):
            await node.store_many(names, names, clock() + 90)
        with pytest.raises(UsageError, match="cannot be told apart"):
            await node.store_many(["d"] * len(names), names, clock() + 90, names)
        for name in names:
            got = await node.get(name)
            assert got is not None
            assert got.value == repr(name)
        assert len(await node.get_many([names[0], names[0]])) == 1, "the same twice is no mistake"
        # Others may write such subkeys one after the other; then the latest counts, whoever holds or reads it.
        for lifetime_s, subkeys in ((60, names), (90, names[::-1])):
            for number, subkey in enumerate(subkeys):
                assert await node.store(f"d{lifetime_s}", repr(subkey), clock() + lifetime_s + number, subkey=subkey)
            found = await swarm.nodes[1].get(f"d{lifetime_s}", latest=True)
            assert found is not None
            assert [(repr(name), entry.value) for name, entry in found.value.items()] == [(repr(subkeys[-1]),) * 2]
        swarm.check()

    run(main())


def test_large_values_and_many_of_them() -> None:
    async def main() -> None:
        swarm = await Swarm.grow(6)
        values: dict[Any, bytes] = {number: bytes([number]) * 500_000 for number in range(12)}
        stored = await swarm.nodes[0].store_many(list(values), list(values.values()), clock() + 60)
        assert all(stored.values())
        got = await swarm.nodes[5].get_many(values, latest=True)
        assert all((value := got[key]) is not None and value.value == values[key] for key in values)
        header = len(pack(b"x" * (1 << 20))) - (1 << 20)
        largest = b"x" * ((1 << 20) - header)
        assert await swarm.nodes[0].store("largest", largest, clock() + 60), "what passes here, holders take"
        assert await swarm.nodes[0].store("largest", largest, clock() + 60, subkey="s" * 4000)
        with pytest.raises(UsageError, match="at most 1048576"):
            await swarm.nodes[0].store("too large", largest + b"x", clock() + 60)
        with pytest.raises(UsageError, match=r"2 values; at most 1056768 .* spread it over several keys"):
            await swarm.nodes[0].store_many(["d"] * 2, [largest] * 2, clock() + 60, [1, 2])
        swarm.check()

    run(main())


def test_a_dictionary_of_very_many_subkeys_is_read_and_stored_anew_where_records_may_be_large() -> None:
    async def main() -> None:
        swarm = await Swarm.grow(2, options=Options(max_record_bytes=4 << 20, cache_nearest=0))
        writer, other = swarm.nodes
        for part in range(2):
            names = [f"{part} {number}" for number in range(5000)]
            await writer.store_many(["d"] * 5000, names, clock() + 500 + part, names)
        got = await writer.get("d", latest=True)
        assert got is not None
        assert len(got.value) > 8000
        other.storage.remove(place_of("d"))
        await asyncio.sleep(80)
        await writer.upkeep.republish()
        assert place_of("d") in other.storage
        swarm.check()

    run(main())
