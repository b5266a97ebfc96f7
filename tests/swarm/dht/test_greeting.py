"""Getting to know each other: what is known when somebody has joined."""

from __future__ import annotations

from strobe.swarm.dht.id import number
from strobe.swarm.dht.sim.loop import run
from strobe.swarm.dht.sim.world import World
from tests.swarm.dht.swarms import Swarm


def test_who_joins_is_known_at_once() -> None:
    async def main() -> None:
        swarm = await Swarm.grow(2)
        first, second = swarm.nodes
        assert number(second.network.address.id) in first.peers.table
        assert number(first.network.address.id) in second.peers.table
        swarm.check()

    run(main())


def test_the_clock_of_one_who_greets_seems_right() -> None:
    async def main() -> None:
        swarm = await Swarm.grow(2, world=World(latency_s=0.2))
        first, second = swarm.nodes
        skew_s = await second.greeting.skew_of(first.network.address.contact)
        assert skew_s is not None
        assert abs(skew_s) < 0.12, "each way takes 0.1 to 0.3 s"
        swarm.check()

    run(main())
