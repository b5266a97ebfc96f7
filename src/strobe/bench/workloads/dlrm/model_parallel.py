"""DLRM on several devices: tables are dealt out, the MLPs are everywhere.

Each process looks up its tables for the examples of all, and an all_to_all gives everybody all tables of their own
examples; gradients take the same way back. The MLPs learn as with DDP. The reference is plain OOTB on the whole batch.
Shapes: B examples of one process, G examples of all, T tables of one process, D width, F dense features, V vectors.
"""
# mypy: disallow-subclassing-any=False
# ruff: noqa: N803, N806 -- shape suffixes

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from strobe.bench.workload import Work
from strobe.bench.workloads.dlrm.model import CONFIGS, Dlrm
from strobe.bench.workloads.dlrm.ootb import DlrmTask
from strobe.bench.workloads.group import AllToAll, Group, join_group
from strobe.bench.workloads.learning import Learned, Lesson, tensors_of
from strobe.bench.workloads.ootb import OotbTraining
from strobe.bench.workloads.task import Batch


class _Interaction(nn.Module):
    """What every process has: both MLPs and the dot products between them."""

    def __init__(self, model: Dlrm) -> None:
        super().__init__()
        self.bottom, self.top = model.bottom, model.top
        self.register_buffer("pairs", model.pairs, persistent=False)

    def forward(self, dense_BF: torch.Tensor, pooled_BVD: torch.Tensor) -> torch.Tensor:
        dense_BD = self.bottom(dense_BF)
        vectors_BVD = torch.cat([dense_BD[:, None], pooled_BVD], 1)
        products_BVV = torch.bmm(vectors_BVD, vectors_BVD.transpose(1, 2))
        return self.top(torch.cat([dense_BD, products_BVV[:, self.pairs[0], self.pairs[1]]], 1))


class ParallelDlrm(nn.Module):
    """One process's part of the model."""

    def __init__(self, model: Dlrm, group: Group) -> None:
        super().__init__()
        self.group = group
        self.dealt = group.spread(len(model.tables))
        self.tables = nn.ModuleList(model.tables[index] for index in self.dealt[group.rank])
        self.interaction = DistributedDataParallel(_Interaction(model))

    def forward(
        self, dense_BF: torch.Tensor, rows: tuple[torch.Tensor, ...], offsets: tuple[torch.Tensor, ...]
    ) -> torch.Tensor:
        """Take the dense features of the own examples, and lookups in the own tables for all examples."""
        batch, size = len(dense_BF), self.group.size
        pooled_TGD = torch.stack([table(*lookup) for table, *lookup in zip(self.tables, rows, offsets, strict=True)])
        # To process i goes what it has examples of, one table after another.
        sent_XD = pooled_TGD.unflatten(1, (size, batch)).transpose(0, 1).flatten(0, 2)
        sent = [len(self.tables) * batch] * size
        received = [len(tables) * batch for tables in self.dealt]
        received_XD = AllToAll.apply(sent_XD, sent, received)
        return self.interaction(dense_BF, received_XD.unflatten(0, (-1, batch)).transpose(0, 1))


class ModelParallelTraining(OotbTraining):
    """A batch is that of all processes together; every process draws it whole and takes what is its own."""

    def setup(self, batch_size: int, seed: int, device: str, threads: int) -> None:
        self.group = join_group(device)
        self.part_size = self.group.share(batch_size)
        super().setup(batch_size, seed, device, threads)
        self.whole_work = super().work()
        self.whole_ring = self.ring
        self.model = ParallelDlrm(self.model, self.group)
        self.ring = [self._take_part(batch) for batch in self.whole_ring]
        self.optimizer = self.task.optimizer(self.model)

    def _take_part(self, batch: Batch) -> Batch:
        dense_GF, rows, offsets = batch.inputs
        examples = slice(self.group.rank * self.part_size, (self.group.rank + 1) * self.part_size)
        tables = self.model.dealt[self.group.rank]
        inputs = (dense_GF[examples], *(tuple(part[index] for index in tables) for part in (rows, offsets)))
        return Batch(inputs, batch.target[examples])

    def step(self, index: int) -> torch.Tensor:
        batch = self.batch(index)
        self.optimizer.zero_grad()
        loss = self.task.loss(self.model(*batch.inputs), batch.target)
        loss.backward()
        for table in self.model.tables:
            # Losses are means over one process's examples; DDP makes means over all of them, tables got their sum.
            for parameter in table.parameters():
                parameter.grad = parameter.grad / self.group.size
        self.optimizer.step()
        return loss.detach()

    def work(self) -> Work:
        """Describe the step of all processes together."""
        return self.whole_work

    def tensors(self) -> Mapping[str, torch.Tensor]:
        """Give what this process has: its tables as the whole model numbers them, and the MLPs."""
        own = zip(self.model.dealt[self.group.rank], self.model.tables, strict=True)
        tables = {f"tables.{index}.{name}": value for index, table in own for name, value in tensors_of(table).items()}
        return {**tables, **tensors_of(self.model.interaction.module)}

    def reference(self, index: int) -> Learned:
        """Give the losses of this process's examples in steps 0 to `index`, trained on the whole batch."""
        dtype = self.task.reference_dtype
        model = self.build_model(dtype)
        optimizer = self.task.optimizer(model)
        lesson = Lesson(model, optimizer, self.tensors())
        own = slice(self.group.rank * self.part_size, (self.group.rank + 1) * self.part_size)
        losses: list[torch.Tensor] = []
        for step in range(index + 1):
            batch = self.whole_ring[step % len(self.whole_ring)].to(self.device, dtype)
            optimizer.zero_grad()
            output = model(*batch.inputs)
            self.task.loss(output, batch.target).backward()
            optimizer.step()
            losses.append(self.task.loss(output[own], batch.target[own]).detach())
        return lesson.end(losses)


def training(config: str, alpha: float = 0.0, tolerance: float = 1e-2) -> ModelParallelTraining:
    """Make the workload of a published configuration."""
    return ModelParallelTraining(DlrmTask(CONFIGS[config], alpha), tolerance)
