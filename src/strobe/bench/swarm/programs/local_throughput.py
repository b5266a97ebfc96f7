"""The same torch work without a swarm: what a server could do at best, in one process on the same threads.

A request of a client is a forward pass; with a backward pass it is the forward pass, the same again with gradients (a
server keeps nothing between the two), the backward pass and a step of Adam.
"""

from __future__ import annotations

import random
from typing import Any

import torch

from strobe.bench.swarm.programs.device import describe, memory
from strobe.bench.swarm.programs.inputs import make_inputs
from strobe.bench.swarm.programs.talk import Talk
from strobe.bench.swarm.programs.throughput_run import run
from strobe.swarm.experts.registry import expert_kind


class LocalStage:
    """Modules, and batches one after the other."""

    def __init__(self, job: dict[str, Any]) -> None:
        self._job = job
        self._experts: list[tuple[torch.nn.Module, torch.optim.Optimizer | None]] = []

    def launch_clients(self) -> None:
        pass

    def create_experts(self) -> None:
        job = self._job
        for _ in range(job["num_experts"]):
            module = expert_kind(job["expert_cls"]).build(job["hid_dim"]).to(job["device"])
            parameters = list(module.parameters())
            self._experts.append((module, torch.optim.Adam(parameters, fused=True) if parameters else None))

    def start_server(self) -> None:
        pass

    def work(self) -> None:
        job = self._job
        inputs = make_inputs(job, job["device"])
        rng = random.Random(0)
        for _ in range(job["num_clients"] * job["num_batches_per_client"]):
            module, optimizer = rng.choice(self._experts)
            with torch.no_grad():
                module(*inputs)
            if job["backprop"]:
                rows = [each.detach().requires_grad_(each.is_floating_point()) for each in inputs]
                module(*rows).sum().backward()
                if optimizer is not None:
                    optimizer.step()
                    optimizer.zero_grad()

    def shut_down(self) -> None:
        pass

    def figures(self) -> dict[str, float]:
        return memory(self._job["device"])


def main() -> None:
    talk = Talk()
    talk.about(torch.__version__, **describe(talk.job["device"]))
    run(talk, LocalStage(talk.job))
