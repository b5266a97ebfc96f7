"""hivemind's DHT in its own benchmark: a process and a daemon per peer, made one after the other as by its script."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import Any

import hivemind  # type: ignore[import-not-found]  # only in its own environment
from hivemind.moe.server.dht_handler import declare_experts, get_experts  # type: ignore[import-not-found]
from hivemind.utils import get_dht_time  # type: ignore[import-not-found]

from .dht_run import run
from .talk import Talk


class HivemindSwarm:
    """Its DHT objects."""

    def __init__(self, expiration_s: float, wait_timeout_s: float) -> None:
        self._expiration_s = expiration_s
        self._wait_timeout_s = wait_timeout_s
        self._peers: list[Any] = []

    def create(self, num_peers: int, initial_peers: int, rng: random.Random, progress: Callable[[int], None]) -> None:
        while len(self._peers) < num_peers:
            known = rng.sample(self._peers, min(initial_peers, len(self._peers)))
            addresses = [address for peer in known for address in peer.get_visible_maddrs()]
            self._peers.append(hivemind.DHT(addresses, start=True, wait_timeout=self._wait_timeout_s))
            progress(len(self._peers))

    def declare(self, uids: list[str]) -> list[bool]:
        stored = declare_experts(self._peers[-2], uids, expiration_time=get_dht_time() + self._expiration_s)
        return [bool(is_stored) for is_stored in stored.values()]

    def find(self, uids: list[str]) -> list[bool]:
        declared_by = self._peers[-2].peer_id
        experts = get_experts(self._peers[-1], uids)
        return [
            expert is not None and expert.uid == uid and expert.peer_id == declared_by
            for expert, uid in zip(experts, uids, strict=True)
        ]

    def kill(self, peer: int) -> None:
        self._peers[peer].shutdown()  # as its script does; a kill would leave its daemon behind

    def wait(self, seconds: float) -> None:
        time.sleep(seconds)

    def num_alive(self) -> int:
        return sum(peer.is_alive() for peer in self._peers)

    def figures(self) -> dict[str, float]:
        return {}

    def judge(self, uids: list[str]) -> dict[str, float]:
        return {}

    def close(self) -> None:
        for peer in self._peers:
            peer.shutdown()


def main() -> None:
    talk = Talk()
    talk.about(hivemind.__version__)
    swarm = HivemindSwarm(float(talk.job["expiration"]), float(talk.job["wait_timeout"]))
    try:
        run(talk, swarm)
    finally:
        swarm.close()
