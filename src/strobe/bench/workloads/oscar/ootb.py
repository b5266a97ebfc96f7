"""OSCAR out of the box: fine-tuning and answering of visual questions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812 -- its name everywhere
from torch import nn

from strobe.bench.workloads.layers.encoder import encoder_flops
from strobe.bench.workloads.ootb import OotbInference, OotbTraining
from strobe.bench.workloads.oscar.data import draw_questions
from strobe.bench.workloads.oscar.model import CONFIGS, Oscar, OscarConfig
from strobe.bench.workloads.precision import Precision
from strobe.bench.workloads.task import Batch, Flops, Task


@dataclass(frozen=True)
class OscarTask(Task):
    """Answer questions on pictures."""

    config: OscarConfig
    text: int = 128
    regions: int = 50
    optimizer_states = 2

    def build(self) -> nn.Module:
        return Oscar(self.config)

    def draw(self, rng: np.random.Generator, batch_size: int) -> Batch:
        return draw_questions(
            rng,
            batch_size,
            vocabulary=self.config.vocabulary,
            answers=self.config.answers,
            text=self.text,
            regions=self.regions,
            features=self.config.region_features,
        )

    def loss(self, output: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        return F.binary_cross_entropy_with_logits(output, target) * output.shape[1]

    def optimizer(self, model: nn.Module) -> torch.optim.Optimizer:
        return torch.optim.AdamW(model.parameters(), lr=5e-5, weight_decay=0.05)

    def flops(self, batch: Batch) -> Flops:
        config, batch_size = self.config, len(batch.target)
        regions = 2.0 * batch_size * self.regions * config.region_features * config.encoder.width
        head = 2.0 * batch_size * config.encoder.width * (config.encoder.width + config.answers)
        encoder = encoder_flops(config.encoder, batch_size, self.text + self.regions)
        return Flops(regions + encoder + head, of_data=regions)

    def embedding_bytes(self, batch: Batch, value_bytes: int) -> int:
        return (2 * len(batch.target) + 1) * self.text * self.config.encoder.width * value_bytes


def inference(
    config: str, text: int = 128, regions: int = 50, precision: Precision = "fp32", tolerance: float = 1e-3
) -> OotbInference:
    """Make the workload of a published configuration."""
    return OotbInference(OscarTask(CONFIGS[config], text, regions), tolerance, precision)


def training(
    config: str, text: int = 128, regions: int = 50, precision: Precision = "fp32", tolerance: float = 1e-2
) -> OotbTraining:
    """Make the workload of a published configuration."""
    return OotbTraining(OscarTask(CONFIGS[config], text, regions), tolerance, precision)
