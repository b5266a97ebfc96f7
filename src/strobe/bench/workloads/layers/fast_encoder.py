"""The encoder of `encoder`, for speed: one product for queries, keys and values, fused attention, and no padding.

Sequences of a batch differ in length, and what is done to padding is lost. Tokens are therefore kept side by side in
one long row; only attention, which must know who belongs to whom, sees them padded.
Shapes: B batch, S sequence with padding, L longest sentence, N tokens that are not padding, D model width, H heads, W
width of a head.
"""
# mypy: disallow-subclassing-any=False
# ruff: noqa: N803, N806 -- shape suffixes

from __future__ import annotations

import torch
import torch.nn.functional as F  # noqa: N812 -- its name everywhere
from torch import nn

from strobe.bench.workloads.layers.encoder import Encoder, EncoderConfig, EncoderLayer


def packed_flops(config: EncoderConfig, mask_BS: torch.Tensor, attended: int) -> float:
    """Count a forward pass over tokens that are not padding; attention alone sees sentences of `attended` places."""
    per_token = 4 * config.width**2 + 2 * config.width * config.feed_forward
    attention = 2 * len(mask_BS) * attended**2 * config.width
    return 2.0 * config.layers * (int(mask_BS.sum()) * per_token + attention)


class FastLayer(nn.Module):
    """One layer, over packed tokens or over a full batch."""

    def __init__(self, layer: EncoderLayer) -> None:
        super().__init__()
        attention = layer.attention
        parts = (attention.query, attention.key, attention.value)
        width = attention.query.in_features
        self.heads = attention.heads
        self.qkv = nn.Linear(width, 3 * width, device=attention.query.weight.device, dtype=attention.query.weight.dtype)
        self.qkv.weight = nn.Parameter(torch.cat([part.weight for part in parts]))
        self.qkv.bias = nn.Parameter(torch.cat([part.bias for part in parts]))
        self.output, self.attention_norm = attention.output, layer.attention_norm
        self.expand, self.contract, self.output_norm = layer.expand, layer.contract, layer.output_norm

    def forward(self, x_ND: torch.Tensor, mask_BS: torch.Tensor | None, batch: int) -> torch.Tensor:
        qkv_NE = self.qkv(x_ND)
        if mask_BS is None:
            mixed_ND = self._attend(qkv_NE.unflatten(0, (batch, -1)), None).flatten(0, 1)
        else:
            qkv_BSE = qkv_NE.new_zeros(*mask_BS.shape, qkv_NE.shape[1])
            qkv_BSE[mask_BS] = qkv_NE
            mixed_ND = self._attend(qkv_BSE, mask_BS[:, None, None, :])[mask_BS]
        x_ND = self.attention_norm(x_ND + self.output(mixed_ND))
        return self.output_norm(x_ND + self.contract(F.gelu(self.expand(x_ND))))

    def _attend(self, qkv_BSE: torch.Tensor, mask_B11S: torch.Tensor | None) -> torch.Tensor:
        q_BHSW, k_BHSW, v_BHSW = qkv_BSE.unflatten(2, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        mixed_BHSW = F.scaled_dot_product_attention(q_BHSW, k_BHSW, v_BHSW, attn_mask=mask_B11S)
        return mixed_BHSW.transpose(1, 2).flatten(2)


class FastEncoder(nn.Module):
    """All layers; drops padding where `is_packing`, else there must be none. Features of padding come out as zero."""

    def __init__(self, encoder: Encoder, is_packing: bool) -> None:
        super().__init__()
        self.is_packing = is_packing
        self.layers = nn.ModuleList(FastLayer(layer) for layer in encoder.layers)

    def forward(self, x_BSD: torch.Tensor, mask_BS: torch.Tensor) -> torch.Tensor:
        batch = len(x_BSD)
        x_ND = x_BSD[mask_BS] if self.is_packing else x_BSD.flatten(0, 1)
        for layer in self.layers:
            x_ND = layer(x_ND, mask_BS if self.is_packing else None, batch)
        if not self.is_packing:
            return x_ND.unflatten(0, (batch, -1))
        y_BSD = torch.zeros_like(x_BSD)
        y_BSD[mask_BS] = x_ND
        return y_BSD


class TrainingEncoder(nn.Module):
    """The same weights with fused attention, for training: padding stays, since losses may ask for it."""

    def __init__(self, encoder: Encoder) -> None:
        super().__init__()
        self.layers = encoder.layers

    def forward(self, x_BSD: torch.Tensor, mask_BS: torch.Tensor) -> torch.Tensor:
        mask_B11S = (1.0 - mask_BS[:, None, None, :].to(x_BSD.dtype)) * -10000.0
        for layer in self.layers:
            attention = layer.attention
            q_BHSW, k_BHSW, v_BHSW = (
                part(x_BSD).unflatten(2, (attention.heads, -1)).transpose(1, 2)
                for part in (attention.query, attention.key, attention.value)
            )
            mixed_BHSW = F.scaled_dot_product_attention(q_BHSW, k_BHSW, v_BHSW, attn_mask=mask_B11S)
            x_BSD = layer.attention_norm(x_BSD + attention.output(mixed_BHSW.transpose(1, 2).flatten(2)))
            x_BSD = layer.output_norm(x_BSD + layer.contract(F.gelu(layer.expand(x_BSD))))
        return x_BSD


class PackedTrainingEncoder(nn.Module):
    """The same weights without padding, for training with a loss that does not ask for it; its features are zero.

    Attention alone sees sentences side by side, padded to the longest of them.
    """

    def __init__(self, encoder: Encoder) -> None:
        super().__init__()
        self.layers = encoder.layers

    def forward(self, x_BSD: torch.Tensor, mask_BS: torch.Tensor) -> torch.Tensor:
        lengths_B = mask_BS.sum(1)
        # Places of tokens in a batch as long as its longest sentence, L.
        mask_BL = torch.arange(int(lengths_B.max()), device=x_BSD.device) < lengths_B[:, None]
        places_N = mask_BL.flatten().nonzero()[:, 0]
        from_N = mask_BS.flatten().nonzero()[:, 0]
        x_ND = x_BSD.flatten(0, 1).index_select(0, from_N)
        for layer in self.layers:
            attention = layer.attention
            q_BHLW, k_BHLW, v_BHLW = (
                self._spread(part(x_ND), places_N, mask_BL).unflatten(2, (attention.heads, -1)).transpose(1, 2)
                for part in (attention.query, attention.key, attention.value)
            )
            mixed_BHLW = F.scaled_dot_product_attention(q_BHLW, k_BHLW, v_BHLW, attn_mask=mask_BL[:, None, None, :])
            mixed_ND = mixed_BHLW.transpose(1, 2).flatten(2).flatten(0, 1).index_select(0, places_N)
            x_ND = layer.attention_norm(x_ND + attention.output(mixed_ND))
            x_ND = layer.output_norm(x_ND + layer.contract(F.gelu(layer.expand(x_ND))))
        return self._spread(x_ND, from_N, mask_BS)

    @staticmethod
    def _spread(x_ND: torch.Tensor, places_N: torch.Tensor, mask_BX: torch.Tensor) -> torch.Tensor:
        empty_XD = x_ND.new_zeros(mask_BX.numel(), x_ND.shape[1])
        return empty_XD.index_copy(0, places_N, x_ND).unflatten(0, mask_BX.shape)
