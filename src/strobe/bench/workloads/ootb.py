"""Out of the box: a task as a researcher would run it. Nothing here may be tuned; that is what Optimized is for.

Dropout is off in training: a step then has one right answer, which Optimized can be checked against. Weights come from
the seed alone, so a reference is built again when asked for and no second copy takes memory during the measurement.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
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
#: that are judged together, whatever the batch: of a few, both their error and how much they differ are luck; of large
#: models so many only as a reference in 64 bits has time for
_EXAMPLES, _FEWEST_EXAMPLES, _REFERENCE_FLOPS = 64, 4, 200e9
#: batches that are drawn to find so many of one shape: longer texts have no mean in common with shorter ones
_DRAWS = 256
#: batches whose work differs by more than this are not alike
_ALIKE = 0.01


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

    @property
    def turn(self) -> int:
        """Steps after which their work comes again: the whole ring, unless its batches are alike."""
        flops = [self.task.flops(batch).forward for batch in self.ring]
        return len(self.ring) if max(flops) > (1 + _ALIKE) * min(flops) else 1

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
        return self.answer(self.batch(index))

    def answer(self, batch: Batch) -> Any:
        """Answer a batch as it is measured."""
        with torch.inference_mode():
            return self.task.infer(self.model, batch)

    def num_checked(self, batch: Batch) -> int:
        """Return how many batches like this one are judged together."""
        size = len(batch.inputs[0])
        affordable = int(_REFERENCE_FLOPS * size / self.task.flops(batch).forward)
        return -(-min(_EXAMPLES, max(_FEWEST_EXAMPLES, affordable)) // size)

    def _checked(self, first: Batch) -> list[Batch]:
        """Return a batch and further ones of its shape that are never measured, as many as are found."""
        rng, shape = np.random.default_rng([self.seed, 5]), first.inputs[0].shape
        drawn = (batch for _ in range(_DRAWS) for batch in self._draw(rng, shape[0], 1))
        alike = (batch for batch in drawn if batch.inputs[0].shape == shape)
        return [first, *islice(alike, self.num_checked(first) - 1)]

    def reference(self, index: int) -> list[tuple[Batch, Any]]:
        """Give the batches that are checked, that of the step first, each with what it ought to give."""
        dtype = self.task.reference_dtype
        model = self.build_model(dtype)
        with torch.inference_mode():
            return [
                (batch, self.task.infer(model, batch.to(self.device, dtype)))
                for batch in self._checked(self.batch(index))
            ]

    def check(self, output: torch.Tensor, reference: list[tuple[Batch, torch.Tensor]]) -> Correctness:
        # Compiled models may answer in the same place every time.
        found = torch.cat([output, *(self.answer(batch).clone() for batch, _ in reference[1:])])
        expected = torch.cat([right for _, right in reference])
        return compare_outputs(found, expected, self.tolerance, self.reference_name)


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
