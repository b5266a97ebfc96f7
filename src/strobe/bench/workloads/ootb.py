"""Out of the box: a task as a researcher would run it. Nothing here may be tuned; that is what Optimized is for.

Dropout is off in training: a step then has one right answer, which Optimized can be checked against. Weights come from
the seed alone, so a reference is built again when asked for and no second copy takes memory during the measurement.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import nn

from strobe.bench.workload import Correctness, Work
from strobe.bench.workloads.correctness import compare_outputs
from strobe.bench.workloads.learning import Learned, Lesson, compare_learning, tensors_of
from strobe.bench.workloads.precision import Precision, choose_precision
from strobe.bench.workloads.task import Batch, Task, settle_statistics

#: input batches that steps take turns on, at least, so that no cache holds the one input
RING = 4
#: examples that batch norms get their statistics from
_SETTLING = 4
#: of the reference, at least: what two of them happen to have in common says little about how much examples differ
_EXAMPLES = 4


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
        self.ring = self._draw(np.random.default_rng(seed), batch_size, RING)
        further = self.task.num_batches(self.ring) - RING
        self.ring += self._draw(np.random.default_rng([seed, 4]), batch_size, further)

    def _draw(self, rng: np.random.Generator, batch_size: int, count: int) -> list[Batch]:
        return [self.task.draw(rng, batch_size).to(self.device, self.dtype) for _ in range(count)]

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

    def reference(self, index: int) -> Any:
        """Give what the step ought to and, if these are few examples, those of the next steps, for their spread."""
        dtype = self.task.reference_dtype
        model = self.build_model(dtype)

        def answer(step: int) -> Any:
            return self.task.infer(model, self.batch(step).to(self.device, dtype))

        with torch.inference_mode():
            output = answer(index)
            if not isinstance(output, torch.Tensor):
                return output
            following = range(index + 1, index + -(-_EXAMPLES // len(output)))
            others = [other for other in map(answer, following) if other.shape == output.shape]
            return torch.cat([output, *others])

    def check(self, output: torch.Tensor, reference: torch.Tensor) -> Correctness:
        # Further examples of the reference count as if they erred like the first.
        errors = [output - reference[: len(output)]] * (len(reference) // len(output))
        return compare_outputs(reference + torch.cat(errors), reference, self.tolerance, self.reference_name)


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
        self.optimizer = self.make_optimizer()

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

    def reference(self, index: int) -> Learned:
        """Give what steps 0 to `index` teach, from the first weights on."""
        dtype = self.task.reference_dtype
        model = self.build_model(dtype)
        optimizer = self.task.optimizer(model)
        lesson = Lesson(model, optimizer)
        batches = [self.batch(step).to(self.device, dtype) for step in range(index + 1)]
        return lesson.end([_train(self.task, model, optimizer, batch) for batch in batches])

    def tensors(self) -> Mapping[str, torch.Tensor]:
        """Give what is trained, as OOTB names it."""
        return tensors_of(self.model)

    def make_optimizer(self) -> torch.optim.Optimizer:
        return self.task.optimizer(self.model)

    def start_again(self) -> None:
        """Bring everything that is trained back to where the seed has it begin."""
        first = tensors_of(self.build_model(self.dtype))
        with torch.no_grad():
            for name, tensor in self.tensors().items():
                tensor.copy_(first[name])
        self.optimizer = self.make_optimizer()

    def check(self, output: torch.Tensor, reference: Learned) -> Correctness:
        """Judge a loss, then start again and judge what the first step teaches; training goes on from there."""
        self.start_again()
        self.step(0)
        return compare_learning(
            output,
            self.tensors(),
            reference,
            tolerance=self.tolerance,
            precision=self.precision,
            name=self.reference_name,
        )


def _train(task: Task, model: nn.Module, optimizer: torch.optim.Optimizer, batch: Batch) -> torch.Tensor:
    optimizer.zero_grad()
    loss = task.loss(model(*batch.inputs), batch.target)
    loss.backward()
    optimizer.step()
    return loss.detach()
