"""DLRM in training with all tables as one, whose rows learn in the backward pass itself.

On CPUs by `embedding_sgd.c`, elsewhere by torch. Only plain sums learn this way: weights of rows would need gradients,
too.
Shapes: T tables, R rows of all, D width, L lookups, X bags of all tables, B batch, V vectors, P pairs, F features.
"""
# mypy: disallow-subclassing-any=False
# ruff: noqa: N803, N806 -- shape suffixes

from __future__ import annotations

import ctypes
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812 -- its name everywhere
from torch import nn

from strobe.bench.workloads.dlrm.fast_tables import merge_lookups
from strobe.bench.workloads.dlrm.model import Dlrm
from strobe.bench.workloads.layers.fp32_product import learn_linears
from strobe.bench.workloads.layers.native import address, load_kernels
from strobe.errors import Error


class LearningTables(nn.Module):
    """Pooled rows of every table, [B, T, D]; SGD with `lr` happens as soon as their gradient is known."""

    def __init__(self, tables: nn.ModuleList, lr: float) -> None:
        super().__init__()
        if any(table.row_weights is not None for table in tables):
            raise Error("tables learn in the backward pass only if rows are summed as they are; these are weighed")
        self.lr = lr
        self.starts = torch.tensor([0, *(len(table.bag.weight) for table in tables[:-1])]).cumsum(0).tolist()
        self.table_RD = torch.cat([table.bag.weight.detach() for table in tables])
        for table, start in zip(tables, self.starts, strict=True):
            # The tables become views, so that what is loaded into them arrives here.
            table.bag.weight.data = self.table_RD[start : start + len(table.bag.weight)]
            table.bag.sparse = False  # never gets a gradient, so that the fused optimizer may pass it over
        #: stands for the table where torch asks whether anything learns
        self.learns = torch.zeros(1, device=self.table_RD.device, requires_grad=True)
        self.kernel = load_kernels("embedding_sgd").embedding_sgd if self.table_RD.device.type == "cpu" else None

    def forward(self, rows: tuple[torch.Tensor, ...], offsets: tuple[torch.Tensor, ...]) -> torch.Tensor:
        pooled_XD = _Pool.apply(self.learns, self, *merge_lookups(rows, offsets, self.starts))
        return pooled_XD.unflatten(0, (len(rows), -1)).transpose(0, 1)

    def learn(self, rows_L: torch.Tensor, offsets_X: torch.Tensor, grad_XD: torch.Tensor) -> None:
        """Step the rows that were looked up."""
        if self.kernel is None:
            step_rows(self.table_RD, rows_L, offsets_X, grad_XD, self.lr)
            return
        tables = len(self.starts)
        self.kernel(
            *map(address, (self.table_RD, rows_L, offsets_X, grad_XD)),
            *map(ctypes.c_long, (tables, len(offsets_X) // tables, len(rows_L), grad_XD.shape[1])),
            ctypes.c_float(self.lr),
            torch.get_num_threads(),
        )


def step_rows(
    table_RD: torch.Tensor, rows_L: torch.Tensor, offsets_X: torch.Tensor, grad_XD: torch.Tensor, lr: float
) -> None:
    """Take the gradient of its bag from every row that was looked up, as often as it was."""
    places_L = torch.arange(len(rows_L), device=rows_L.device)
    bags_L = torch.searchsorted(offsets_X, places_L, right=True) - 1
    table_RD.index_add_(0, rows_L, grad_XD.index_select(0, bags_L), alpha=-lr)


class _Pool(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, learns: torch.Tensor, tables: LearningTables, rows_L: torch.Tensor, offsets_X: torch.Tensor
    ) -> torch.Tensor:
        ctx.tables = tables
        ctx.save_for_backward(rows_L, offsets_X)
        return F.embedding_bag(rows_L, tables.table_RD, offsets_X, mode="sum")

    @staticmethod
    def backward(ctx: Any, grad_XD: torch.Tensor) -> tuple[None, None, None, None]:
        rows_L, offsets_X = ctx.saved_tensors
        ctx.tables.learn(rows_L, offsets_X, grad_XD.contiguous())
        return None, None, None, None


class LearningDlrm(nn.Module):
    """The model over merged tables."""

    def __init__(self, model: Dlrm, lr: float) -> None:
        super().__init__()
        self.tables = LearningTables(model.tables, lr)
        self.bottom, self.top = learn_linears(model.bottom), learn_linears(model.top)
        self.register_buffer("pairs_P", model.pairs[0] * (len(model.tables) + 1) + model.pairs[1])

    def forward(
        self, dense_BF: torch.Tensor, rows: tuple[torch.Tensor, ...], offsets: tuple[torch.Tensor, ...]
    ) -> torch.Tensor:
        dense_BD = self.bottom(dense_BF)
        vectors_BVD = torch.cat([dense_BD[:, None], self.tables(rows, offsets)], 1)
        products_BX = torch.bmm(vectors_BVD, vectors_BVD.transpose(1, 2)).flatten(1)
        return self.top(torch.cat([dense_BD, products_BX.index_select(1, self.pairs_P)], 1))
