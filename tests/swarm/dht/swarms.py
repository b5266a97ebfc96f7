"""Simulated swarms for tests: made, checked against the truth, and ended without a leftover error."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import Any

from strobe.swarm.dht.id import number, place_of
from strobe.swarm.dht.node import Node
from strobe.swarm.dht.options import Options
from strobe.swarm.dht.sim.loop import clock
from strobe.swarm.dht.sim.world import World
from strobe.swarm.dht.validator import RecordValidator


class Swarm:
    """Nodes of one simulated world."""

    def __init__(self, world: World | None = None, options: Options | None = None) -> None:
        self.world = world or World()
        self.options = options or Options()
        self.nodes: list[Node] = []

    @classmethod
    async def grow(cls, count: int, world: World | None = None, options: Options | None = None) -> Swarm:
        """Return a swarm of `count`, joined a few at a time."""
        swarm = cls(world, options)
        await swarm.add()
        while len(swarm.nodes) < count:
            several = min(16, len(swarm.nodes), count - len(swarm.nodes))
            await asyncio.gather(*(swarm.add() for _ in range(several)))
        return swarm

    async def add(
        self,
        options: Options | None = None,
        *,
        peer_id: bytes | None = None,
        host: str | None = None,
        clock: Callable[[], float] = clock,
        validator: RecordValidator | None = None,
    ) -> Node:
        """Let one more node join through two of those that are there."""
        known = self.world.random.sample(self.nodes, min(2, len(self.nodes)))
        network = self.world.network(peer_id, host)
        contacts = [node.network.address.contact for node in known]
        node = await Node.create(network, contacts, options or self.options, clock=clock, validator=validator)
        self.nodes.append(node)
        return node

    async def kill(self, nodes: Iterable[Node]) -> None:
        """End nodes without a word to the others."""
        for node in list(nodes):
            self.nodes.remove(node)
            await node.close()

    def holders(self, key: Any) -> list[Node]:
        """Return who holds a key."""
        place = place_of(key)
        return [node for node in self.nodes if place in node.storage]

    def nearest(self, key: Any, count: int = 5) -> list[Node]:
        """Return the nodes that should hold a key, as one who sees all knows."""
        target = number(place_of(key))
        return sorted(self.nodes, key=lambda node: number(node.network.address.id) ^ target)[:count]

    def is_held_by_nearest(self, key: Any, count: int = 5) -> bool:
        """Whether all that should hold a key do."""
        place = place_of(key)
        return all(place in node.storage for node in self.nearest(key, count))

    def check(self) -> None:
        """Fail if any handler or duty raised what it should not."""
        assert self.world.errors == []
        assert [node for node in self.nodes if node.upkeep.num_failures] == []
