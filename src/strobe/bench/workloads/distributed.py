"""Training on several devices as a researcher would: the same model everywhere, gradients averaged (DDP).

A batch is that of all processes together, of which each draws and takes its own part. The reference is one process that
trains on all parts.
`ddp` makes such a workload of any model's training factory.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from strobe.bench.workload import Work
from strobe.bench.workloads.group import join_group
from strobe.bench.workloads.learning import Learned, Lesson
from strobe.bench.workloads.ootb import RING, OotbTraining
from strobe.bench.workloads.task import Batch


class DdpTraining(OotbTraining):
    """Forward, backward with gradients averaged over all processes, and a step of the optimizer."""

    def setup(self, batch_size: int, seed: int, device: str, threads: int) -> None:
        self.group = join_group(device)
        self.part_size = self.group.share(batch_size)
        super().setup(self.part_size, seed, device, threads)
        self.ring = self._draw_part(self.group.rank, self.dtype)
        self.plain = self.model
        self.model = DistributedDataParallel(self.model)

    def _draw_part(self, rank: int, dtype: torch.dtype) -> list[Batch]:
        rng = np.random.default_rng([self.seed, 3, rank])
        return [self.task.draw(rng, self.part_size).to(self.device, dtype) for _ in range(RING)]

    def work(self) -> Work:
        """Describe the step of all processes together, whose parts are alike."""
        works = [self.task.work(self.plain, batch, training=True) for batch in self.ring]
        scale = self.group.size / len(works)
        return Work(
            examples=scale * sum(work.examples for work in works),
            flops=scale * sum(work.flops for work in works),
            bytes=scale * sum(work.bytes for work in works),
        )

    def tensors(self) -> Mapping[str, torch.Tensor]:
        """Give the weights; statistics of norms are each process's own."""
        return dict(self.plain.named_parameters())

    def reference(self, index: int) -> Learned:
        """Give this process's losses of steps 0 to `index`, trained on the parts of all."""
        dtype = self.task.reference_dtype
        model = self.build_model(dtype)
        optimizer = self.task.optimizer(model)
        lesson = Lesson(model, optimizer, self.tensors())
        parts = [self._draw_part(rank, dtype) for rank in range(self.group.size)]
        own: list[torch.Tensor] = []
        for step in range(index + 1):
            optimizer.zero_grad()
            losses = [self._loss(model, part[step % RING]) for part in parts]
            torch.stack(losses).mean().backward()
            optimizer.step()
            own.append(losses[self.group.rank].detach())
        return lesson.end(own)

    def _loss(self, model: nn.Module, batch: Batch) -> torch.Tensor:
        return self.task.loss(model(*batch.inputs), batch.target)


def ddp(factory: str, tolerance: float = 1e-2, **parameters: Any) -> DdpTraining:
    """Distribute what `module:factory` trains."""
    module, _, name = factory.partition(":")
    alone: OotbTraining = getattr(import_module(module), name)(**parameters)
    return DdpTraining(alone.task, tolerance, alone.precision)
