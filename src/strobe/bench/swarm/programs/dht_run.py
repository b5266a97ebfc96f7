"""The DHT benchmark itself, the same for every subject: peers join, one declares experts in batches, one finds them.

hivemind's classic workload: ids such as expert.12.345.678, drawn at random, each declared as three records (the id, and
a coordinate under each of its two prefixes). Times of storing and getting are sums of the calls. Peers may be killed
between any two batches, at moments drawn beforehand; never the one that declares or the one that finds. Standard
library only.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any, Protocol

from .talk import Talk

_PREFIX = "expert"
_SIDE = 1000
_JUDGED = 500


class Swarm(Protocol):
    """Peers of one implementation; the last but one declares, the last finds."""

    def create(self, num_peers: int, initial_peers: int, rng: random.Random, progress: Callable[[int], None]) -> None:
        """Make peers; each knows `initial_peers` of those before it."""

    def declare(self, uids: list[str]) -> list[bool]:
        """Declare experts; return for each record whether it was accepted."""

    def find(self, uids: list[str]) -> list[bool]:
        """Look experts up; return for each whether it was found as it was declared."""

    def kill(self, peer: int) -> None:
        """Let a peer die without a word."""

    def wait(self, seconds: float) -> None:
        """Let time pass."""

    def num_alive(self) -> int:
        """Return how many peers live."""

    def figures(self) -> dict[str, float]:
        """Return what there is to tell besides, counted since the beginning."""

    def judge(self, uids: list[str]) -> dict[str, float]:
        """Return what can be told in the end of how experts are held."""


def run(talk: Talk, swarm: Swarm) -> None:
    """Do the job that `talk` was given."""
    job = talk.job
    rng = random.Random(job["random_seed"])
    num_peers = int(job["num_peers"])
    with talk.phase("create", num_peers) as phase:
        swarm.create(num_peers, int(job["initial_peers"]), rng, phase.progress)
        phase.figures = swarm.figures()
    uids = sample_uids(rng, int(job["num_experts"]))
    batches = list(_batches(uids, int(job["expert_batch_size"])))
    num_killed = round(float(job["failure_rate"]) * num_peers)
    ends = _draw_ends(rng, min(num_killed, num_peers - 2), num_peers - 2, 2 * len(batches))
    _pass(talk, "store", batches, swarm, swarm.declare, job, ends, 0)
    swarm.wait(float(job["wait_before_read"]))
    _pass(talk, "get", batches, swarm, swarm.find, job, ends, len(batches))
    with talk.phase("survive") as phase:
        judged = swarm.judge(rng.sample(uids, min(_JUDGED, len(uids))))
        phase.figures = {"alive": swarm.num_alive(), "peers": num_peers, **judged}
    talk.finish()


def sample_uids(rng: random.Random, count: int) -> list[str]:
    """Return up to `count` ids, each once, in an order that says nothing."""
    drawn = dict.fromkeys(".".join([_PREFIX, *(str(rng.randrange(_SIDE)) for _ in range(3))]) for _ in range(count))
    return list(drawn)


def _pass(
    talk: Talk,
    name: str,
    batches: list[list[str]],
    swarm: Swarm,
    work: Callable[[list[str]], list[bool]],
    job: dict[str, Any],
    ends: dict[int, list[int]],
    first: int,
) -> None:
    good: list[bool] = []
    with talk.phase(name, len(batches), uids=sum(map(len, batches))) as phase:
        for number, batch in enumerate(batches):
            for peer in ends.get(first + number, ()):
                swarm.kill(peer)
            with phase.timed():
                outcome = work(batch)
            good += outcome
            phase.progress(number + 1)
            swarm.wait(float(job["wait_after_request"]))
        phase.figures = {**swarm.figures(), "count": len(good), "good": sum(good)}


def _batches(uids: list[str], size: int) -> Iterator[list[str]]:
    for start in range(0, len(uids), size):
        yield uids[start : start + size]


def _draw_ends(rng: random.Random, count: int, num_mortal: int, num_batches: int) -> dict[int, list[int]]:
    """Return by batch who dies just before it."""
    ends: dict[int, list[int]] = {}
    for peer in rng.sample(range(num_mortal), count):
        ends.setdefault(rng.randrange(num_batches), []).append(peer)
    return ends
