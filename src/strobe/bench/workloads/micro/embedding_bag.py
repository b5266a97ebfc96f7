"""EmbeddingBag: sums of rows of one table, as in the public `emb_A` and `emb_B`.

Time depends on whether the table fits a cache, so its size is part of a configuration's name. GB/s counts the rows
read, as public scores do: lookups × bytes of a row.
Shapes: R rows of the table, D width, B batch, L = lookups of the batch.
"""
# ruff: noqa: N806 -- shape suffixes

from __future__ import annotations

from typing import Literal

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812 -- its name everywhere

from strobe.bench.workload import Work
from strobe.bench.workloads.data.ring import ring_length
from strobe.bench.workloads.data.zipf import draw_rows
from strobe.bench.workloads.micro.kernel import Kernel

Bits = Literal[32, 8, 4]
#: rows that are drawn and packed at a time, so that a table in few bits never exists in 32
_PART = 65_536
_PACK = {8: torch.ops.quantized.embedding_bag_byte_prepack, 4: torch.ops.quantized.embedding_bag_4bit_prepack}
_UNPACK = {8: torch.ops.quantized.embedding_bag_byte_unpack, 4: torch.ops.quantized.embedding_bag_4bit_unpack}
_POOL = {
    8: torch.ops.quantized.embedding_bag_byte_rowwise_offsets,
    4: torch.ops.quantized.embedding_bag_4bit_rowwise_offsets,
}


class EmbeddingBag(Kernel):
    """The same number of lookups for each example; alpha 0 is uniform over the rows, as in the public sets."""

    def __init__(self, rows: int, width: int, lookups: int, bits: Bits, alpha: float, tolerance: float) -> None:
        super().__init__(tolerance)
        self.rows, self.width, self.lookups = rows, width, lookups
        self.bits, self.alpha = bits, alpha

    def prepare(self, batch_size: int) -> None:
        self.batch_size = batch_size
        self.table_RX = self._draw_table()
        rng = np.random.default_rng(int(torch.randint(2**31, ())))
        length = batch_size * self.lookups
        # Rows in few bits have the ring of those in 32.
        batches = ring_length(lookups=length, num_rows=self.rows, row_bytes=4 * self.width)
        self.ring = [
            torch.from_numpy(draw_rows(rng, self.rows, length, self.alpha)).to(self.device) for _ in range(batches)
        ]
        self.offsets_B = torch.arange(0, length, self.lookups)

    def _draw_table(self) -> torch.Tensor:
        if self.bits == 32:
            return torch.empty(self.rows, self.width).uniform_(-1, 1)
        table_RX: torch.Tensor | None = None
        for start in range(0, self.rows, _PART):
            part_RX = _PACK[self.bits](torch.empty(min(_PART, self.rows - start), self.width).uniform_(-1, 1))
            if table_RX is None:
                table_RX = part_RX.new_empty(self.rows, part_RX.shape[1])
            table_RX[start : start + _PART] = part_RX
        assert table_RX is not None, "a table has rows"
        return table_RX

    def run(self, index: int) -> torch.Tensor:
        rows_L = self.ring[index % len(self.ring)]
        if self.bits == 32:
            return F.embedding_bag(rows_L, self.table_RX, self.offsets_B, mode="sum")
        pooled_BD: torch.Tensor = _POOL[self.bits](self.table_RX, rows_L, self.offsets_B, mode=0)
        return pooled_BD

    def work(self) -> Work:
        row_bytes = self.table_RX.shape[1] * self.table_RX.itemsize
        return Work(examples=self.batch_size, flops=0.0, bytes=float(self.batch_size * self.lookups * row_bytes))

    def reference(self, index: int) -> torch.Tensor:
        rows_LX = self.table_RX[self.ring[index % len(self.ring)]]
        rows_LD = rows_LX if self.bits == 32 else _UNPACK[self.bits](rows_LX)
        return rows_LD.double().unflatten(0, (self.batch_size, self.lookups)).sum(1)


def embedding_bag(
    rows: int, width: int, lookups: int, bits: Bits = 32, alpha: float = 0.0, tolerance: float = 1e-3
) -> EmbeddingBag:
    """Make sums of `lookups` rows of a table in so many bits."""
    return EmbeddingBag(rows, width, lookups, bits, alpha, tolerance)
