"""MLP/Linear: layers of one width with ReLU between them and a softmax at the end, as in the public `mlp_A`.

`mlp_A` says 18 layers, which are 19 matrices; public scores count 20, ours as many as there are.
Shapes: B batch, W width.
"""
# mypy: disallow-subclassing-any=False
# ruff: noqa: N803, N806 -- shape suffixes

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812 -- its name everywhere
from torch import nn

from strobe.bench.workloads.layers.fp32_linear import pack_linears
from strobe.bench.workloads.ootb import OotbInference, OotbTraining
from strobe.bench.workloads.optimized import OptimizedInference
from strobe.bench.workloads.precision import Precision
from strobe.bench.workloads.task import Batch, Flops, Task


class Mlp(nn.Module):
    """Linear and ReLU by turns, then a softmax."""

    def __init__(self, width: int, matrices: int) -> None:
        super().__init__()
        layers = [nn.Linear(width, width) for _ in range(matrices)]
        for layer in layers:
            # Signals keep their size; with torch's own start they vanish on the way, and any error with them.
            nn.init.normal_(layer.weight, std=math.sqrt(2 / width))
        self.layers = nn.Sequential(*(part for layer in layers for part in (layer, nn.ReLU(inplace=True))))

    def forward(self, x_BW: torch.Tensor) -> torch.Tensor:
        return torch.softmax(self.layers(x_BW), 1)


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
    if precision == "fp32":
        return OptimizedInference(LinearTask(width), take_own_product, tolerance)
    return OotbInference(LinearTask(width), tolerance, precision)


def take_own_product(model: nn.Module, examples: Sequence[Batch]) -> Callable[..., Any]:
    """Take our own product; where it cannot be compiled there is no row, for torch's would be another benchmark."""
    packed: Callable[..., Any] = pack_linears(model)
    return packed


def training(width: int, precision: Precision = "fp32", tolerance: float = 1e-2) -> OotbTraining:
    """Make forward, backward and plain SGD."""
    return OotbTraining(LinearTask(width), tolerance, precision)
