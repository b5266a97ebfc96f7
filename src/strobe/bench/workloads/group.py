"""The processes of one measurement, joined as torchrun's environment says: RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT.

Without these variables the process is a group of its own, so that a workload for n devices also runs on one.
"""
# mypy: disallow-subclassing-any=False

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import torch
import torch.distributed as dist

from strobe.errors import Error


@dataclass(frozen=True, slots=True)
class Group:
    """Who I am among how many."""

    rank: int
    size: int

    def share(self, total: int) -> int:
        """Give the part of `total` that each process has; raises strobe.Error if there is a rest."""
        if total % self.size:
            raise Error(f"a batch of {total} cannot be shared evenly by {self.size} processes; take a multiple")
        return total // self.size

    def spread(self, count: int) -> list[range]:
        """Deal `count` things out to the processes, neighbours together, as evenly as it goes."""
        ends = [count * rank // self.size for rank in range(self.size + 1)]
        return [range(start, end) for start, end in pairwise(ends)]


def join_group(device: str) -> Group:
    """Join the processes of this measurement, once per process: gloo on the CPU, nccl on CUDA."""
    if not dist.is_initialized():
        backend = "nccl" if device.startswith("cuda") else "gloo"
        if int(os.environ.get("WORLD_SIZE", "1")) > 1:
            dist.init_process_group(backend)
        else:
            dist.init_process_group(backend, store=dist.HashStore(), rank=0, world_size=1)
    return Group(dist.get_rank(), dist.get_world_size())


class AllToAll(torch.autograd.Function):
    """Exchange rows: part i of the input goes to process i; gradients go back the same way."""

    @staticmethod
    def forward(ctx: object, x_XD: torch.Tensor, sent: Sequence[int], received: Sequence[int]) -> torch.Tensor:  # noqa: N803 -- shape
        ctx.sent, ctx.received = list(sent), list(received)  # type: ignore[attr-defined]  # torch's way to remember
        return _exchange(x_XD, list(sent), list(received))

    @staticmethod
    def backward(ctx: object, grad_XD: torch.Tensor) -> tuple[torch.Tensor, None, None]:  # noqa: N803 -- shape
        return _exchange(grad_XD, ctx.received, ctx.sent), None, None  # type: ignore[attr-defined]


def _exchange(x_XD: torch.Tensor, sent: list[int], received: list[int]) -> torch.Tensor:  # noqa: N803 -- shape
    y_XD = x_XD.new_empty(sum(received), *x_XD.shape[1:])  # noqa: N806 -- shape
    dist.all_to_all_single(y_XD, x_XD.contiguous(), received, sent)
    return y_XD
