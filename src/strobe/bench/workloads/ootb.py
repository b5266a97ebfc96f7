"""Out of the box: a task as a researcher would run it. Nothing here may be tuned; that is what Optimized is for.

Dropout is off in training: a step then has one right answer, which Optimized can be checked against. Weights come from
the seed alone, so a reference is built again when asked for and no second copy takes memory during the measurement.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import nn

from strobe.bench.workload import Correctness, Work
from strobe.bench.workloads.correctness import compare_losses, compare_outputs
from strobe.bench.workloads.precision import Precision, choose_precision
from strobe.bench.workloads.task import Batch, Task, settle_statistics

#: input batches that steps take turns on, so that no cache holds the one input
RING = 4
#: examples that batch norms get their statistics from
_SETTLING = 4


class _Ootb:
    """What inference and training share: weights and inputs from the seed."""

    is_training: bool

    def __init__(self, task: Task, tolerance: float = 1e-3, precision: Precision = "fp32") -> None:
        self.task = task
        self.tolerance = tolerance
        self.precision = precision

    def setup(self, batch_size: int, seed: int, device: str, threads: int) -> None:
        torch.set_num_threads(threads)
        self.device, self.seed = device, seed
        self.dtype = self.choose_dtype(choose_precision(self.precision, device))
        self.model = self.build_model(self.dtype)
        rng = np.random.default_rng(seed)
        self.ring = [self.task.draw(rng, batch_size).to(device, self.dtype) for _ in range(RING)]

    def choose_dtype(self, dtype: torch.dtype) -> torch.dtype:
        """Give the type of weights and inputs: the precision's, unless the task has one of its own."""
        return self.task.dtype if self.task.dtype != torch.float32 else dtype

    def build_model(self, dtype: torch.dtype) -> nn.Module:
        """Make the model that the seed gives, in another precision if asked."""
        torch.manual_seed(self.seed)
        model = self.task.build()
        examples = self.task.draw(np.random.default_rng([self.seed, 1]), _SETTLING).to("cpu", torch.float32)
        settle_statistics(model, examples)
        return model.to(self.device, dtype).train(self.is_training)

    def compile(self) -> None:
        pass

    def batch(self, index: int) -> Batch:
        return self.ring[index % len(self.ring)]

    def work(self) -> Work:
        works = [self.task.work(self.model, batch, self.is_training) for batch in self.ring]
        return Work(
            examples=sum(work.examples for work in works) / len(works),
            flops=sum(work.flops for work in works) / len(works),
            bytes=sum(work.bytes for work in works) / len(works),
        )

    @property
    def reference_name(self) -> str:
        return f"OOTB {str(self.task.reference_dtype).removeprefix('torch.')}"


class OotbInference(_Ootb):
    """Forward passes without gradients."""

    is_training = False

    def step(self, index: int) -> Any:
        with torch.inference_mode():
            return self.task.infer(self.model, self.batch(index))

    def reference(self, index: int) -> torch.Tensor:
        dtype = self.task.reference_dtype
        with torch.inference_mode():
            output: torch.Tensor = self.task.infer(self.build_model(dtype), self.batch(index).to(self.device, dtype))
            return output

    def check(self, output: torch.Tensor, reference: torch.Tensor) -> Correctness:
        return compare_outputs(output, reference, self.tolerance, self.reference_name)


class OotbTraining(_Ootb):
    """Forward, backward and a step of the optimizer. A loss depends on all steps before it: checks start at step 0.

    In 16 bits, weights stay in 32 and torch's autocast chooses what is computed in 16.
    """

    is_training = True

    def choose_dtype(self, dtype: torch.dtype) -> torch.dtype:
        self.autocast = dtype if dtype.itemsize == 2 else None
        return self.task.dtype

    def setup(self, batch_size: int, seed: int, device: str, threads: int) -> None:
        super().setup(batch_size, seed, device, threads)
        self.optimizer = self.task.optimizer(self.model)

    def step(self, index: int) -> torch.Tensor:
        batch = self.batch(index)
        if self.autocast is None:
            return _train(self.task, self.model, self.optimizer, batch)
        self.optimizer.zero_grad()
        with torch.autocast(torch.device(self.device).type, self.autocast):
            loss = self.task.loss(self.model(*batch.inputs), batch.target)
        loss.backward()
        self.optimizer.step()
        return loss.detach()

    def reference(self, index: int) -> torch.Tensor:
        """Give the losses of steps 0 to `index`, from the first weights on."""
        dtype = self.task.reference_dtype
        model = self.build_model(dtype)
        optimizer = self.task.optimizer(model)
        batches = [self.batch(step).to(self.device, dtype) for step in range(index + 1)]
        return torch.stack([_train(self.task, model, optimizer, batch) for batch in batches])

    def check(self, output: torch.Tensor, reference: torch.Tensor) -> Correctness:
        return compare_losses(output, reference, self.tolerance, self.reference_name)


def _train(task: Task, model: nn.Module, optimizer: torch.optim.Optimizer, batch: Batch) -> torch.Tensor:
    optimizer.zero_grad()
    loss = task.loss(model(*batch.inputs), batch.target)
    loss.backward()
    optimizer.step()
    return loss.detach()
