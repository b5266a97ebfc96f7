"""CvT: a transformer in three stages, each begun by a strided convolution; its projections begin with one, too.

Keys and values are taken at stride 2, a quarter of the places. Only the last stage has a class token, which the
convolutions leave out. Attention is scaled by the width of the model, not of a head, as in the authors' code.
Shapes: B batch, C channels, H and W height and width, S = H * W places (with the class token in stage 3), U places of
keys, N heads, D width of a head.
"""
# mypy: disallow-subclassing-any=False
# ruff: noqa: N803, N806 -- shape suffixes

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import nn


@dataclass(frozen=True, slots=True, kw_only=True)
class CvtConfig:
    """A published size."""

    name: str
    depths: tuple[int, int, int]
    widths: tuple[int, int, int] = (64, 192, 384)
    heads: tuple[int, int, int] = (1, 3, 6)
    patch_kernels: tuple[int, int, int] = (7, 3, 3)
    patch_strides: tuple[int, int, int] = (4, 2, 2)
    patch_paddings: tuple[int, int, int] = (2, 1, 1)
    mlp_ratio: int = 4
    num_classes: int = 1000


CVT_13 = CvtConfig(name="cvt-13", depths=(1, 2, 10))
CVT_21 = CvtConfig(name="cvt-21", depths=(1, 4, 16))
CONFIGS = {config.name: config for config in (CVT_13, CVT_21)}


class QuickGelu(nn.Module):
    """The authors' approximation of GELU."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * torch.sigmoid(1.702 * x)


class ConvProjection(nn.Sequential):
    """Depthwise 3x3 convolution with batch norm; places in rows come out as a sequence."""

    def __init__(self, channels: int, stride: int) -> None:
        super().__init__(
            nn.Conv2d(channels, channels, 3, stride, 1, groups=channels, bias=False), nn.BatchNorm2d(channels)
        )

    def forward(self, x_BCHW: torch.Tensor) -> torch.Tensor:
        return super().forward(x_BCHW).flatten(2).transpose(1, 2)


class Attention(nn.Module):
    """Attention whose projections look at the neighbourhood."""

    def __init__(self, channels: int, heads: int) -> None:
        super().__init__()
        self.heads, self.scale = heads, channels**-0.5
        self.conv_query = ConvProjection(channels, stride=1)
        self.conv_key = ConvProjection(channels, stride=2)
        self.conv_value = ConvProjection(channels, stride=2)
        self.query = nn.Linear(channels, channels)
        self.key = nn.Linear(channels, channels)
        self.value = nn.Linear(channels, channels)
        self.output = nn.Linear(channels, channels)

    def forward(self, x_BSC: torch.Tensor, height: int, width: int) -> torch.Tensor:
        token_B1C, x_BSC = x_BSC.split([x_BSC.shape[1] - height * width, height * width], 1)
        x_BCHW = x_BSC.transpose(1, 2).unflatten(2, (height, width))
        q_BNSD, k_BNUD, v_BNUD = (
            linear(torch.cat([token_B1C, conv(x_BCHW)], 1)).unflatten(2, (self.heads, -1)).transpose(1, 2)
            for conv, linear in (
                (self.conv_query, self.query),
                (self.conv_key, self.key),
                (self.conv_value, self.value),
            )
        )
        weights_BNSU = torch.softmax(q_BNSD @ k_BNUD.transpose(2, 3) * self.scale, -1)
        return self.output((weights_BNSU @ v_BNUD).transpose(1, 2).flatten(2))


class Block(nn.Module):
    """Attention and an MLP, each normalised before."""

    def __init__(self, channels: int, heads: int, mlp_ratio: int) -> None:
        super().__init__()
        self.attention_norm = nn.LayerNorm(channels)
        self.attention = Attention(channels, heads)
        self.mlp_norm = nn.LayerNorm(channels)
        self.mlp = nn.Sequential(
            nn.Linear(channels, channels * mlp_ratio), QuickGelu(), nn.Linear(channels * mlp_ratio, channels)
        )

    def forward(self, x_BSC: torch.Tensor, height: int, width: int) -> torch.Tensor:
        x_BSC = x_BSC + self.attention(self.attention_norm(x_BSC), height, width)
        return x_BSC + self.mlp(self.mlp_norm(x_BSC))


class Stage(nn.Module):
    """Patches become tokens of a new width, then blocks."""

    def __init__(self, config: CvtConfig, index: int) -> None:
        super().__init__()
        channels = config.widths[index]
        self.patches = nn.Conv2d(
            3 if index == 0 else config.widths[index - 1],
            channels,
            config.patch_kernels[index],
            config.patch_strides[index],
            config.patch_paddings[index],
        )
        self.norm = nn.LayerNorm(channels)
        has_token = index == len(config.widths) - 1
        self.token_11C = nn.Parameter(torch.zeros(1, 1, channels)) if has_token else None
        self.blocks = nn.ModuleList(
            Block(channels, config.heads[index], config.mlp_ratio) for _ in range(config.depths[index])
        )

    def forward(self, x_BCHW: torch.Tensor) -> torch.Tensor:
        """Give a picture of features [B, C, H, W], or the class token [B, C] where there is one."""
        x_BCHW = self.patches(x_BCHW)
        height, width = x_BCHW.shape[2:]
        x_BSC = self.norm(x_BCHW.flatten(2).transpose(1, 2))
        if self.token_11C is not None:
            x_BSC = torch.cat([self.token_11C.expand(len(x_BSC), -1, -1), x_BSC], 1)
        for block in self.blocks:
            x_BSC = block(x_BSC, height, width)
        if self.token_11C is not None:
            return x_BSC[:, 0]
        return x_BSC.transpose(1, 2).unflatten(2, (height, width))


class Cvt(nn.Module):
    """Pictures to class scores."""

    def __init__(self, config: CvtConfig) -> None:
        super().__init__()
        self.stages = nn.Sequential(*(Stage(config, index) for index in range(len(config.widths))))
        self.norm = nn.LayerNorm(config.widths[-1])
        self.head = nn.Linear(config.widths[-1], config.num_classes)
        self.apply(_initialise)

    def forward(self, images_BCHW: torch.Tensor) -> torch.Tensor:
        return self.head(self.norm(self.stages(images_BCHW)))


def _initialise(module: nn.Module) -> None:
    if isinstance(module, nn.Linear | nn.Conv2d):
        nn.init.trunc_normal_(module.weight, std=0.02)
        if module.bias is not None:
            nn.init.zeros_(module.bias)
    elif isinstance(module, Stage) and module.token_11C is not None:
        nn.init.trunc_normal_(module.token_11C, std=0.02)
