"""Layers written out, one product at a time: slow, and too plain to be wrong."""
# ruff: noqa: N803, N806 -- shape suffixes

from __future__ import annotations

import math

import torch
from torch import nn

from strobe.bench.workloads.layers.encoder import Encoder


def linear(layer: nn.Linear, x: torch.Tensor) -> torch.Tensor:
    return torch.einsum("...i,oi->...o", x, layer.weight) + layer.bias


def layer_norm(norm: nn.LayerNorm, x: torch.Tensor) -> torch.Tensor:
    centred = x - x.mean(-1, keepdim=True)
    return centred / (centred.square().mean(-1, keepdim=True) + norm.eps).sqrt() * norm.weight + norm.bias


def gelu(x: torch.Tensor) -> torch.Tensor:
    return x * 0.5 * (1 + torch.erf(x / math.sqrt(2)))


def attend(q_SD: torch.Tensor, k_UD: torch.Tensor, v_UD: torch.Tensor, heads: int, scale: float) -> torch.Tensor:
    """Attention of one example, a head and a query at a time."""
    mixed_SD = torch.zeros(len(q_SD), v_UD.shape[1], dtype=q_SD.dtype)
    width = q_SD.shape[1] // heads
    for head in range(heads):
        part = slice(head * width, (head + 1) * width)
        for place, query_H in enumerate(q_SD[:, part]):
            weights_U = torch.exp(torch.einsum("h,uh->u", query_H, k_UD[:, part]) * scale)
            mixed_SD[place, part] = torch.einsum("u,uh->h", weights_U / weights_U.sum(), v_UD[:, part])
    return mixed_SD


def encode(encoder: Encoder, x_BSD: torch.Tensor, mask_BS: torch.Tensor) -> torch.Tensor:
    """Run each example alone, without its padding; padding's features are zero."""
    output_BSD = torch.zeros_like(x_BSD)
    for x_SD, mask_S, result_SD in zip(x_BSD, mask_BS, output_BSD, strict=True):
        y_SD = x_SD[mask_S]
        for layer in encoder.layers:
            attention = layer.attention
            q, k, v = (linear(part, y_SD) for part in (attention.query, attention.key, attention.value))
            mixed = attend(q, k, v, attention.heads, (y_SD.shape[1] // attention.heads) ** -0.5)
            y_SD = layer_norm(layer.attention_norm, y_SD + linear(attention.output, mixed))
            fed = linear(layer.contract, gelu(linear(layer.expand, y_SD)))
            y_SD = layer_norm(layer.output_norm, y_SD + fed)
        result_SD[mask_S] = y_SD
    return output_BSD
