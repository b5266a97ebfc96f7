"""The encoder of BERT and RoBERTa: self-attention and a feed-forward layer, each normalised after its residual.

Written from Vaswani et al. 2017 and Devlin et al. 2019, as a researcher would: three projections, an explicit softmax.
Shapes: B batch, S sequence, D model width, N heads, H width of a head, F feed-forward width.
"""
# mypy: disallow-subclassing-any=False
# ruff: noqa: N803, N806 -- shape suffixes

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F  # noqa: N812 -- its name everywhere
from torch import nn


@dataclass(frozen=True, slots=True, kw_only=True)
class EncoderConfig:
    """Sizes of an encoder."""

    layers: int
    width: int
    heads: int
    feed_forward: int
    norm_eps: float


class SelfAttention(nn.Module):
    """Every position looks at every other that the mask lets it see."""

    def __init__(self, config: EncoderConfig) -> None:
        super().__init__()
        self.heads = config.heads
        self.query = nn.Linear(config.width, config.width)
        self.key = nn.Linear(config.width, config.width)
        self.value = nn.Linear(config.width, config.width)
        self.output = nn.Linear(config.width, config.width)

    def forward(self, x_BSD: torch.Tensor, mask_B11S: torch.Tensor) -> torch.Tensor:
        q_BNSH, k_BNSH, v_BNSH = (
            projection(x_BSD).unflatten(-1, (self.heads, -1)).transpose(1, 2)
            for projection in (self.query, self.key, self.value)
        )
        scores_BNSS = q_BNSH @ k_BNSH.transpose(-1, -2) / math.sqrt(q_BNSH.shape[-1]) + mask_B11S
        mixed_BSD = (torch.softmax(scores_BNSS, -1) @ v_BNSH).transpose(1, 2).flatten(2)
        return self.output(mixed_BSD)


class EncoderLayer(nn.Module):
    """Attention, then a feed-forward layer with GELU."""

    def __init__(self, config: EncoderConfig) -> None:
        super().__init__()
        self.attention = SelfAttention(config)
        self.attention_norm = nn.LayerNorm(config.width, config.norm_eps)
        self.expand = nn.Linear(config.width, config.feed_forward)
        self.contract = nn.Linear(config.feed_forward, config.width)
        self.output_norm = nn.LayerNorm(config.width, config.norm_eps)

    def forward(self, x_BSD: torch.Tensor, mask_B11S: torch.Tensor) -> torch.Tensor:
        x_BSD = self.attention_norm(x_BSD + self.attention(x_BSD, mask_B11S))
        return self.output_norm(x_BSD + self.contract(F.gelu(self.expand(x_BSD))))


class Encoder(nn.Module):
    """A stack of layers; `mask_BS` is 1 where there is a token and 0 where there is padding."""

    def __init__(self, config: EncoderConfig) -> None:
        super().__init__()
        self.layers = nn.ModuleList(EncoderLayer(config) for _ in range(config.layers))

    def forward(self, x_BSD: torch.Tensor, mask_BS: torch.Tensor) -> torch.Tensor:
        mask_B11S = (1.0 - mask_BS[:, None, None, :].to(x_BSD.dtype)) * -10000.0
        for layer in self.layers:
            x_BSD = layer(x_BSD, mask_B11S)
        return x_BSD


def initialise(module: nn.Module) -> None:
    """Give weights BERT's normal distribution; deviation 0.02, biases zero."""
    if isinstance(module, nn.Linear | nn.Embedding):
        nn.init.normal_(module.weight, std=0.02)
    if isinstance(module, nn.Linear):
        nn.init.zeros_(module.bias)


def encoder_flops(config: EncoderConfig, batch_size: int, sequence: int) -> float:
    """Count a forward pass: four projections, two products of attention, two feed-forward layers."""
    per_token = 4 * config.width**2 + 2 * config.width * config.feed_forward + 2 * sequence * config.width
    return 2.0 * batch_size * sequence * config.layers * per_token
