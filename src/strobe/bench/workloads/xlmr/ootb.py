"""XLM-R out of the box."""
# ruff: noqa: N806 -- shape suffixes

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812 -- its name everywhere
from torch import nn

from strobe.bench.workloads.data.lengths import SHORT_TEXT
from strobe.bench.workloads.layers.encoder import encoder_flops
from strobe.bench.workloads.ootb import OotbInference, OotbTraining
from strobe.bench.workloads.precision import Precision
from strobe.bench.workloads.task import Batch, Flops, Task
from strobe.bench.workloads.xlmr.data import draw_sentences
from strobe.bench.workloads.xlmr.model import CONFIGS, PAD, Xlmr, XlmrConfig


@dataclass(frozen=True)
class XlmrTask(Task):
    """Features of sentences; trained, as publicly, on a random class per token out of as many as features."""

    config: XlmrConfig
    sequence: int
    percentiles: Mapping[float, int] | None = None

    def build(self) -> nn.Module:
        return Xlmr(self.config)

    def draw(self, rng: np.random.Generator, batch_size: int) -> Batch:
        return draw_sentences(
            rng,
            batch_size,
            self.config.vocabulary,
            self.config.encoder.width,
            sequence=self.sequence,
            percentiles=self.percentiles,
        )

    def infer(self, model: nn.Module, batch: Batch) -> torch.Tensor:
        """Features of padding mean nothing; zero, so that an implementation need not compute them."""
        (tokens_BS,) = batch.inputs
        return model(tokens_BS) * (tokens_BS != PAD)[..., None]

    def loss(self, output: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        return F.cross_entropy(output.flatten(0, 1), target.flatten())

    def flops(self, batch: Batch) -> Flops:
        return Flops(encoder_flops(self.config.encoder, *batch.target.shape))

    def embedding_bytes(self, batch: Batch, value_bytes: int) -> int:
        return 2 * int(batch.target.numel()) * self.config.encoder.width * value_bytes


def make_task(config: str, sequence: int, is_varied: bool = False) -> XlmrTask:
    """Make the task of a published configuration; varied lengths are those of short public text."""
    return XlmrTask(CONFIGS[config], sequence, SHORT_TEXT if is_varied else None)


def inference(
    config: str, sequence: int, is_varied: bool = False, precision: Precision = "fp32", tolerance: float = 1e-3
) -> OotbInference:
    """Make the workload of a published configuration."""
    return OotbInference(make_task(config, sequence, is_varied), tolerance, precision)


def training(
    config: str, sequence: int, is_varied: bool = False, precision: Precision = "fp32", tolerance: float = 1e-2
) -> OotbTraining:
    """Make the workload of a published configuration."""
    return OotbTraining(make_task(config, sequence, is_varied), tolerance, precision)
