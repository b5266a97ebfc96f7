"""Memory: copy, triad and read of arrays of a given size, which says whether a cache or the memory is measured.

Bytes are those of STREAM: what the program reads and writes, not what a cache fetches before it writes.
"""

from __future__ import annotations

from typing import Literal

import torch

from strobe.bench.workload import Work
from strobe.bench.workloads.micro.kernel import Kernel

Operation = Literal["copy", "triad", "read"]
_ARRAYS: dict[Operation, int] = {"copy": 2, "triad": 3, "read": 1}
_SCALE = 3.0
#: the batch axis that outputs are compared over; memory knows no examples
_LINES = 16


class Memory(Kernel):
    """a = b, a = b + 3 c, or the sum of b, over arrays of `megabytes` each."""

    def __init__(self, operation: Operation, megabytes: int, tolerance: float) -> None:
        super().__init__(tolerance)
        self.operation, self.megabytes = operation, megabytes

    def prepare(self, batch_size: int) -> None:
        shape = (_LINES, batch_size * self.megabytes * 1_000_000 // (4 * _LINES))
        self.a, self.b, self.c = (torch.empty(shape).uniform_(-1, 1) for _ in range(3))
        self.sums = torch.empty(_LINES)

    def run(self, index: int) -> torch.Tensor:
        if self.operation == "copy":
            return self.a.copy_(self.b)
        if self.operation == "triad":
            return torch.add(self.b, self.c, alpha=_SCALE, out=self.a)
        return torch.sum(self.b, 1, out=self.sums)

    def work(self) -> Work:
        flops = {"copy": 0, "triad": 2, "read": 1}[self.operation] * self.a.numel()
        return Work(examples=1, flops=flops, bytes=_ARRAYS[self.operation] * self.a.nbytes)

    def reference(self, index: int) -> torch.Tensor:
        b = self.b.double()
        if self.operation == "copy":
            return b
        return b + _SCALE * self.c.double() if self.operation == "triad" else b.sum(1)


def memory(operation: Operation, megabytes: int, tolerance: float = 1e-3) -> Memory:
    """Make one operation over arrays of so many megabytes."""
    return Memory(operation, megabytes, tolerance)
