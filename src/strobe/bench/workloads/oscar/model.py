"""OSCAR base: BERT reads a question with object tags, then the regions of a picture; answers one of 3 129 ways.

Shapes: B batch, T text tokens, R regions, S = T + R, V features of a region, D model width, A answers.
"""
# mypy: disallow-subclassing-any=False
# ruff: noqa: N803, N806 -- shape suffixes

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import nn

from strobe.bench.workloads.layers.encoder import Encoder, EncoderConfig, initialise


@dataclass(frozen=True, slots=True, kw_only=True)
class OscarConfig:
    """OSCAR base for visual question answering."""

    name: str
    encoder: EncoderConfig
    vocabulary: int = 30_522
    positions: int = 512
    token_types: int = 2
    #: 2048 of the detector and 6 of the box
    region_features: int = 2054
    answers: int = 3129


OSCAR_BASE = OscarConfig(
    name="base", encoder=EncoderConfig(layers=12, width=768, heads=12, feed_forward=3072, norm_eps=1e-12)
)
CONFIGS = {OSCAR_BASE.name: OSCAR_BASE}


class Oscar(nn.Module):
    """Text and regions to scores of answers."""

    def __init__(self, config: OscarConfig) -> None:
        super().__init__()
        width = config.encoder.width
        self.tokens = nn.Embedding(config.vocabulary, width)
        self.positions = nn.Embedding(config.positions, width)
        self.types = nn.Embedding(config.token_types, width)
        self.norm = nn.LayerNorm(width, config.encoder.norm_eps)
        self.regions = nn.Linear(config.region_features, width)
        self.encoder = Encoder(config.encoder)
        self.pooler = nn.Linear(width, width)
        self.classifier = nn.Linear(width, config.answers)
        self.apply(initialise)

    def forward(
        self, tokens_BT: torch.Tensor, types_BT: torch.Tensor, regions_BRV: torch.Tensor, mask_BS: torch.Tensor
    ) -> torch.Tensor:
        positions_T = torch.arange(tokens_BT.shape[1], device=tokens_BT.device)
        text_BTD = self.norm(self.tokens(tokens_BT) + self.positions(positions_T) + self.types(types_BT))
        x_BSD = self.encoder(torch.cat([text_BTD, self.regions(regions_BRV)], 1), mask_BS)
        pooled_BD = torch.tanh(self.pooler(x_BSD[:, 0]))
        return self.classifier(pooled_BD)
