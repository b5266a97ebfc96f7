"""DLRM, no holds barred."""
# mypy: disallow-subclassing-any=False
# ruff: noqa: N803, N806 -- shape suffixes

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
from torch import nn

from strobe.bench.workloads.dlrm.fast_tables import Bits, FastTables
from strobe.bench.workloads.dlrm.fast_training import LearningDlrm
from strobe.bench.workloads.dlrm.model import CONFIGS, Dlrm
from strobe.bench.workloads.dlrm.ootb import DlrmTask
from strobe.bench.workloads.layers.fp32_linear import pack_linears
from strobe.bench.workloads.layers.int8_linear import quantize_linears
from strobe.bench.workloads.optimized import OptimizedInference, OptimizedTraining
from strobe.bench.workloads.task import Batch


class FastDlrm(nn.Module):
    """One lookup for all tables, pairs picked by one flat index.

    Shapes: B batch, F dense features, V vectors per example, D width, P pairs.
    """

    def __init__(self, model: Dlrm, bits: Bits, is_int8: bool) -> None:
        super().__init__()
        self.tables = FastTables(model.tables, bits)
        replace = quantize_linears if is_int8 else pack_linears
        self.bottom, self.top = replace(model.bottom), replace(model.top)
        vectors = len(model.tables) + 1
        self.register_buffer("pairs_P", model.pairs[0] * vectors + model.pairs[1])

    def forward(
        self, dense_BF: torch.Tensor, rows: tuple[torch.Tensor, ...], offsets: tuple[torch.Tensor, ...]
    ) -> torch.Tensor:
        dense_BD = self.bottom(dense_BF)
        vectors_BVD = torch.cat([dense_BD[:, None], self.tables(rows, offsets)], 1)
        products_BX = torch.bmm(vectors_BVD, vectors_BVD.transpose(1, 2)).flatten(1)
        return self.top(torch.cat([dense_BD, products_BX.index_select(1, self.pairs_P)], 1))


def optimize(model: nn.Module, examples: Sequence[Batch], bits: Bits, is_int8: bool) -> Callable[..., Any]:
    """Merge tables, in so many bits, and quantise the MLPs if asked."""
    fast: Callable[..., Any] = FastDlrm(model, bits, is_int8).eval()
    return fast


def inference(
    config: str, bits: Bits, is_int8: bool, alpha: float = 0.0, tolerance: float = 1e-3
) -> OptimizedInference:
    """Make the workload of a published configuration with tables in so many bits."""
    return OptimizedInference(
        DlrmTask(CONFIGS[config], alpha), partial(optimize, bits=bits, is_int8=is_int8), tolerance
    )


def training(config: str, alpha: float = 0.0, tolerance: float = 1e-2) -> OptimizedTraining:
    """Make the workload of a published configuration."""
    task = DlrmTask(CONFIGS[config], alpha)

    def optimize(model: nn.Module) -> Callable[..., Any]:
        fast: Callable[..., Any] = LearningDlrm(model, lr=task.optimizer(model).param_groups[0]["lr"])
        return fast

    return OptimizedTraining(task, optimize, tolerance)
