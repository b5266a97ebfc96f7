"""Our DHT in hivemind's benchmark: all peers in this process, or in `processes` of their own."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable
from multiprocessing.connection import wait

from strobe._version import __version__
from strobe.bench.swarm.peers.colony import Colony, Conditions
from strobe.bench.swarm.peers.worker import Worker
from strobe.bench.swarm.programs.dht_run import run
from strobe.bench.swarm.programs.talk import Talk
from strobe.swarm.dht.host import new_loop
from strobe.swarm.net.network import Contact


class LocalSwarm:
    """All peers in this process. Time stands still for them between calls."""

    def __init__(self, conditions: Conditions) -> None:
        self._loop = new_loop()
        self._colony = Colony(conditions, random.Random(conditions.random_seed))

    def create(self, num_peers: int, initial_peers: int, rng: random.Random, progress: Callable[[int], None]) -> None:
        self._loop.run_until_complete(self._colony.grow(num_peers, initial_peers, (), progress))

    def declare(self, uids: list[str]) -> list[bool]:
        return self._loop.run_until_complete(self._colony.declare(-2, uids))

    def find(self, uids: list[str]) -> list[bool]:
        declared_by = self._colony.nodes[-2].network.address.id.hex()
        return self._loop.run_until_complete(self._colony.find(-1, uids, declared_by))

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
        shares = [len(range(start, num_peers, self._num_processes)) for start in range(self._num_processes)]
        self._workers = [Worker(self._conditions, number, share) for number, share in enumerate(shares)]
        contacts = self._begin(initial_peers)
        progress(len(contacts))
        starting, joining = set(self._workers[1:]), set[Worker]()
        while starting or joining:
            readable = wait([worker.pipe for worker in starting | joining])
            for worker in [worker for worker in starting | joining if worker.pipe in readable]:
                heard = worker.hear()
                if worker in starting:  # it is up: only now choose whom it knows, for there are more to choose from
                    starting.discard(worker)
                    joining.add(worker)
                    known = rng.sample(contacts, min(initial_peers, len(contacts)))
                    worker.tell("grow", worker.num_peers, initial_peers, known)
                else:
                    joining.discard(worker)
                    contacts += heard
                    self._declared_by = heard[-1].id.hex() if worker is self._workers[-2] else self._declared_by
                    progress(len(contacts))
        places = [(worker, number) for worker in self._workers for number in range(worker.num_peers)]
        finder, declarer = places.pop(), places.pop(-self._workers[-1].num_peers)
        self._places = [*places, declarer, finder]

    def _begin(self, initial_peers: int) -> list[Contact]:
        first = self._workers[0]
        first.hear()
        contacts: list[Contact] = first.ask("grow", first.num_peers, initial_peers)
        return contacts

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


if __name__ == "__main__":
    main()
