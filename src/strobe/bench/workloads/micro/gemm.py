"""GEMM: one product of matrices, as in the public `gemm_A`: forward through a layer, or the gradient of its weights.

Shapes: M, N, K as in BLAS: [M, K] times [K, N].
"""
# ruff: noqa: N806 -- shape suffixes

from __future__ import annotations

from typing import Literal

import torch

from strobe.bench.workload import Work
from strobe.bench.workloads.micro.kernel import Kernel
from strobe.bench.workloads.precision import Precision, choose_precision

#: products that take turns, so that the left factor is not in a cache from the step before
_RING = 4
#: int8 is a way of computing here, not a type that weights come in
GemmPrecision = Precision | Literal["int8"]


class Gemm(Kernel):
    """`batch` stands for the rows of the left factor (forward) or for the length of the sums (gradient)."""

    def __init__(self, width: int, batch_axis: Literal["m", "k"], precision: GemmPrecision, tolerance: float) -> None:
        super().__init__(tolerance)
        self.width, self.batch_axis, self.precision = width, batch_axis, precision

    def prepare(self, batch_size: int) -> None:
        width = self.width
        m, k = (batch_size, width) if self.batch_axis == "m" else (width, batch_size)
        self.examples = batch_size
        if self.precision == "int8":
            self.left = [torch.randint(-127, 128, (m, k), dtype=torch.int8) for _ in range(_RING)]
            self.right_KN = torch.randint(-127, 128, (k, width), dtype=torch.int8)
            self.out_MN = torch.empty(m, width, dtype=torch.int32)
            return
        dtype = choose_precision(self.precision, self.device)
        self.left = [torch.randn(m, k, dtype=dtype) for _ in range(_RING)]
        self.right_KN = torch.randn(k, width, dtype=dtype)
        self.out_MN = torch.empty(m, width, dtype=dtype)

    def run(self, index: int) -> torch.Tensor:
        left_MK = self.left[index % _RING]
        if self.precision == "int8":
            return torch._int_mm(left_MK, self.right_KN, out=self.out_MN)
        return torch.mm(left_MK, self.right_KN, out=self.out_MN)

    def work(self) -> Work:
        left_MK = self.left[0]
        moved = sum(matrix.nbytes for matrix in (left_MK, self.right_KN, self.out_MN))
        return Work(examples=self.examples, flops=2.0 * left_MK.numel() * self.width, bytes=moved)

    def reference(self, index: int) -> torch.Tensor:
        return self.left[index % _RING].double() @ self.right_KN.double()


def gemm(width: int, batch_axis: Literal["m", "k"], precision: GemmPrecision = "fp32", tolerance: float = 1e-3) -> Gemm:
    """Make the product [batch, W] [W, W] (axis m) or [W, batch] [batch, W] (axis k)."""
    return Gemm(width, batch_axis, precision, tolerance)
