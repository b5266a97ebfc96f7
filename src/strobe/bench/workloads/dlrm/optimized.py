"""DLRM, no holds barred."""
# mypy: disallow-subclassing-any=False
# ruff: noqa: N803, N806 -- shape suffixes

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import nn

from strobe.bench.workloads.dlrm.fast_tables import Bits, FastTables, row_bytes
from strobe.bench.workloads.dlrm.fast_training import LearningDlrm
from strobe.bench.workloads.dlrm.interaction import multiply_pairs
from strobe.bench.workloads.dlrm.model import CONFIGS
from strobe.bench.workloads.dlrm.ootb import DlrmTask
from strobe.bench.workloads.layers.fp32_linear import pack_linears
from strobe.bench.workloads.layers.int8_linear import mean_inputs, quantize_linears
from strobe.bench.workloads.optimized import OptimizedInference, OptimizedTraining
from strobe.bench.workloads.task import Batch


@dataclass(frozen=True)
class StoredDlrmTask(DlrmTask):
    """The same with tables stored in so many bits, weights of rows multiplied in."""

    bits: Bits = 32

    def embedding_bytes(self, batch: Batch, value_bytes: int) -> int:
        return sum(len(rows) for rows in batch.inputs[1]) * row_bytes(self.config.width, self.bits)


class FastDlrm(nn.Module):
    """One lookup for all tables, and products of those pairs alone that the top MLP sees.

    Shapes: B batch, F dense features.
    """

    def __init__(self, bottom: nn.Module, tables: FastTables, top: nn.Module) -> None:
        super().__init__()
        self.bottom, self.tables, self.top = bottom, tables, top

    def forward(
        self, dense_BF: torch.Tensor, rows: tuple[torch.Tensor, ...], offsets: tuple[torch.Tensor, ...]
    ) -> torch.Tensor:
        dense_BD = self.bottom(dense_BF)
        return self.top(multiply_pairs(dense_BD, self.tables(rows, offsets).to(dense_BD.dtype)))


def optimize(
    model: nn.Module, examples: Sequence[Batch], bits: Bits, is_int8: bool, num_exact: int = 0
) -> Callable[..., Any]:
    """Merge tables, in so many bits, and quantise the MLPs if asked, but for the first layers of the top one."""
    if is_int8:
        means = mean_inputs(model, [batch.inputs for batch in examples])
        # Each has a ReLU behind it. Examples differ most here, and deeper layers keep rounding but not the differences.
        exact, rest = model.top[: 2 * num_exact], model.top[2 * num_exact :]
        bottom, top = quantize_linears(model.bottom, means), nn.Sequential(exact, quantize_linears(rest, means))
    else:
        bottom, top = pack_linears(model.bottom), pack_linears(model.top)
    fast: Callable[..., Any] = FastDlrm(bottom, FastTables(model.tables, bits), top).eval()
    return fast


def inference(
    config: str, bits: Bits, is_int8: bool, num_exact: int = 0, alpha: float = 0.0, tolerance: float = 1e-3
) -> OptimizedInference:
    """Make the workload of a published configuration with tables in so many bits."""
    return OptimizedInference(
        StoredDlrmTask(CONFIGS[config], alpha, bits),
        partial(optimize, bits=bits, is_int8=is_int8, num_exact=num_exact),
        tolerance,
    )


def training(config: str, alpha: float = 0.0, tolerance: float = 1e-2) -> OptimizedTraining:
    """Make the workload of a published configuration."""
    task = DlrmTask(CONFIGS[config], alpha)

    def optimize(model: nn.Module) -> Callable[..., Any]:
        fast: Callable[..., Any] = LearningDlrm(model, lr=task.optimizer(model).param_groups[0]["lr"])
        return fast

    return OptimizedTraining(task, optimize, tolerance)
