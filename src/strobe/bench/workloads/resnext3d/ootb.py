"""ResNeXt3D out of the box."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812 -- its name everywhere
from torch import nn

from strobe.bench.workloads.data.images import draw_clips
from strobe.bench.workloads.ootb import OotbInference, OotbTraining
from strobe.bench.workloads.precision import Precision
from strobe.bench.workloads.resnext3d.model import CONFIGS, ResNext3d, ResNext3dConfig
from strobe.bench.workloads.task import Batch, Flops, Task


@dataclass(frozen=True)
class ResNext3dTask(Task):
    """Classify clips of one length and size."""

    config: ResNext3dConfig
    frames: int = 16
    image_size: int = 112
    optimizer_states = 1

    def build(self) -> nn.Module:
        return ResNext3d(self.config)

    def draw(self, rng: np.random.Generator, batch_size: int) -> Batch:
        clips = torch.from_numpy(draw_clips(rng, batch_size, self.frames, self.image_size))
        return Batch((clips,), torch.from_numpy(rng.integers(0, self.config.num_classes, batch_size)))

    def loss(self, output: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        return F.cross_entropy(output, target)

    def optimizer(self, model: nn.Module) -> torch.optim.Optimizer:
        return torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4)

    def flops(self, batch: Batch) -> Flops:
        config, frames = self.config, self.frames
        side = (self.image_size + 1) // 2
        stem = 3 * config.stem_width * 3 * 7 * 7 * frames * side**2
        total, inputs = stem, config.stem_width
        for stage, depth in enumerate(config.depths):
            outputs, inner = config.stage_width << stage, config.groups * config.group_width << stage
            for index in range(depth):
                total += inputs * inner * frames * side**2
                if stage > 0 and index == 0:
                    frames, side = (frames + 1) // 2, (side + 1) // 2
                shortcut = inputs * outputs if index == 0 else 0
                total += (27 * inner * inner // config.groups + inner * outputs + shortcut) * frames * side**2
                inputs = outputs
        total += inputs * config.num_classes
        return Flops(2.0 * len(batch.target) * total, 2.0 * len(batch.target) * stem)


def inference(
    config: str, frames: int = 16, image_size: int = 112, precision: Precision = "fp32", tolerance: float = 1e-3
) -> OotbInference:
    """Make the workload of a configuration."""
    return OotbInference(ResNext3dTask(CONFIGS[config], frames, image_size), tolerance, precision)


def training(
    config: str, frames: int = 16, image_size: int = 112, precision: Precision = "fp32", tolerance: float = 1e-2
) -> OotbTraining:
    """Make the workload of a configuration."""
    return OotbTraining(ResNext3dTask(CONFIGS[config], frames, image_size), tolerance, precision)
