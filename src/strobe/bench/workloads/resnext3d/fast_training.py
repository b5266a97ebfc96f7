"""ResNeXt3D in training: 1x1x1 convolutions are products, and norm, sum and ReLU are one; the same parameters."""
# mypy: disallow-subclassing-any=False
# ruff: noqa: N803, N806 -- shape suffixes

from __future__ import annotations

import torch
from torch import nn

from strobe.bench.workloads.layers.fast_norm import convolve, norm_relu
from strobe.bench.workloads.resnext3d.model import ResNext3d


class FastResNext3d(nn.Module):
    """The model's parts, otherwise put together; shapes as there."""

    def __init__(self, model: ResNext3d) -> None:
        super().__init__()
        self.model = model.to(memory_format=torch.channels_last_3d)

    def forward(self, clips_BCTHW: torch.Tensor) -> torch.Tensor:
        model = self.model
        x_BCTHW = convolve(model.stem, clips_BCTHW.contiguous(memory_format=torch.channels_last_3d))
        x_BCTHW = norm_relu(model.stem_norm, x_BCTHW, is_relu=True)
        for block in model.blocks:
            y_BCTHW = norm_relu(block.reduce_norm, convolve(block.reduce, x_BCTHW), is_relu=True)
            y_BCTHW = norm_relu(block.conv_norm, convolve(block.conv, y_BCTHW), is_relu=True)
            if not isinstance(block.shortcut, nn.Identity):
                conv, norm = block.shortcut
                x_BCTHW = norm_relu(norm, convolve(conv, x_BCTHW), is_relu=False)
            x_BCTHW = norm_relu(block.expand_norm, convolve(block.expand, y_BCTHW), is_relu=True, residual=x_BCTHW)
        return model.head(x_BCTHW.mean((2, 3, 4)))
