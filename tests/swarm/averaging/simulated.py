"""Averagers in a simulated swarm, under a clock that jumps: everything but sockets, threads and tensors' owners."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import torch

from strobe.swarm.averaging.engine import Averaged, Engine
from strobe.swarm.averaging.group import Member, Role
from strobe.swarm.averaging.settings import Settings
from strobe.swarm.dht.node import Node
from strobe.swarm.dht.options import Options
from strobe.swarm.dht.sim.world import World
from strobe.swarm.dht.value import pack
from tests.swarm.dht.swarms import Swarm

_Result = TypeVar("_Result")
SCHEMA = bytes(20)


def settings(**chosen: Any) -> Settings:
    defaults: dict[str, Any] = {
        "prefix": "sim",
        "target_group_size": None,
        "min_group_size": 2,
        "matchmaking_s": 5.0,
        "round_timeout_s": 30.0,
        "request_timeout_s": 2.0,
        "compression": "none",
        "part_bytes": 2**19,
        "bandwidth": 1.0,
        "role": "full",
    }
    return Settings(**{**defaults, **chosen})


async def here(work: Callable[[], _Result]) -> _Result:
    """Threads do not know of simulated time."""
    return work()


class Peer:
    """One averager."""

    def __init__(self, node: Node, number: int, chosen: Settings, schema: bytes = SCHEMA) -> None:
        self.node = node
        self.number = number
        self.engine = Engine(node, chosen, schema, crunch=here, rng=random.Random(number))

    @property
    def id(self) -> bytes:
        return self.node.network.address.id

    async def average(
        self, values: Sequence[float] | torch.Tensor, *, weight: float = 1.0, timeout_s: float | None = None
    ) -> Averaged | None:
        chosen = self.engine.settings
        me = Member(
            address=self.node.network.address,
            weight=weight,
            bandwidth=chosen.bandwidth,
            role=chosen.role,
            gathered=pack(self.number),
        )
        return await self.engine.average(me, torch.as_tensor(values, dtype=torch.float32), timeout_s)


async def grow(count: int, *, world: World | None = None, **chosen: Any) -> tuple[Swarm, list[Peer]]:
    """Return a swarm in which every node averages."""
    swarm = await Swarm.grow(count, world, Options(timeout_s=1.0))
    return swarm, [Peer(node, number, settings(**chosen)) for number, node in enumerate(swarm.nodes)]


async def add(swarm: Swarm, number: int, role: Role = "full", **chosen: Any) -> Peer:
    """Let one more join."""
    node = await swarm.add(Options(timeout_s=1.0, client_mode=role == "client"))
    return Peer(node, number, settings(role=role, **chosen))


async def average_all(peers: Sequence[Peer], values: Sequence[Any], spread_s: float = 0.0) -> list[Averaged | None]:
    """Let all average, beginning within some seconds."""
    rng = random.Random(7)

    async def one(peer: Peer, mine: Any) -> Averaged | None:
        await asyncio.sleep(rng.uniform(0, spread_s))
        return await peer.average(mine)

    return await asyncio.gather(*(one(peer, mine) for peer, mine in zip(peers, values, strict=True)))
