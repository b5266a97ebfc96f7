"""Our server and clients in hivemind's benchmark: one process serves, clients live in processes of their own."""

from __future__ import annotations

import multiprocessing
from multiprocessing.connection import Connection
from typing import Any

from strobe._version import __version__
from strobe.bench.swarm.peers.client import serve
from strobe.bench.swarm.programs.device import describe, memory
from strobe.bench.swarm.programs.talk import Talk
from strobe.bench.swarm.programs.throughput_run import run
from strobe.errors import Error
from strobe.swarm.dht import DHT
from strobe.swarm.experts import Server
from strobe.swarm.net.cipher import AES_GCM, PLAIN


class StrobeStage:
    """The server is in this process."""

    def __init__(self, job: dict[str, Any]) -> None:
        self._job = job
        self._dht = DHT(start=False, suite=PLAIN if job["plain"] else AES_GCM)
        self._server: Server | None = None
        self._clients: list[tuple[Any, Connection]] = []

    def launch_clients(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._dht.start()
        count, num_processes = self._job["num_clients"], min(self._job["client_processes"], self._job["num_clients"])
        for start in range(num_processes):
            near, far = context.Pipe()
            arguments = far, self._job, str(self._dht.address), list(range(start, count, num_processes))
            process = context.Process(target=serve, args=arguments, daemon=True)
            process.start()
            far.close()
            self._clients.append((process, near))
        self._hear_all()

    def create_experts(self) -> None:
        job = self._job
        self._server = Server.create(
            self._dht,
            expert_class=job["expert_cls"],
            hidden_dim=job["hid_dim"],
            uids=[f"expert.{number}" for number in range(job["num_experts"])],
            max_batch_size=job["max_batch_size"],
            device=job["device"],
        )

    def start_server(self) -> None:
        assert self._server is not None
        self._server.start()

    def work(self) -> None:
        for _, pipe in self._clients:
            pipe.send(None)
        self._hear_all()

    def shut_down(self) -> None:
        for process, pipe in self._clients:
            pipe.close()
            process.join(10.0)
        if self._server is not None:
            self._server.shutdown()
        self._dht.shutdown()

    def figures(self) -> dict[str, float]:
        return memory(self._job["device"])

    def _hear_all(self) -> None:
        for process, pipe in self._clients:
            try:
                error = pipe.recv()
            except EOFError as exc:
                process.join()
                raise Error(f"a process with clients died with exit code {process.exitcode}") from exc
            if error is not None:
                raise Error(f"a client failed: {error}")


def main() -> None:
    talk = Talk()
    talk.about(__version__, **describe(talk.job["device"]))
    run(talk, StrobeStage(talk.job))
