"""hivemind's server and clients in its own benchmark: scripted experts with Adam, a forked process per client."""

from __future__ import annotations

import multiprocessing
import random
from typing import Any

import hivemind  # type: ignore[import-not-found]  # only in its own environment
import torch
from hivemind.moe.client.expert import RemoteExpert  # type: ignore[import-not-found]
from hivemind.moe.client.remote_expert_worker import RemoteExpertWorker  # type: ignore[import-not-found]
from hivemind.moe.expert_uid import ExpertInfo  # type: ignore[import-not-found]
from hivemind.moe.server import ModuleBackend, Server  # type: ignore[import-not-found]
from hivemind.moe.server.layers import name_to_block  # type: ignore[import-not-found]
from hivemind.p2p import P2P  # type: ignore[import-not-found]
from hivemind.utils.tensor_descr import BatchTensorDescriptor  # type: ignore[import-not-found]

from .device import describe, memory
from .talk import Talk
from .throughput_run import run


class HivemindStage:
    """Its server is a thread of this process, with processes of its own for handlers and batches."""

    def __init__(self, job: dict[str, Any]) -> None:
        self._job = job
        self._dht: Any = None
        self._backends: dict[str, Any] = {}
        self._server: Any = None
        self._clients: list[Any] = []
        context = multiprocessing.get_context("fork")
        self._can_start = context.Event()
        self._can_end = context.Event()
        self._outcomes: Any = context.Queue()

    def launch_clients(self) -> None:
        context = multiprocessing.get_context("fork")
        self._dht = hivemind.DHT(start=True)
        address = self._dht.get_visible_maddrs(), self._dht.peer_id
        for number in range(self._job["num_clients"]):
            arguments = self._can_start, self._can_end, self._outcomes, self._job, *address, number
            client = context.Process(target=_client, args=arguments, daemon=True)
            client.start()
            self._clients.append(client)

    def create_experts(self) -> None:
        job = self._job
        for number in range(job["num_experts"]):
            uid = f"expert.{number}"
            module = torch.jit.script(name_to_block[job["expert_cls"]](job["hid_dim"]))
            self._backends[uid] = ModuleBackend(
                name=uid,
                module=module,
                optimizer=torch.optim.Adam(module.parameters()),
                args_schema=(BatchTensorDescriptor(job["hid_dim"]),),
                outputs_schema=BatchTensorDescriptor(job["hid_dim"]),
                max_batch_size=job["max_batch_size"],
            )

    def start_server(self) -> None:
        self._server = Server(
            dht=self._dht,
            module_backends=self._backends,
            num_connection_handlers=self._job["num_handlers"],
            device=self._job["device"],
        )
        self._server.start()
        self._server.ready.wait()

    def work(self) -> None:
        self._can_start.set()
        for _ in self._clients:
            if (error := self._outcomes.get()) is not None:
                raise RuntimeError(f"a client failed: {error}")

    def shut_down(self) -> None:
        self._can_end.set()
        for client in self._clients:
            client.join(1.0)
            if client.is_alive():
                client.terminate()
        self._server.shutdown()

    def figures(self) -> dict[str, float]:
        return memory(self._job["device"])


def _client(
    can_start: Any, can_end: Any, outcomes: Any, job: dict[str, Any], addresses: list[Any], peer_id: Any, number: int
) -> None:
    torch.set_num_threads(1)
    can_start.wait()
    try:
        p2p = RemoteExpertWorker.run_coroutine(P2P.create(initial_peers=addresses))
        experts = [
            RemoteExpert(expert_info=ExpertInfo(uid=f"expert.{index}", peer_id=peer_id), p2p=p2p)
            for index in range(job["num_experts"])
        ]
        rng = random.Random(number)
        batch = torch.randn(job["batch_size"], job["hid_dim"])
        for _ in range(job["num_batches_per_client"]):
            output = rng.choice(experts)(batch)
            if job["backprop"]:
                output.sum().backward()
    except BaseException as exc:
        outcomes.put(f"{type(exc).__name__}: {exc}")
        raise
    outcomes.put(None)
    can_end.wait()  # the end of a process is no request: others still work


def main() -> None:
    talk = Talk()
    talk.about(hivemind.__version__, **describe(talk.job["device"]))
    run(talk, HivemindStage(talk.job))
