"""RegNetY: four stages of bottleneck-less residual blocks with grouped convolutions and squeeze-and-excitation.

Written from the paper: widths and depths per stage follow a quantised linear rule, here given as its results.
Shapes: B batch, C channels, H and W height and width, K classes.
"""
# mypy: disallow-subclassing-any=False
# ruff: noqa: N803, N806 -- shape suffixes

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import nn


@dataclass(frozen=True, slots=True, kw_only=True)
class RegNetConfig:
    """A member of the family; the published name is its complexity in multiply-adds per 224 x 224 picture."""

    name: str
    depths: tuple[int, ...]
    widths: tuple[int, ...]
    group_width: int
    num_classes: int = 1000
    stem_width: int = 32
    #: of the width that enters a block
    squeeze_ratio: float = 0.25


REGNETY_400MF = RegNetConfig(name="400MF", depths=(1, 3, 6, 6), widths=(48, 104, 208, 440), group_width=8)
REGNETY_8GF = RegNetConfig(name="8GF", depths=(2, 4, 10, 1), widths=(224, 448, 896, 2016), group_width=56)
REGNETY_128GF = RegNetConfig(name="128GF", depths=(2, 7, 17, 1), widths=(528, 1056, 2904, 7392), group_width=264)
#: last norm of a block at the start. Beside a shortcut, a trained residual is small; at 1, random blocks
#: one after another amplify any rounding until it is all there is.
RESIDUAL_GAIN = 0.2
CONFIGS = {config.name: config for config in (REGNETY_400MF, REGNETY_8GF, REGNETY_128GF)}


class ConvNorm(nn.Sequential):
    """Convolution without bias, batch norm and, if asked, ReLU."""

    def __init__(
        self, inputs: int, outputs: int, kernel: int, stride: int = 1, groups: int = 1, relu: bool = True
    ) -> None:
        super().__init__(
            nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False),
            nn.BatchNorm2d(outputs),
            *([nn.ReLU(inplace=True)] if relu else []),
        )


class SqueezeExcite(nn.Module):
    """Scale each channel by what the averages of all channels say."""

    def __init__(self, channels: int, squeezed: int) -> None:
        super().__init__()
        self.squeeze = nn.Conv2d(channels, squeezed, 1)
        self.excite = nn.Conv2d(squeezed, channels, 1)

    def forward(self, x_BCHW: torch.Tensor) -> torch.Tensor:
        mean_BC11 = x_BCHW.mean((2, 3), keepdim=True)
        return x_BCHW * torch.sigmoid(self.excite(torch.relu(self.squeeze(mean_BC11))))


class Block(nn.Module):
    """1x1, grouped 3x3, squeeze-and-excitation, 1x1, beside a shortcut that is projected where the shape changes."""

    def __init__(self, inputs: int, outputs: int, stride: int, config: RegNetConfig) -> None:
        super().__init__()
        self.body = nn.Sequential(
            ConvNorm(inputs, outputs, 1),
            ConvNorm(outputs, outputs, 3, stride, outputs // config.group_width),
            SqueezeExcite(outputs, round(inputs * config.squeeze_ratio)),
            ConvNorm(outputs, outputs, 1, relu=False),
        )
        is_same = inputs == outputs and stride == 1
        self.shortcut = nn.Identity() if is_same else ConvNorm(inputs, outputs, 1, stride, relu=False)

    def forward(self, x_BCHW: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.shortcut(x_BCHW) + self.body(x_BCHW))


class RegNet(nn.Module):
    """Pictures to class scores."""

    def __init__(self, config: RegNetConfig) -> None:
        super().__init__()
        self.stem = ConvNorm(3, config.stem_width, 3, stride=2)
        blocks: list[nn.Module] = []
        inputs = config.stem_width
        for depth, width in zip(config.depths, config.widths, strict=True):
            for index in range(depth):
                blocks.append(Block(inputs, width, 2 if index == 0 else 1, config))
                inputs = width
        self.blocks = nn.Sequential(*blocks)
        self.head = nn.Linear(inputs, config.num_classes)
        self.apply(_initialise)
        for block in self.blocks:
            nn.init.constant_(block.body[3][1].weight, RESIDUAL_GAIN)

    def forward(self, images_BCHW: torch.Tensor) -> torch.Tensor:
        features_BC = self.blocks(self.stem(images_BCHW)).mean((2, 3))
        return self.head(features_BC)


def _initialise(module: nn.Module) -> None:
    if isinstance(module, nn.Conv2d):
        fan_out = module.kernel_size[0] * module.kernel_size[1] * module.out_channels // module.groups
        nn.init.normal_(module.weight, std=math.sqrt(2.0 / fan_out))
        if module.bias is not None:
            nn.init.zeros_(module.bias)
    elif isinstance(module, nn.Linear):
        nn.init.normal_(module.weight, std=0.01)
        nn.init.zeros_(module.bias)
