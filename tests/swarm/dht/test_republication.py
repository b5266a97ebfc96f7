"""Records are kept alive by those who hold them, whatever else is stored under the same key meanwhile."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from strobe.swarm.dht.id import place_of
from strobe.swarm.dht.node import Node
from strobe.swarm.dht.options import Options
from strobe.swarm.dht.protocol import NO_AGREEMENT, STORE, Store, Stored, StoreItem, WireEntry
from strobe.swarm.dht.sim.loop import clock, run
from strobe.swarm.dht.sim.world import World
from strobe.swarm.dht.storage import entry_of
from strobe.swarm.dht.value import pack
from tests.swarm.dht.swarms import Swarm

_UNCACHED = Options(cache_locally=False, cache_nearest=0, cache_on_store=False)


def test_a_subkey_with_a_heartbeat_does_not_let_the_others_die() -> None:
    async def main() -> None:
        swarm = await Swarm.grow(14, World(seed=3), _UNCACHED)
        await swarm.nodes[0].store("d", 1, clock() + 86_400, subkey="long")
        for _ in range(7):  # more than hold it at first
            await swarm.kill(swarm.nearest("d", 1))
            for _ in range(10):
                await asyncio.sleep(30)
                await swarm.nodes[0].store("d", 2, clock() + 60, subkey="beat")
        place = place_of("d")
        holders = [node for node in swarm.nodes if entry_of(node.storage.get(place, clock()), pack("long"))]
        assert len(holders) >= 4
        got = await swarm.nodes[-1].get("d", latest=True)
        assert got is not None
        assert set(got.value) == {"long", "beat"}
        swarm.check()

    run(main())


_LONG: Any = (pack("long"), pack(1), 500.0)
_BEAT: Any = (pack("beat"), pack(2), 400.0)


@pytest.mark.parametrize(
    ("sent", "is_anew"),
    [
        ([_LONG, _BEAT], True),
        ([_BEAT, _LONG, (pack("more"), pack(3), 300.0)], True),
        ([_LONG, (*_BEAT[:2], 401.0)], True),
        ([_LONG], False),
        ([(*_BEAT[:2], 401.0)], False),
        ([(*_BEAT[:2], 401.0), (*_BEAT[:2], 402.0)], False),
        ([_LONG, (*_BEAT[:2], 399.0)], False),
        ([_LONG, (_BEAT[0], pack("not the same"), 400.0)], False),
        ([(b"", pack("refused"), 450.0)], False),
        ([(b"", pack("replaces all"), 600.0)], True),
    ],
)
def test_a_record_counts_as_stored_anew_if_all_of_it_was(sent: list[WireEntry], is_anew: bool) -> None:
    async def main() -> None:
        swarm = await Swarm.grow(2, options=_UNCACHED)
        sender, holder = swarm.nodes
        start = clock()

        async def send(entries: list[WireEntry]) -> None:
            later = [(subkey, value, start + expires) for subkey, value, expires in entries]
            items = [StoreItem(place_of("d"), NO_AGREEMENT, later)]
            await sender.exchange.ask(holder.network.address.contact, STORE, Store(0.0, False, items), Stored)

        await send([_LONG, _BEAT])
        await asyncio.sleep(10)
        before = clock()
        await send(sent)
        assert (holder.storage.touched.get(place_of("d"), 0.0) >= before) == is_anew

    run(main())


def test_what_a_holder_stores_itself_counts_by_the_same_rule() -> None:
    async def main() -> None:
        node = await Node.create(World().network(), clock=clock)
        place, start = place_of("d"), clock()
        await node.store("d", 1, start + 500, subkey="long")
        first = node.storage.touched[place]
        await asyncio.sleep(10)
        await node.store("d", 2, start + 400, subkey="beat")
        assert node.storage.touched[place] == first
        await node.store("d", "plain", start + 600)
        assert node.storage.touched[place] > first

    run(main())
