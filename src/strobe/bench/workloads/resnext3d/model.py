"""ResNeXt3D-101: ResNeXt's bottlenecks with a grouped 3x3x3 convolution in the middle, over time as over space.

Shapes: B batch, C channels, T frames, H and W height and width, K classes.
"""
# mypy: disallow-subclassing-any=False
# ruff: noqa: N803, N806 -- shape suffixes

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import nn


@dataclass(frozen=True, slots=True, kw_only=True)
class ResNext3dConfig:
    """Sizes of stem and stages; the n-th stage has 2**n times the first one's channels."""

    name: str
    depths: tuple[int, ...] = (3, 4, 23, 3)
    groups: int = 32
    group_width: int = 4
    stem_width: int = 64
    stage_width: int = 256
    num_classes: int = 400


RESNEXT3D_101_32X4D = ResNext3dConfig(name="101-32x4d")
RESNEXT3D_101_32X8D = ResNext3dConfig(name="101-32x8d", group_width=8)
#: last norm of a block at the start. Beside a shortcut, a trained residual is small; at 1, random blocks
#: one after another amplify any rounding until it is all there is.
RESIDUAL_GAIN = 0.2
CONFIGS = {config.name: config for config in (RESNEXT3D_101_32X4D, RESNEXT3D_101_32X8D)}


class Bottleneck(nn.Module):
    """1x1x1, grouped 3x3x3, 1x1x1, beside a shortcut that is projected where the shape changes."""

    def __init__(self, inputs: int, inner: int, outputs: int, stride: int, groups: int) -> None:
        super().__init__()
        self.reduce = nn.Conv3d(inputs, inner, 1, bias=False)
        self.reduce_norm = nn.BatchNorm3d(inner)
        self.conv = nn.Conv3d(inner, inner, 3, stride, 1, groups=groups, bias=False)
        self.conv_norm = nn.BatchNorm3d(inner)
        self.expand = nn.Conv3d(inner, outputs, 1, bias=False)
        self.expand_norm = nn.BatchNorm3d(outputs)
        self.shortcut: nn.Module = nn.Identity()
        if inputs != outputs or stride != 1:
            self.shortcut = nn.Sequential(nn.Conv3d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm3d(outputs))

    def forward(self, x_BCTHW: torch.Tensor) -> torch.Tensor:
        y_BCTHW = torch.relu(self.reduce_norm(self.reduce(x_BCTHW)))
        y_BCTHW = torch.relu(self.conv_norm(self.conv(y_BCTHW)))
        y_BCTHW = self.expand_norm(self.expand(y_BCTHW))
        return torch.relu(y_BCTHW + self.shortcut(x_BCTHW))


class ResNext3d(nn.Module):
    """Clips to class scores."""

    def __init__(self, config: ResNext3dConfig) -> None:
        super().__init__()
        self.stem = nn.Conv3d(3, config.stem_width, (3, 7, 7), (1, 2, 2), (1, 3, 3), bias=False)
        self.stem_norm = nn.BatchNorm3d(config.stem_width)
        blocks: list[nn.Module] = []
        inputs = config.stem_width
        for stage, depth in enumerate(config.depths):
            outputs, inner = config.stage_width << stage, config.groups * config.group_width << stage
            for index in range(depth):
                stride = 2 if stage > 0 and index == 0 else 1
                blocks.append(Bottleneck(inputs, inner, outputs, stride, config.groups))
                inputs = outputs
        self.blocks = nn.Sequential(*blocks)
        self.head = nn.Linear(inputs, config.num_classes)
        for block in self.blocks:
            nn.init.constant_(block.expand_norm.weight, RESIDUAL_GAIN)
        for module in self.modules():
            if isinstance(module, nn.Conv3d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")

    def forward(self, clips_BCTHW: torch.Tensor) -> torch.Tensor:
        x_BCTHW = torch.relu(self.stem_norm(self.stem(clips_BCTHW)))
        return self.head(self.blocks(x_BCTHW).mean((2, 3, 4)))
