"""A peer that says of others that they are where they are not: it hides no record, and casts no doubt on anybody."""

from __future__ import annotations

import asyncio

import pytest

from strobe.swarm.dht.id import number
from strobe.swarm.dht.node import Node
from strobe.swarm.dht.options import Options
from strobe.swarm.dht.protocol import FIND, Found, decode, encode
from strobe.swarm.dht.sim.loop import clock, run
from strobe.swarm.dht.sim.world import World
from strobe.swarm.net.network import Caller, Payload
from tests.swarm.dht.swarms import Swarm

_UNCACHED = Options(cache_locally=False, cache_nearest=0, cache_on_store=False)
_CLIENT = Options(cache_locally=False, cache_nearest=0, cache_on_store=False, client_mode=True)


def _turn(liar: Node) -> None:
    """Have a peer deny all records, and name honest peers at addresses where nobody is."""

    def lie(caller: Caller, payload: Payload) -> bytes:
        answer = decode(Found, liar.service.find(caller, payload))
        nowhere = [(place, f"10.250.{port % 250}.{place[0]}", port) for place, _, port in answer.contacts]
        return encode(Found([[] for _ in answer.records], answer.nearest, nowhere))

    liar.network.serve(FIND, lie)


@pytest.mark.parametrize("latest", [False, True])
def test_the_nearest_peer_lies_about_addresses_yet_records_are_found(latest: bool) -> None:
    async def main() -> None:
        swarm = await Swarm.grow(40, World(seed=3), _UNCACHED)
        assert await swarm.nodes[5].store("k", 1, clock() + 500)
        liar, *honest = swarm.nearest("k", 40)
        _turn(liar)
        client = await Node.create(swarm.world.network(), [liar.network.address.contact], _CLIENT, clock=clock)
        await client.greeting.ping(honest[-1].network.address.contact)
        for _ in range(4):
            got = await client.get("k", latest=latest)
            assert got is not None
            assert got.value == 1
            await asyncio.sleep(3)
        doubted = [node for node in honest if client.peers.is_silent(number(node.network.address.id), clock())]
        assert doubted == [], "that nobody answers at a false address says nothing about the peer"
        swarm.check()

    run(main())
