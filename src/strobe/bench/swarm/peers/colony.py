"""Peers of the DHT that share a process and its event loop, each with a port and an identity of its own."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from strobe.bench.swarm.peers.path import BadPort
from strobe.swarm.dht.id import number as to_number
from strobe.swarm.dht.id import place_of
from strobe.swarm.dht.node import Node
from strobe.swarm.dht.options import Options
from strobe.swarm.net.cipher import AES_GCM, PLAIN
from strobe.swarm.net.identity import Identity
from strobe.swarm.net.network import Contact
from strobe.swarm.net.peer_network import PeerNetwork
from strobe.swarm.net.ports import DatagramPort

#: joining at the same time: none of them can introduce another, so not many more than there are already
_AT_ONCE = 8


@dataclass(frozen=True, kw_only=True)
class Conditions:
    """What peers and paths are like."""

    is_plain: bool = False
    loss: float = 0.0
    latency_s: float = 0.0
    wait_timeout_s: float = 5.0
    expiration_s: float = 300.0
    random_seed: int = 30


@dataclass
class Colony:
    """Peers in the order in which they joined."""

    conditions: Conditions
    rng: random.Random
    nodes: list[Node] = field(default_factory=list)
    dead: set[int] = field(default_factory=set)

    async def grow(
        self,
        count: int,
        num_initial: int,
        known: Sequence[Contact] = (),
        progress: Callable[[int], None] = lambda done: None,
    ) -> list[Contact]:
        """Add peers, each of which knows `num_initial` of those before it; return who they are."""
        contacts = list(known)
        new: list[Node] = []
        while len(new) < count:
            at_once = min(_AT_ONCE, max(len(contacts), 1), count - len(new))
            new += await asyncio.gather(*(self._open(contacts, num_initial) for _ in range(at_once)))
            contacts += [node.network.address.contact for node in new[-at_once:]]
            progress(len(new))
        self.nodes += new
        return contacts[len(known) :]

    def name_of(self, peer: int) -> str:
        """Return what a peer calls itself in what it declares."""
        return self.nodes[peer].network.address.id.hex()

    async def declare(self, peer: int, uids: list[str]) -> list[bool]:
        """Have a peer declare experts, of which it says that they are its own."""
        node, name = self.nodes[peer], self.name_of(peer)
        # Of two experts that differ only in the last coordinate, one stands for the coordinate before.
        records = {(key, subkey): value for uid in uids for key, subkey, value in records_of(uid, name)}
        keys, subkeys = zip(*records, strict=True)
        expires = time.time() + self.conditions.expiration_s
        return list((await node.store_many(keys, list(records.values()), expires, subkeys)).values())

    async def find(self, peer: int, uids: list[str], declared_by: str) -> list[bool]:
        """Have a peer look experts up; return which were found as declared."""
        found = await self.nodes[peer].get_many(uids)
        return [(value := found[uid]) is not None and value.value == declared_by for uid in uids]

    async def kill(self, peer: int) -> None:
        """End a peer without a word to anybody: its sockets close first."""
        self.dead.add(peer)
        await self.nodes[peer].network.close()
        await self.nodes[peer].close()

    def num_alive(self) -> int:
        return len(self.nodes) - len(self.dead)

    def num_messages(self) -> int:
        """Return how many requests its peers have sent."""
        return sum(node.exchange.num_requests for node in self.nodes)

    def judge(self, keys: list[str]) -> dict[str, float]:
        """Return which share of keys is held by all that are nearest in truth, and how many hold a key on average."""
        living = [node for number, node in enumerate(self.nodes) if number not in self.dead]
        by_id = {to_number(node.network.address.id): node for node in living}
        num_right = num_held = 0
        for key in keys:
            place = place_of(key)
            nearest = sorted(by_id, key=to_number(place).__xor__)[: living[0].options.num_replicas]
            num_right += all(place in by_id[peer].storage for peer in nearest)
            num_held += sum(place in node.storage for node in living)
        return {"true_holders": num_right / len(keys), "replicas": num_held / len(keys)}

    async def close(self) -> None:
        for number, node in enumerate(self.nodes):
            if number not in self.dead:
                await node.close()

    async def _open(self, contacts: list[Contact], num_initial: int) -> Node:
        conditions = self.conditions
        initial = self.rng.sample(contacts, min(num_initial, len(contacts)))
        is_bad = conditions.loss or conditions.latency_s
        bad = partial(BadPort, loss=conditions.loss, delay_s=conditions.latency_s, rng=self.rng)
        network = await PeerNetwork.listen(
            Identity.generate(),
            suite=PLAIN if conditions.is_plain else AES_GCM,
            open_port=bad if is_bad else DatagramPort,
        )
        return await Node.create(network, initial, Options(timeout_s=conditions.wait_timeout_s))


def records_of(uid: str, peer: str) -> list[tuple[str, Any, Any]]:
    """Return (key, subkey, value) of what declares one expert: its id, and each prefix with the next coordinate."""
    prefix, a, b, c = uid.split(".")
    return [(uid, None, peer), (f"{prefix}.{a}.", int(b), (uid, peer)), (f"{prefix}.{a}.{b}.", int(c), (uid, peer))]
