"""Our DHT in hivemind's benchmark: all peers in this process, or in `processes` of their own."""

from __future__ import annotations

import asyncio
import os
import random
import time
from collections import deque
from collections.abc import Callable
from multiprocessing.connection import wait

from strobe._version import __version__
from strobe.bench.swarm.peers.colony import Colony, Conditions
from strobe.bench.swarm.peers.worker import Worker
from strobe.bench.swarm.programs.dht_run import run
from strobe.bench.swarm.programs.talk import Talk
from strobe.swarm.net.loop import new_event_loop
from strobe.swarm.net.network import Contact

#: processes that start at the same time: enough to keep every processor busy, not so many that they crowd the caches
_STARTING = 4 * (os.cpu_count() or 1)


class LocalSwarm:
    """All peers in this process. Time stands still for them between calls."""

    def __init__(self, conditions: Conditions) -> None:
        self._loop = new_event_loop()
        self._colony = Colony(conditions, random.Random(conditions.random_seed))

    def create(self, num_peers: int, initial_peers: int, rng: random.Random, progress: Callable[[int], None]) -> None:
        self._loop.run_until_complete(self._colony.grow(num_peers, initial_peers, (), progress))

    def declare(self, uids: list[str]) -> list[bool]:
        return self._loop.run_until_complete(self._colony.declare(-2, uids))

    def find(self, uids: list[str]) -> list[bool]:
        return self._loop.run_until_complete(self._colony.find(-1, uids, self._colony.name_of(-2)))

    def kill(self, peer: int) -> None:
        self._loop.run_until_complete(self._colony.kill(peer))

    def wait(self, seconds: float) -> None:
        self._loop.run_until_complete(asyncio.sleep(seconds))

    def num_alive(self) -> int:
        return self._colony.num_alive()

    def figures(self) -> dict[str, float]:
        return {"messages": self._colony.num_messages()}

    def judge(self, uids: list[str]) -> dict[str, float]:
        return self._colony.judge(uids)

    def close(self) -> None:
        self._loop.run_until_complete(self._colony.close())
        self._loop.close()


class SpreadSwarm:
    """Peers in processes of their own; the last two processes hold the peer that declares and the one that finds."""

    def __init__(self, conditions: Conditions, num_processes: int) -> None:
        self._conditions = conditions
        self._num_processes = num_processes
        self._workers: list[Worker] = []
        self._places: list[tuple[Worker, int]] = []
        self._declared_by = ""

    def create(self, num_peers: int, initial_peers: int, rng: random.Random, progress: Callable[[int], None]) -> None:
        shares = deque(len(range(start, num_peers, self._num_processes)) for start in range(self._num_processes))
        contacts: list[Contact] = []
        starting, up, joining = set[Worker](), deque[Worker](), set[Worker]()
        while len(contacts) < num_peers:
            while shares and len(starting) < _STARTING:
                self._workers.append(Worker(self._conditions, len(self._workers), shares.popleft()))
                starting.add(self._workers[-1])
            for worker in _speaking(starting | joining):
                heard = worker.hear()
                if worker in starting:
                    starting.discard(worker)
                    up.append(worker)
                else:
                    joining.discard(worker)
                    contacts += heard
                    progress(len(contacts))
            while up and (contacts or not joining):  # the first one knows nobody, and the others wait for it
                joining.add(worker := up.popleft())
                known = rng.sample(contacts, min(initial_peers, len(contacts)))
                worker.tell("grow", worker.num_peers, initial_peers, known)
        places = [(worker, number) for worker in self._workers for number in range(worker.num_peers)]
        finder, declarer = places.pop(), places.pop(-self._workers[-1].num_peers)
        self._places = [*places, declarer, finder]
        self._declared_by = self._workers[-2].ask("name_of", -1)

    def declare(self, uids: list[str]) -> list[bool]:
        good: list[bool] = self._workers[-2].ask("declare", -1, uids)
        return good

    def find(self, uids: list[str]) -> list[bool]:
        good: list[bool] = self._workers[-1].ask("find", -1, uids, self._declared_by)
        return good

    def kill(self, peer: int) -> None:
        worker, number = self._places[peer]
        if worker.num_peers == 1:
            worker.kill()
        else:
            worker.ask("kill", number)

    def wait(self, seconds: float) -> None:
        time.sleep(seconds)

    def num_alive(self) -> int:
        return sum(worker.ask("num_alive") for worker in self._living())

    def figures(self) -> dict[str, float]:
        return {"messages": sum(worker.ask("num_messages") for worker in self._living())}

    def judge(self, uids: list[str]) -> dict[str, float]:
        return {}  # no process sees what the peers of the others hold

    def close(self) -> None:
        for worker in self._living():
            worker.stop()

    def _living(self) -> list[Worker]:
        return [worker for worker in self._workers if worker.is_alive]


def _speaking(workers: set[Worker]) -> list[Worker]:
    """Wait until some of the workers have something to say; return those."""
    pipes = wait([worker.pipe for worker in workers])
    return [worker for worker in workers if worker.pipe in pipes]


def main() -> None:
    talk = Talk()
    talk.about(__version__)
    job = talk.job
    conditions = Conditions(
        is_plain=bool(job["plain"]),
        loss=float(job["loss"]),
        latency_s=float(job["latency"]) / 1000,
        wait_timeout_s=float(job["wait_timeout"]),
        expiration_s=float(job["expiration"]),
        random_seed=int(job["random_seed"]),
    )
    swarm = SpreadSwarm(conditions, int(job["processes"])) if job["processes"] else LocalSwarm(conditions)
    try:
        run(talk, swarm)
    finally:
        swarm.close()
