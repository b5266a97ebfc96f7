"""RegNetY out of the box."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812 -- its name everywhere
from torch import nn

from strobe.bench.workloads.data.labelled_images import draw_labelled_images
from strobe.bench.workloads.ootb import OotbInference, OotbTraining
from strobe.bench.workloads.precision import Precision
from strobe.bench.workloads.regnet.model import CONFIGS, RegNet, RegNetConfig
from strobe.bench.workloads.task import Batch, Flops, Task


@dataclass(frozen=True)
class RegNetTask(Task):
    """Classify pictures of one size."""

    config: RegNetConfig
    image_size: int = 224
    optimizer_states = 1

    def build(self) -> nn.Module:
        return RegNet(self.config)

    def draw(self, rng: np.random.Generator, batch_size: int) -> Batch:
        return draw_labelled_images(rng, batch_size, self.image_size, self.config.num_classes)

    def loss(self, output: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        return F.cross_entropy(output, target)

    def optimizer(self, model: nn.Module) -> torch.optim.Optimizer:
        return torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=5e-5)

    def flops(self, batch: Batch) -> Flops:
        config, batch_size = self.config, len(batch.target)
        side = _halved(self.image_size)
        stem = config.stem_width * 27 * side**2
        total = stem
        inputs = config.stem_width
        for depth, width in zip(config.depths, config.widths, strict=True):
            for index in range(depth):
                entering, side = side, _halved(side) if index == 0 else side
                squeezed = round(inputs * config.squeeze_ratio)
                total += inputs * width * entering**2  # 1x1, before the stride
                total += (9 * config.group_width + width) * width * side**2 + 2 * squeezed * width
                total += inputs * width * side**2 if index == 0 else 0  # the projected shortcut
                inputs = width
        total += inputs * config.num_classes
        return Flops(2.0 * batch_size * total, 2.0 * batch_size * stem)


def _halved(side: int) -> int:
    return (side + 1) // 2


def inference(
    config: str, image_size: int = 224, precision: Precision = "fp32", tolerance: float = 1e-3
) -> OotbInference:
    """Make the workload of a published configuration."""
    return OotbInference(RegNetTask(CONFIGS[config], image_size), tolerance, precision)


def training(
    config: str, image_size: int = 224, precision: Precision = "fp32", tolerance: float = 1e-2
) -> OotbTraining:
    """Make the workload of a published configuration."""
    return OotbTraining(RegNetTask(CONFIGS[config], image_size), tolerance, precision)
