"""The throughput benchmark itself, the same for every subject: a server with experts, clients that load it.

Clients are up before the server starts, and wait; the clock of the work begins when they are let go, so it holds their
connecting, and ends when the last one has its last answer. Standard library only.
"""

from __future__ import annotations

import time
from typing import Protocol

from .talk import Talk


class Stage(Protocol):
    """Server and clients of one implementation."""

    def launch_clients(self) -> None:
        """Start clients that wait."""

    def create_experts(self) -> None: ...

    def start_server(self) -> None:
        """Return when it answers."""

    def work(self) -> None:
        """Let the clients go; return when all are done, raise if one failed."""

    def shut_down(self) -> None: ...

    def figures(self) -> dict[str, float]:
        """Return what there is to tell of the device's memory."""


def run(talk: Talk, stage: Stage) -> None:
    """Do the job that `talk` was given."""
    job = talk.job
    started = time.perf_counter()
    stage.launch_clients()
    with talk.phase("startup") as phase:
        began = time.perf_counter()
        stage.create_experts()
        created = time.perf_counter()
        stage.start_server()
        ready = time.perf_counter()
        phase.seconds = ready - began
        phase.figures = {"experts": created - began, "networking": ready - created}
    with talk.phase("work") as phase:
        with phase.timed():
            stage.work()
        num_requests = job["num_clients"] * job["num_batches_per_client"]
        phase.figures = {"requests": num_requests, "samples": num_requests * job["batch_size"], **stage.figures()}
    with talk.phase("end") as phase:
        stage.shut_down()
        phase.figures = {"took": time.perf_counter() - started}
    talk.finish()
