"""CvT out of the box."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812 -- its name everywhere
from torch import nn

from strobe.bench.workloads.cvt.model import CONFIGS, Cvt, CvtConfig
from strobe.bench.workloads.data.labelled_images import draw_labelled_images
from strobe.bench.workloads.ootb import OotbInference, OotbTraining
from strobe.bench.workloads.precision import Precision
from strobe.bench.workloads.task import Batch, Flops, Task


@dataclass(frozen=True)
class CvtTask(Task):
    """Classify pictures of one size."""

    config: CvtConfig
    image_size: int = 224
    optimizer_states = 2

    def build(self) -> nn.Module:
        return Cvt(self.config)

    def draw(self, rng: np.random.Generator, batch_size: int) -> Batch:
        return draw_labelled_images(rng, batch_size, self.image_size, self.config.num_classes)

    def loss(self, output: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        return F.cross_entropy(output, target)

    def optimizer(self, model: nn.Module) -> torch.optim.Optimizer:
        return torch.optim.AdamW(model.parameters(), lr=2.5e-4, weight_decay=0.05)

    def flops(self, batch: Batch) -> Flops:
        config, side, channels = self.config, self.image_size, 3
        total = first = 0
        for index, (depth, width) in enumerate(zip(config.depths, config.widths, strict=True)):
            kernel = config.patch_kernels[index]
            side = (side + 2 * config.patch_paddings[index] - kernel) // config.patch_strides[index] + 1
            patches = channels * width * kernel**2 * side**2
            first = first or patches
            token = int(index == len(config.widths) - 1)
            places, places_kv = side**2, ((side + 1) // 2) ** 2
            queries, keys = places + token, places_kv + token
            convolutions = 9 * width * (places + 2 * places_kv)
            linears = width**2 * (2 * queries + 2 * keys + 2 * config.mlp_ratio * queries)
            total += patches + depth * (convolutions + linears + 2 * queries * keys * width)
            channels = width
        total += channels * config.num_classes
        return Flops(2.0 * len(batch.target) * total, 2.0 * len(batch.target) * first)


def inference(
    config: str, image_size: int = 224, precision: Precision = "fp32", tolerance: float = 1e-3
) -> OotbInference:
    """Make the workload of a published configuration."""
    return OotbInference(CvtTask(CONFIGS[config], image_size), tolerance, precision)


def training(
    config: str, image_size: int = 224, precision: Precision = "fp32", tolerance: float = 1e-2
) -> OotbTraining:
    """Make the workload of a published configuration."""
    return OotbTraining(CvtTask(CONFIGS[config], image_size), tolerance, precision)
