"""What peers do unasked, and what they keep for it: caches, records on their way, times."""

from __future__ import annotations

import asyncio
import math

import pytest

from strobe.swarm.dht.id import number, place_of
from strobe.swarm.dht.node import BootstrapFailed, Node
from strobe.swarm.dht.options import Options
from strobe.swarm.dht.schema import SchemaValidator
from strobe.swarm.dht.sim.loop import clock, run
from strobe.swarm.dht.storage import Entry, Record
from strobe.swarm.dht.value import pack
from tests.swarm.dht.swarms import Swarm

_UNCACHED = Options(cache_locally=False, cache_nearest=0, cache_on_store=False)


def test_records_are_passed_on_in_messages_of_limited_size() -> None:
    async def main() -> None:
        swarm = await Swarm.grow(2)
        sender, contact = swarm.nodes[0], swarm.nodes[1].network.address.contact
        for count, size, num_messages in ((100, 10, 1), (300, 10, 3), (6, 200_000, 6), (12, 100_000, 6)):
            before = sender.exchange.num_requests
            records: dict[bytes, Record] = {
                place_of((count, size, n)): Entry(pack(b"x" * size), clock() + 50) for n in range(count)
            }
            assert await sender.send_records(contact, records)
            assert sender.exchange.num_requests - before == num_messages
            assert all(place in swarm.nodes[1].storage for place in records)
        swarm.check()

    run(main())


@pytest.mark.parametrize("is_client", [False, True])
def test_whose_only_peer_was_away_is_back_soon_after_it(is_client: bool) -> None:
    async def main() -> None:
        swarm = await Swarm.grow(1)
        first, only = swarm.nodes[0].network.address.id, await swarm.add(Options(client_mode=is_client))
        for away_s in (30.0, 400.0):
            swarm.world.partition([first], [only.network.address.id])
            for _ in range(3):  # its user asks, in vain
                await only.get("k", latest=True)
                await asyncio.sleep(away_s / 3)
            assert len(only.peers.table) == 0
            swarm.world.partition()
            await asyncio.sleep(70.0)
            assert len(only.peers.table) == 1, "long before neighbours are looked for"
            assert await only.store("k", away_s, clock() + 600)
            assert number(first) in only.peers.table
        swarm.check()

    run(main())


def test_holders_are_those_who_hold_not_those_who_answer() -> None:
    async def main() -> None:
        swarm = await Swarm.grow(12, options=_UNCACHED)
        now, place = clock(), place_of("k")
        newer, older = [(b"", pack(1), now + 50)], [(b"", pack(2), now + 40)]
        assert (await swarm.nodes[0].writer.store({place: newer}))[place].num_holders >= 5
        assert (await swarm.nodes[0].writer.store({place: newer}))[place].num_holders >= 5, "they have it already"
        assert (await swarm.nodes[0].writer.store({place: older}))[place].num_holders == 0

    run(main())


@pytest.mark.parametrize("is_welcome", [True, False])
def test_a_record_is_let_go_only_when_others_hold_it(is_welcome: bool) -> None:
    async def main() -> None:
        swarm = await Swarm.grow(30, options=_UNCACHED)
        stray = swarm.nearest("k", 30)[-1]
        stray.storage.put(place_of("k"), pack("text"), clock() + 5000, clock())
        for node in swarm.nodes:
            if node is not stray and not is_welcome:
                node.add_validators([SchemaValidator({"k": int})])
        await stray.upkeep.republish()
        assert (place_of("k") in stray.storage) == (not is_welcome)
        assert swarm.is_held_by_nearest("k") == is_welcome
        swarm.check()

    run(main())


def test_a_renewal_that_is_wanted_soon_does_not_wait_for_one_that_was_planned() -> None:
    async def main() -> None:
        swarm = await Swarm.grow(30)
        now = clock()
        await swarm.nodes[0].store("k", "first", now + 600)
        reader = next(node for node in swarm.nodes[1:] if node not in swarm.holders("k"))
        await reader.get("k")
        assert await reader.get("k") == ("first", now + 600)  # from the cache: planned for just before it expires
        await swarm.nodes[0].store("k", "second", now + 700)
        reader.upkeep.refresh(place_of("k"))
        await asyncio.sleep(5)
        assert await reader.get("k") == ("second", now + 700)

    run(main())


def test_what_was_found_is_pushed_to_the_nearest_that_lacked_it() -> None:
    async def main() -> None:
        swarm = await Swarm.grow(60, options=Options(cache_locally=False, cache_on_store=False, cache_nearest=1))
        await swarm.nodes[0].store("k", 1, clock() + 500)
        place, cached = place_of("k"), []
        for reader in swarm.nodes:
            asked: list[Node] = []
            counts = [node.service.num_finds for node in swarm.nodes]
            await reader.get("k")
            asked = [node for node, before in zip(swarm.nodes, counts, strict=True) if node.service.num_finds > before]
            lacking = [node for node in asked if place not in node.storage and node not in cached]
            await asyncio.sleep(1)
            new = [node for node in swarm.nodes if place in node.cache and node not in cached]
            assert new == sorted(lacking, key=lambda node: number(node.network.address.id) ^ number(place))[:1]
            cached += new
        assert cached, "some found it only at the second"
        assert all(not node.storage.touched.get(place, 0) > clock() - 1 for node in swarm.nodes)
        swarm.check()

    run(main())


@pytest.mark.parametrize("is_on", [True, False])
def test_what_was_stored_is_read_without_asking(is_on: bool) -> None:
    async def main() -> None:
        swarm = await Swarm.grow(30, options=Options(cache_locally=False, cache_nearest=0, cache_on_store=is_on))
        now = clock()
        writer = swarm.nearest("k", 30)[-1]
        assert await writer.store("k", 1, now + 500)
        before = writer.exchange.num_requests
        assert await writer.get("k") == (1, now + 500)
        assert (writer.exchange.num_requests == before) == is_on
        # One who stored what was refused does not go on believing it, nor the copy from before.
        await swarm.nodes[0].store("k", 2, now + 600)
        assert not await writer.store("k", 3, now + 550)
        await asyncio.sleep(5)
        assert await writer.get("k") == (2, now + 600)

    run(main())


def test_joining_a_peer_that_is_known_is_no_meeting_of_swarms() -> None:
    async def main() -> None:
        swarm = await Swarm.grow(6)
        node = swarm.nodes[0]
        counts = []
        for _ in range(2):
            before = node.exchange.num_requests
            await asyncio.sleep(1500)
            counts.append(node.exchange.num_requests - before)
            await node.join([swarm.nodes[1].network.address.contact])
        assert counts[1] < 2 * counts[0], "it looks around as rarely as before"
        swarm.check()

    run(main())


def test_peers_that_do_not_know_what_time_it_is_do_not_count() -> None:
    async def main() -> None:
        swarm = Swarm()
        lost = Node(swarm.world.network(), clock=lambda: math.nan)
        for peers in ([lost], [lost, Node(swarm.world.network(), clock=lambda: math.inf)]):
            with pytest.raises(BootstrapFailed):
                await Node.create(swarm.world.network(), [p.network.address.contact for p in peers], clock=clock)

    run(main())
