"""All tables of DLRM as one, looked up by one call, with the weights of rows multiplied in beforehand.

Shapes: T tables, R rows of one, D width, L lookups of all tables, B batch, X bags of all tables.
"""
# mypy: disallow-subclassing-any=False
# ruff: noqa: N803, N806 -- shape suffixes

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import torch
import torch.nn.functional as F  # noqa: N812 -- its name everywhere
from torch import nn

from strobe.bench.workloads.dlrm.model import Table
from strobe.bench.workloads.dlrm.tables import pack_int4, unpack_int4

Bits = Literal[32, 8, 4]
_PART = 65_536


def row_bytes(width: int, bits: Bits) -> int:
    """Size of a stored row: 8 bits have a scale and an offset in 32 bits behind them, 4 bits have them in 16."""
    return {32: 4 * width, 8: width + 8, 4: (width + 1) // 2 + 4}[bits]


class FastTables(nn.Module):
    """Pooled rows of every table, [T, B, D], from tables in 32, 8 or 4 bits."""

    def __init__(self, tables: nn.ModuleList, bits: Bits) -> None:
        super().__init__()
        self.bits = bits
        rows_per_table = [_take_table(table, bits) for table in tables]
        starts = torch.tensor([0, *(len(rows) for rows in rows_per_table[:-1])]).cumsum(0)
        self.starts = starts.tolist()
        self.register_buffer("stored", torch.cat(rows_per_table))

    def forward(self, rows: tuple[torch.Tensor, ...], offsets: tuple[torch.Tensor, ...]) -> torch.Tensor:
        rows_L, offsets_X = merge_lookups(rows, offsets, self.starts)
        return self._pool(rows_L, offsets_X).unflatten(0, (len(rows), -1))

    def _pool(self, rows_L: torch.Tensor, offsets_X: torch.Tensor) -> torch.Tensor:
        if self.bits == 8:
            return torch.ops.quantized.embedding_bag_byte_rowwise_offsets(self.stored, rows_L, offsets_X, mode=0)
        if self.bits == 4:
            return torch.ops.quantized.embedding_bag_4bit_rowwise_offsets(self.stored, rows_L, offsets_X, mode=0)
        return F.embedding_bag(rows_L, self.stored, offsets_X, mode="sum")


def merge_lookups(
    rows: tuple[torch.Tensor, ...], offsets: tuple[torch.Tensor, ...], starts: list[int]
) -> tuple[torch.Tensor, torch.Tensor]:
    """Give rows and offsets in the one table in which each table starts at its row of `starts`."""
    rows_L = torch.cat([table_rows + start for table_rows, start in zip(rows, starts, strict=True)])
    bags: list[torch.Tensor] = []
    before = 0
    for table_rows, table_offsets in zip(rows, offsets, strict=True):
        bags.append(table_offsets + before)
        before += len(table_rows)
    return rows_L, torch.cat(bags)


def _take_table(table: Table, bits: Bits) -> torch.Tensor:
    """Convert a table part by part and let go of the original, so that no two copies of all tables exist."""
    bag, weights_R = table.bag, table.row_weights
    is_packed = hasattr(bag, "packed")
    stored_RX = bag.packed if is_packed else bag.weight.detach()
    has_weights = weights_R is not None and bool((weights_R != 1).any())
    if not has_weights and bits == (4 if is_packed else 32):
        return stored_RX
    pack: Callable[[torch.Tensor], torch.Tensor] = {
        32: torch.clone,
        8: torch.ops.quantized.embedding_bag_byte_prepack,
        4: pack_int4,
    }[bits]
    parts: list[torch.Tensor] = []
    for start in range(0, len(stored_RX), _PART):
        part_RD = stored_RX[start : start + _PART]
        part_RD = unpack_int4(part_RD) if is_packed else part_RD
        if has_weights:
            part_RD = part_RD * weights_R[start : start + _PART, None]
        parts.append(pack(part_RD))
    del table.bag
    return torch.cat(parts)
