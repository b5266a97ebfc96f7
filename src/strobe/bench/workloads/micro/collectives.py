"""Collectives: bus bandwidth of all_reduce and all_to_all between the processes of a measurement.

Bytes are those that must cross each process's link whatever the algorithm: of a buffer of n bytes, 2 (p - 1) / p for
all_reduce and (p - 1) / p for all_to_all among p processes. One process alone sends nothing and scores nothing.
Every process must take the same number of steps.
"""

from __future__ import annotations

from typing import Literal

import torch
import torch.distributed as dist

from strobe.bench.workload import Work
from strobe.bench.workloads.group import join_group
from strobe.bench.workloads.micro.kernel import Kernel

Operation = Literal["all_reduce", "all_to_all"]
_CROSSINGS: dict[Operation, int] = {"all_reduce": 2, "all_to_all": 1}
_RING = 2


class Collective(Kernel):
    """One exchange of a buffer of so many bytes per process."""

    def __init__(self, operation: Operation, size_bytes: int, tolerance: float) -> None:
        super().__init__(tolerance)
        self.operation, self.size_bytes = operation, size_bytes

    def prepare(self, batch_size: int) -> None:
        self.group = join_group(self.device)
        self.seed = torch.initial_seed()
        # As many numbers as fit; what is dealt out has equal parts for all processes.
        part = self.group.size if self.operation == "all_to_all" else 1
        self.out = torch.empty(max(1, self.size_bytes // 4 // part) * part)
        self.ring = [self._draw(index, self.group.rank) for index in range(_RING)]

    def _draw(self, index: int, rank: int) -> torch.Tensor:
        """Draw what a process sends: each can tell what it ought to receive from the others."""
        generator = torch.Generator(self.device).manual_seed(self.seed + 1 + rank * _RING + index % _RING)
        return torch.randn(len(self.out), generator=generator, device=self.device)

    def run(self, index: int) -> torch.Tensor:
        mine = self.ring[index % _RING]
        if self.operation == "all_reduce":
            # The sum replaces the buffer, so it is put into place anew each time, which is little beside the exchange.
            self.out.copy_(mine)
            dist.all_reduce(self.out)
        else:
            dist.all_to_all_single(self.out, mine)
        return self.out.view(1, -1)

    def work(self) -> Work:
        size = self.group.size
        crossing = _CROSSINGS[self.operation] * (size - 1) / size
        return Work(examples=1, flops=0.0, bytes=crossing * self.out.nbytes)

    def reference(self, index: int) -> torch.Tensor:
        size, rank = self.group.size, self.group.rank
        if self.operation == "all_reduce":
            expected = torch.zeros_like(self.out, dtype=torch.float64)
            for sender in range(size):
                expected += self._draw(index, sender)
        else:
            expected = torch.cat([self._draw(index, sender).chunk(size)[rank] for sender in range(size)]).double()
        return expected.view(1, -1)


def collective(operation: Operation, size_bytes: int, tolerance: float = 1e-3) -> Collective:
    """Make one exchange of so many bytes."""
    return Collective(operation, size_bytes, tolerance)
