"""A kernel: one operation on inputs from the seed, checked against the same computed naively in 64 bits.

Unlike a task (`strobe.bench.workloads.task`), a kernel has no weights that would be built again for the reference: what
it reads stays as it is, so the reference is computed from the very tensors that were measured.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import torch

from strobe.bench.workload import Correctness, Work
from strobe.bench.workloads.correctness import compare_outputs


class Kernel(ABC):
    """Base of the kernels; `prepare` makes the inputs that `run` and `reference` take turns on."""

    #: whether torch must remember how outputs came about
    needs_gradients = False

    def __init__(self, tolerance: float) -> None:
        self.tolerance = tolerance

    def setup(self, batch_size: int, seed: int, device: str, threads: int) -> None:
        torch.set_num_threads(threads)
        torch.manual_seed(seed)
        self.device = device
        with torch.device(device):
            self.prepare(batch_size)

    def compile(self) -> None:  # noqa: B027 -- most kernels have nothing to compile
        pass

    def step(self, index: int) -> Any:
        with torch.inference_mode(not self.needs_gradients):
            return self.run(index)

    @abstractmethod
    def prepare(self, batch_size: int) -> None:
        """Draw the inputs; tensors are made on the device."""

    @abstractmethod
    def run(self, index: int) -> Any:
        """Compute the operation on input `index` of the ring; the first axis of the output is the example."""

    @abstractmethod
    def work(self) -> Work:
        """Describe one step."""

    @abstractmethod
    def reference(self, index: int) -> Any:
        """Compute the operation in the plainest way, in 64 bits."""

    def check(self, output: Any, reference: Any) -> Correctness:
        return compare_outputs(output, reference, self.tolerance, "naive float64")
