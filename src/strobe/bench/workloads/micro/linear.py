"""MLP/Linear: layers of one width with ReLU between them and a softmax at the end, as in the public `mlp_A`.

`mlp_A` says 18 layers, which are 19 matrices; public scores count 20, ours as many as there are.
Shapes: B batch, W width.
"""
# mypy: disallow-subclassing-any=False
# ruff: noqa: N803, N806 -- shape suffixes

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812 -- its name everywhere
from torch import nn

from strobe.bench.workloads.ootb import OotbInference, OotbTraining
from strobe.bench.workloads.precision import Precision
from strobe.bench.workloads.task import Batch, Flops, Task


class Mlp(nn.Module):
    """Linear and ReLU by turns, then a softmax."""

    def __init__(self, width: int, matrices: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(width, width) for _ in range(matrices))
        for layer in self.layers:
            # Signals keep their size; with torch's own start they vanish on the way, and any error with them.
            nn.init.normal_(layer.weight, std=math.sqrt(2 / width))

    def forward(self, x_BW: torch.Tensor) -> torch.Tensor:
        for layer in self.layers:
            x_BW = torch.relu_(layer(x_BW))
        return torch.softmax(x_BW, 1)


@dataclass(frozen=True)
class LinearTask(Task):
    """Tell classes apart, as many as features."""

    width: int
    matrices: int = 19

    def build(self) -> nn.Module:
        return Mlp(self.width, self.matrices)

    def draw(self, rng: np.random.Generator, batch_size: int) -> Batch:
        x_BW = torch.from_numpy(rng.standard_normal((batch_size, self.width), np.float32))
        return Batch((x_BW,), torch.from_numpy(rng.integers(0, self.width, batch_size)))

    def loss(self, output: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        return F.cross_entropy(output, target)

    def flops(self, batch: Batch) -> Flops:
        per_matrix = 2.0 * len(batch.target) * self.width**2
        return Flops(per_matrix * self.matrices, of_data=per_matrix)


def forward(width: int, precision: Precision = "fp32", tolerance: float = 1e-3) -> OotbInference:
    """Make the forward pass."""
    return OotbInference(LinearTask(width), tolerance, precision)


def training(width: int, precision: Precision = "fp32", tolerance: float = 1e-2) -> OotbTraining:
    """Make forward, backward and plain SGD."""
    return OotbTraining(LinearTask(width), tolerance, precision)
