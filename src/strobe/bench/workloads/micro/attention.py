"""Attention: softmax(Q Kᵀ / √d) V of all heads at once, in shapes of the suite's models.

Shapes: B batch, N heads, S queries, U keys, D width of a head.
"""
# ruff: noqa: N806 -- shape suffixes

from __future__ import annotations

import torch
import torch.nn.functional as F  # noqa: N812 -- its name everywhere

from strobe.bench.workload import Work
from strobe.bench.workloads.micro.kernel import Kernel
from strobe.bench.workloads.precision import Precision, choose_precision

_RING = 4


class Attention(Kernel):
    """Full attention without a mask."""

    def __init__(
        self, heads: int, queries: int, keys: int, head_width: int, precision: Precision, tolerance: float
    ) -> None:
        super().__init__(tolerance)
        self.heads, self.queries, self.keys, self.head_width = heads, queries, keys, head_width
        self.precision = precision

    def prepare(self, batch_size: int) -> None:
        dtype = choose_precision(self.precision, self.device)
        self.batch_size = batch_size
        self.ring = [
            tuple(
                torch.randn(batch_size, self.heads, places, self.head_width, dtype=dtype)
                for places in (self.queries, self.keys, self.keys)
            )
            for _ in range(_RING)
        ]

    def run(self, index: int) -> torch.Tensor:
        return F.scaled_dot_product_attention(*self.ring[index % _RING])

    def work(self) -> Work:
        q_BNSD, k_BNUD, v_BNUD = self.ring[0]
        flops = 4.0 * q_BNSD.numel() * self.keys
        return Work(examples=self.batch_size, flops=flops, bytes=2.0 * q_BNSD.nbytes + k_BNUD.nbytes + v_BNUD.nbytes)

    def reference(self, index: int) -> torch.Tensor:
        q_BNSD, k_BNUD, v_BNUD = (x.double() for x in self.ring[index % _RING])
        scores_BNSU = q_BNSD @ k_BNUD.transpose(2, 3) * self.head_width**-0.5
        return torch.softmax(scores_BNSU, 3) @ v_BNUD


def attention(
    heads: int, queries: int, keys: int, head_width: int, precision: Precision = "fp32", tolerance: float = 1e-3
) -> Attention:
    """Make attention of so many queries to so many keys."""
    return Attention(heads, queries, keys, head_width, precision, tolerance)
