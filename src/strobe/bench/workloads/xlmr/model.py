"""XLM-R: RoBERTa's encoder over 250 002 pieces of text in a hundred languages; tokens in, features out.

Shapes: B batch, S sequence, D model width.
"""
# mypy: disallow-subclassing-any=False
# ruff: noqa: N803, N806 -- shape suffixes

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import nn

from strobe.bench.workloads.layers.encoder import Encoder, EncoderConfig, initialise

#: the token that fills sequences up; positions of real tokens count on from it
PAD = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class XlmrConfig:
    """A published size."""

    name: str
    encoder: EncoderConfig
    vocabulary: int = 250_002
    positions: int = 514


XLMR_BASE = XlmrConfig(
    name="base", encoder=EncoderConfig(layers=12, width=768, heads=12, feed_forward=3072, norm_eps=1e-5)
)
XLMR_LARGE = XlmrConfig(
    name="large", encoder=EncoderConfig(layers=24, width=1024, heads=16, feed_forward=4096, norm_eps=1e-5)
)
CONFIGS = {config.name: config for config in (XLMR_BASE, XLMR_LARGE)}


class Xlmr(nn.Module):
    """Tokens to features of the last layer."""

    def __init__(self, config: XlmrConfig) -> None:
        super().__init__()
        width = config.encoder.width
        self.tokens = nn.Embedding(config.vocabulary, width)
        self.positions = nn.Embedding(config.positions, width)
        self.norm = nn.LayerNorm(width, config.encoder.norm_eps)
        self.encoder = Encoder(config.encoder)
        self.apply(initialise)

    def forward(self, tokens_BS: torch.Tensor) -> torch.Tensor:
        mask_BS = tokens_BS != PAD
        positions_BS = mask_BS.cumsum(1) * mask_BS + PAD
        x_BSD = self.norm(self.tokens(tokens_BS) + self.positions(positions_BS))
        return self.encoder(x_BSD, mask_BS)
