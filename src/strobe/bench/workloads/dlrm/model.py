"""DLRM: dense features through an MLP, categorical ones through pooled embeddings, dot products of all pairs, an MLP.

The published configurations weigh each looked-up row ("weighted pooling"), by constants or by learned weights, one per
row of the table.
Shapes: B batch, F dense features, D embedding width, L lookups of one table in the whole batch, V vectors per example.
"""
# mypy: disallow-subclassing-any=False
# ruff: noqa: N803, N806 -- shape suffixes

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

import torch
from torch import nn

from strobe.bench.workloads.dlrm.tables import Int4EmbeddingBag

Pooling = Literal["sum", "fixed", "learned"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DlrmConfig:
    """Sizes of all parts, and how lookups are made."""

    name: str
    #: from the dense features to the embedding width
    bottom: tuple[int, ...]
    #: from the first hidden layer on; its input is what the interaction gives
    top: tuple[int, ...]
    num_tables: int
    num_rows: int
    #: per example and table; at most, unless fixed
    lookups: int
    is_fixed: bool
    pooling: Pooling = "sum"
    embedding_bits: Literal[32, 4] = 32
    mlp_bits: Literal[32, 16] = 32

    @property
    def width(self) -> int:
        """Width of an embedding."""
        return self.bottom[-1]

    @property
    def row_bytes(self) -> int:
        """Size of a stored row: 4 bits have a scale and an offset in 16 bits behind them."""
        return self.width // 2 + 4 if self.embedding_bits == 4 else self.width * 4

    @property
    def table_bound(self) -> float:
        """Greatest value in a fresh table, for which dot products of pooled rows are about one.

        The authors start at 1 / sqrt(rows). Of large tables the model then hears next to nothing, unlike of trained
        ones, and no check of its output would notice rows that are wrong.
        """
        return math.sqrt(3 / self.lookups) / math.sqrt(math.sqrt(self.width))

    @property
    def num_pairs(self) -> int:
        """Dot products of one example."""
        return self.num_tables * (self.num_tables + 1) // 2

    @property
    def top_layers(self) -> tuple[int, ...]:
        """Sizes of the top MLP, input included."""
        return (self.num_pairs + self.width, *self.top)


A_EMBED32_FP32 = DlrmConfig(
    name="A.1dev-embed32-fp32",
    bottom=(2000, 1500, 1500, 1500, 192),
    top=(4000,) * 9 + (1,),
    num_tables=248,
    num_rows=965,
    lookups=55,
    is_fixed=True,
    pooling="learned",
)
A_EMBED4_FP32 = DlrmConfig(
    name="A.1dev-embed4-fp32",
    bottom=(1414,) + (1750,) * 8 + (96,),
    top=(1450,) * 36 + (1,),
    num_tables=61,
    num_rows=555_693,
    lookups=8,
    is_fixed=True,
    pooling="fixed",
    embedding_bits=4,
)
A_EMBED4_FP16 = replace(A_EMBED4_FP32, name="A.1dev-embed4-fp16", mlp_bits=16)
TINY = DlrmConfig(
    name="tiny",
    bottom=(512, 512, 64),
    top=(1024, 1024, 1024, 1),
    num_tables=8,
    num_rows=1_000_000,
    lookups=100,
    is_fixed=False,
)
#: tiny with a tenth of the rows: 205 MB instead of 2 GB
TINY_100K = replace(TINY, name="tiny-100k", num_rows=100_000)
CONFIGS = {config.name: config for config in (A_EMBED32_FP32, A_EMBED4_FP32, A_EMBED4_FP16, TINY, TINY_100K)}


class Table(nn.Module):
    """One categorical feature: rows looked up, weighed if so configured, and summed."""

    def __init__(self, config: DlrmConfig) -> None:
        super().__init__()
        rows, bound = config.num_rows, config.table_bound
        if config.embedding_bits == 4:
            self.bag: nn.Module = Int4EmbeddingBag(rows, config.width, bound)
        else:
            self.bag = nn.EmbeddingBag(rows, config.width, mode="sum", sparse=True)
            nn.init.uniform_(self.bag.weight, -bound, bound)
        if config.pooling == "learned":
            self.row_weights = nn.Parameter(torch.ones(rows))
        else:
            self.register_buffer("row_weights", torch.ones(rows) if config.pooling == "fixed" else None)

    def forward(self, rows_L: torch.Tensor, offsets_B: torch.Tensor) -> torch.Tensor:
        weights_L = None if self.row_weights is None else self.row_weights.gather(0, rows_L)
        return self.bag(rows_L, offsets_B, per_sample_weights=weights_L)


class Dlrm(nn.Module):
    """Features to the probability of a click."""

    def __init__(self, config: DlrmConfig) -> None:
        super().__init__()
        self.bottom = _mlp(config.bottom, last=nn.ReLU())
        self.tables = nn.ModuleList(Table(config) for _ in range(config.num_tables))
        self.top = _mlp(config.top_layers, last=nn.Sigmoid())
        lower = torch.tril_indices(config.num_tables + 1, config.num_tables + 1, offset=-1)
        self.register_buffer("pairs", lower, persistent=False)

    def forward(
        self, dense_BF: torch.Tensor, rows: tuple[torch.Tensor, ...], offsets: tuple[torch.Tensor, ...]
    ) -> torch.Tensor:
        dense_BD = self.bottom(dense_BF)
        pooled = [table(rows_L, offsets_B) for table, rows_L, offsets_B in zip(self.tables, rows, offsets, strict=True)]
        vectors_BVD = torch.stack([dense_BD, *(pooled_BD.to(dense_BD.dtype) for pooled_BD in pooled)], 1)
        products_BVV = torch.bmm(vectors_BVD, vectors_BVD.transpose(1, 2))
        pairs_BP = products_BVV[:, self.pairs[0], self.pairs[1]]
        return self.top(torch.cat([dense_BD, pairs_BP], 1))


def _mlp(sizes: tuple[int, ...], last: nn.Module) -> nn.Sequential:
    layers: list[nn.Module] = []
    for inputs, outputs in pairwise(sizes):
        layer = nn.Linear(inputs, outputs)
        # Signals keep their size. The authors start at sqrt(2 / (inputs + outputs)), and every ReLU takes half of what
        # is left: after 37 layers the answers to all examples are the same but for rounding, and no check can judge it.
        nn.init.normal_(layer.weight, std=math.sqrt(2 / inputs))
        nn.init.normal_(layer.bias, std=math.sqrt(1 / outputs))
        layers += [layer, nn.ReLU()]
    return nn.Sequential(*layers[:-1], last)
