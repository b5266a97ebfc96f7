"""Embedding tables in 4 bits: two values a byte and a scale and an offset per row, as torch's own operators store them.

Tables of the published inference configuration take 13 GB in 32 bits, so a table is drawn and packed part by part and
never exists in full.
Shapes: R rows, D width, L lookups, B batch.
"""
# mypy: disallow-subclassing-any=False
# ruff: noqa: N803, N806 -- shape suffixes

from __future__ import annotations

import torch
import torch.nn.functional as F  # noqa: N812 -- its name everywhere
from torch import nn

_PART = 65_536


class Int4EmbeddingBag(nn.Module):
    """Sums of rows that are stored in 4 bits."""

    def __init__(self, num_rows: int, width: int, bound: float) -> None:
        super().__init__()
        # Half a byte per value, and two 16-bit floats per row.
        packed_RP = torch.empty(num_rows, (width + 1) // 2 + 4, dtype=torch.uint8)
        for start in range(0, num_rows, _PART):
            part_RD = torch.empty(min(_PART, num_rows - start), width).uniform_(-bound, bound)
            packed_RP[start : start + _PART] = pack_int4(part_RD)
        self.register_buffer("packed", packed_RP)

    def forward(
        self, rows_L: torch.Tensor, offsets_B: torch.Tensor, per_sample_weights: torch.Tensor | None
    ) -> torch.Tensor:
        if per_sample_weights is not None and per_sample_weights.dtype == torch.float64:
            return self._pool_exactly(rows_L, offsets_B, per_sample_weights)
        return torch.ops.quantized.embedding_bag_4bit_rowwise_offsets(
            self.packed, rows_L, offsets_B, mode=0, per_sample_weights=per_sample_weights
        )

    def _pool_exactly(self, rows_L: torch.Tensor, offsets_B: torch.Tensor, weights_L: torch.Tensor) -> torch.Tensor:
        """Unpack the rows that are asked for and sum them in 64 bits, for references."""
        rows_LD = unpack_int4(self.packed[rows_L]).to(weights_L.dtype)
        places_L = torch.arange(len(rows_L), device=rows_L.device)
        return F.embedding_bag(places_L, rows_LD, offsets_B, mode="sum", per_sample_weights=weights_L)


def pack_int4(rows_RD: torch.Tensor) -> torch.Tensor:
    """Pack rows into 4 bits a value."""
    return torch.ops.quantized.embedding_bag_4bit_prepack(rows_RD)


def unpack_int4(packed_RP: torch.Tensor) -> torch.Tensor:
    """Give the values that packed rows stand for."""
    return torch.ops.quantized.embedding_bag_4bit_unpack(packed_RP)
