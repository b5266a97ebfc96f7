"""DLRM out of the box."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812 -- its name everywhere
from torch import nn

from strobe.bench.workloads.data.ring import ring_length
from strobe.bench.workloads.dlrm.data import draw_impressions
from strobe.bench.workloads.dlrm.model import CONFIGS, Dlrm, DlrmConfig
from strobe.bench.workloads.ootb import OotbInference, OotbTraining
from strobe.bench.workloads.task import Batch, Flops, Task

#: tables in 64 bits up to here; tiny's would take 4 GB, beside those that are measured
_REFERENCE_BYTES = 2**30


@dataclass(frozen=True)
class DlrmTask(Task):
    """Predict clicks; alpha is the exponent of the rows' popularity, 0 as in the published configurations."""

    config: DlrmConfig
    alpha: float = 0.0

    @property
    def dtype(self) -> torch.dtype:
        return torch.float16 if self.config.mlp_bits == 16 else torch.float32

    @property
    def reference_dtype(self) -> torch.dtype:
        config = self.config
        fits = 8 * config.num_tables * config.num_rows * config.width <= _REFERENCE_BYTES
        return torch.float64 if config.embedding_bits == 4 or fits else torch.float32

    def build(self) -> nn.Module:
        return Dlrm(self.config)

    def draw(self, rng: np.random.Generator, batch_size: int) -> Batch:
        return draw_impressions(rng, batch_size, self.config, self.alpha)

    def loss(self, output: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        return F.binary_cross_entropy(output, target)

    def flops(self, batch: Batch) -> Flops:
        config = self.config
        products = config.width * (config.num_tables + 1) ** 2
        weights = _product_sum(config.bottom) + _product_sum(config.top_layers)
        examples = 2.0 * len(batch.target)
        return Flops(examples * (weights + products), of_data=examples * config.bottom[0] * config.bottom[1])

    def embedding_bytes(self, batch: Batch, value_bytes: int) -> int:
        config = self.config
        lookups = sum(len(rows) for rows in batch.inputs[1])
        return lookups * (config.row_bytes + (0 if config.pooling == "sum" else 4))

    def num_batches(self, drawn: Sequence[Batch]) -> int:
        config = self.config
        lookups = sum(len(rows) for batch in drawn for rows in batch.inputs[1]) / len(drawn)
        num_rows = config.num_tables * config.num_rows
        return ring_length(lookups=lookups, num_rows=num_rows, row_bytes=config.row_bytes)


def _product_sum(sizes: tuple[int, ...]) -> int:
    return sum(inputs * outputs for inputs, outputs in pairwise(sizes))


def inference(config: str, alpha: float = 0.0, tolerance: float = 1e-3) -> OotbInference:
    """Make the workload of a published configuration."""
    return OotbInference(DlrmTask(CONFIGS[config], alpha), tolerance)


def training(config: str, alpha: float = 0.0, tolerance: float = 1e-2) -> OotbTraining:
    """Make the workload of a published configuration."""
    return OotbTraining(DlrmTask(CONFIGS[config], alpha), tolerance)
