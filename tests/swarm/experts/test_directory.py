"""Declaring and finding experts without torch, which this module does not import either: a DHT's process loads it."""

from __future__ import annotations

import subprocess
import sys
import time

import strobe.swarm.experts as package
from strobe.swarm.dht import DHT, Node
from strobe.swarm.dht.sim.loop import clock, run
from strobe.swarm.experts.directory import declare, declare_experts, find_experts
from strobe.swarm.experts.uid import parse_uid
from tests.swarm.dht.swarms import Swarm


async def has_torch(node: Node) -> bool:
    return "torch" in sys.modules


def test_the_process_of_a_dht_declares_and_finds_without_torch() -> None:
    with DHT(process=True) as dht:
        assert declare_experts(dht, ["ffn.0.1", "ffn.0.2"], time.time() + 60) == {"ffn.0.1": True, "ffn.0.2": True}
        found = find_experts(dht, ["ffn.0.1", "ffn.0.3"])
        assert found["ffn.0.1"] is not None
        assert found["ffn.0.1"].address == dht.address
        assert found["ffn.0.3"] is None
        assert not dht.run_coroutine(has_torch)


def test_an_expert_that_searches_cannot_find_does_not_count_as_declared() -> None:
    async def main() -> tuple[dict[str, bool], dict[str, bool]]:
        node, other = (await Swarm.grow(2)).nodes
        later = clock() + 60
        await other.store("ffn.0.", ("ffn.0.1", "elsewhere"), later + 1, subkey=1)
        await other.store("ffn.1.", "something else", later + 1)
        uids = [parse_uid(uid) for uid in ("ffn.0.1", "ffn.0.2", "ffn.1.1", "flat.1")]
        first = await declare(node, uids, node.network.address, later)
        return first, await declare(node, uids, node.network.address, later + 2)

    first, second = run(main())
    assert first == {"ffn.0.1": False, "ffn.0.2": True, "ffn.1.1": False, "flat.1": True}
    assert all(second.values())


def test_every_name_is_there_and_costs_nothing_until_it_is_used() -> None:
    assert set(package.__all__) == set(package._HOME)
    for name in package.__all__:
        assert getattr(package, name) is not None
    code = "import sys; from strobe.swarm.experts import find_experts; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
