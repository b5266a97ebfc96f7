"""Optimized: the same weights and inputs as OOTB, run any way that gives the right answer.

An optimization is a function from the OOTB model to something callable with the same inputs; it may take the model
apart. What it does is told in the benchmark's `changes`. The reference is always OOTB, built again from the seed.
Its work is what it really does: weights count as they are stored, and a task's subclass counts where less is computed.
Where a processor only emulates 16 bits, a row in them has their weights and inputs, and computes in 32.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import nn

from strobe.bench.workload import Work
from strobe.bench.workloads.layers.fp32_product import is_emulated
from strobe.bench.workloads.layers.widened import Widened
from strobe.bench.workloads.ootb import RING, OotbInference, OotbTraining
from strobe.bench.workloads.task import Batch, Task

#: the OOTB model and inputs to calibrate with; gives what answers instead of the model
Optimization = Callable[[nn.Module, Sequence[Batch]], Callable[..., Any]]
#: for training: gives what runs instead of the model, over the same parameters
TrainingOptimization = Callable[[nn.Module], Callable[..., Any]]


#: examples in each of the batches for calibration
_CALIBRATION = 4


@contextmanager
def _torch_at_peace() -> Iterator[None]:
    """Compilers and quantisers use parts of torch that torch itself calls deprecated."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _is_widened(device: str, dtype: torch.dtype) -> bool:
    return torch.device(device).type == "cpu" and dtype.itemsize == 2 and is_emulated(dtype)


def weight_bytes(model: Any) -> int:
    """Size of the weights that a pass reads, as they are stored; layers that lay them out anew have `weight_bytes`.

    Tables of embeddings are too large to count whole: a task counts the rows that are looked up.
    """
    modules = (one for one in model.modules() if not isinstance(one, nn.Embedding | nn.EmbeddingBag))
    return sum(
        int(module.weight_bytes)
        if hasattr(module, "weight_bytes")
        else sum(int(parameter.nbytes) for parameter in module.parameters(recurse=False))
        for module in modules
    )


class OptimizedInference(OotbInference):
    """Forward passes through what an optimization made of the model."""

    def __init__(self, task: Task, optimize: Optimization, tolerance: float) -> None:
        super().__init__(task, tolerance)
        self.optimize = optimize

    def compile(self) -> None:
        # Counted out of the box first, because the optimization may take the model apart.
        counted, out_of_the_box = super().work(), weight_bytes(self.model)
        with torch.no_grad(), _torch_at_peace():
            self.run = self._optimize()
            self.known_work = replace(counted, bytes=counted.bytes - out_of_the_box + weight_bytes(self.run))
            del self.model
            # Compilers work at the first call of each shape; only lookups, which are not compiled, have more batches.
            for index in range(RING):
                self.step(index)

    def _optimize(self) -> Callable[..., Any]:
        calibration = self._draw_calibration()
        if not _is_widened(self.device, self.dtype):
            return self.optimize(self.model, calibration)
        wide = [batch.to(self.device, torch.float32) for batch in calibration]
        return Widened(self.optimize(self.model.float(), wide))

    def work(self) -> Work:
        return self.known_work

    def _draw_calibration(self) -> list[Batch]:
        """Draw inputs that are not measured, for scales and the like."""
        rng = np.random.default_rng([self.seed, 2])
        return [self.task.draw(rng, _CALIBRATION).to(self.device, self.task.dtype) for _ in range(4)]

    def answer(self, batch: Batch) -> Any:
        with torch.inference_mode():
            return self.task.infer(self.run, batch)


class OptimizedTraining(OotbTraining):
    """Training steps through what an optimization made of the model, with the optimizer's fused form."""

    def __init__(self, task: Task, optimize: TrainingOptimization, tolerance: float) -> None:
        super().__init__(task, tolerance)
        self.optimize = optimize

    def setup(self, batch_size: int, seed: int, device: str, threads: int) -> None:
        super().setup(batch_size, seed, device, threads)
        self.run: Callable[..., Any] = self.model

    def compile(self) -> None:
        """Compile, then start again, so that the first measured step starts where OOTB's does."""
        with _torch_at_peace():
            self.run = self.optimize(self.model)
            self.optimizer = self.make_optimizer()
            for index in range(RING):
                self.step(index)
        self.start_again()

    def step(self, index: int) -> torch.Tensor:
        batch = self.batch(index)
        is_cast = self.autocast is not None and not _is_widened(self.device, self.autocast)
        with torch.autocast(torch.device(self.device).type, self.autocast, enabled=is_cast):
            loss = self.task.loss(self.run(*batch.inputs), batch.target)
        loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        return loss.detach()

    def make_optimizer(self) -> torch.optim.Optimizer:
        optimizer = self.task.optimizer(self.model)
        if any(isinstance(module, nn.Embedding | nn.EmbeddingBag) and module.sparse for module in self.model.modules()):
            return optimizer  # fused optimizers know no sparse gradients
        for group in optimizer.param_groups:
            group.update(fused=True, foreach=False)
        return optimizer
