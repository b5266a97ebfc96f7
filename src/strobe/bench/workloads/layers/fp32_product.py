"""Products of matrices in training, where neither factor is known beforehand, by `fp32_linear.c`; layers of them.

MKL keeps its fastest loops to processors of one maker. Which of the two is faster here is tried once in a process, on
one thread, which others disturb least; ours must be so by a margin, for it lays out what MKL lays out, too.
Shapes: X rows, K inputs, N outputs.
"""
# mypy: disallow-subclassing-any=False
# ruff: noqa: N803, N806 -- shape suffixes

from __future__ import annotations

import ctypes
import math
import time
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812 -- its name everywhere
from torch import nn

from strobe.bench.workload import NotHere
from strobe.bench.workloads.layers.native import address, load_kernels, replace_linears

#: of rows; with fewer, laying the other factor out takes more time than the product
_FEWEST = 32
_MARGIN, _TRIES = 1.1, 10
#: of what is tried: as large as layers are, and 16 bits that are emulated take less than a second
_ROWS, _WIDTH = 128, 512


def multiply(x_XK: torch.Tensor, w_KN: torch.Tensor) -> torch.Tensor:
    """Give the product of two matrices, which may be transposed views, by whoever is faster."""
    is_ours = x_XK.device.type == "cpu" and x_XK.dtype == torch.float32 and len(x_XK) >= _FEWEST and is_faster()
    return multiply_ours(x_XK, w_KN, torch.get_num_threads()) if is_ours else x_XK @ w_KN


def multiply_ours(x_XK: torch.Tensor, w_KN: torch.Tensor, threads: int) -> torch.Tensor:
    """Give the product of two matrices in 32 bits on a CPU."""
    kernels = load_kernels("fp32_linear")
    rows, lanes = (ctypes.c_int.in_dll(kernels, name).value for name in ("rows_of_tile", "columns_of_vector"))
    (m, k), n = x_XK.shape, w_KN.shape[1]
    y_XN = x_XK.new_empty(m, n)
    packed, panels = x_XK.new_empty((m + -m % rows) * k), x_XK.new_empty(k * (n + -n % lanes))
    kernels.fp32_product(
        *(address(x_XK), *map(ctypes.c_long, x_XK.stride()), address(w_KN), *map(ctypes.c_long, w_KN.stride())),
        *(address(y_XN), *map(ctypes.c_long, (m, n, k)), address(packed), address(panels), threads),
    )
    return y_XN


class _Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x_XK: torch.Tensor, weight_NK: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(x_XK, weight_NK)
        return multiply(x_XK, weight_NK.t())

    @staticmethod
    def backward(ctx: Any, grad_XN: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        x_XK, weight_NK = ctx.saved_tensors
        grad_x_XK = multiply(grad_XN, weight_NK) if ctx.needs_input_grad[0] else None
        return grad_x_XK, multiply(grad_XN.t(), x_XK)


def linear(x: torch.Tensor, weight_NK: torch.Tensor, bias_N: torch.Tensor | None = None) -> torch.Tensor:
    """Give x wᵀ + bias, to be differentiated."""
    is_ours = (
        weight_NK.device.type == "cpu" and weight_NK.dtype == torch.float32 and not torch.is_autocast_enabled("cpu")
    )
    if not is_ours or not is_faster():
        return F.linear(x, weight_NK, bias_N)
    y = _Product.apply(x.reshape(-1, x.shape[-1]), weight_NK).view(*x.shape[:-1], len(weight_NK))
    return y if bias_N is None else y + bias_N


class LearningLinear(nn.Module):
    """Takes the place of a linear layer in training, and of a ReLU behind it if asked; the same parameters."""

    def __init__(self, layer: nn.Linear, is_relu: bool) -> None:
        super().__init__()
        self.weight, self.bias, self.is_relu = layer.weight, layer.bias, is_relu

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = linear(x, self.weight, self.bias)
        return torch.relu(y) if self.is_relu else y


def learn_linears(model: nn.Module) -> nn.Module:
    """Replace all linear layers, in place, of a model that is trained."""
    return replace_linears(model, LearningLinear)


@cache
def is_faster() -> bool:
    """Whether our product takes less time than torch's on this processor."""
    x_XK, w_KN = _factors(torch.float32)
    try:
        ours_s, torchs_s = _least_s(lambda: multiply_ours(x_XK, w_KN, threads=1), lambda: x_XK @ w_KN)
    except NotHere:
        return False
    return torchs_s > _MARGIN * ours_s


@cache
def is_emulated(dtype: torch.dtype) -> bool:
    """Whether products in a type of fewer bits take this processor longer than in 32."""
    (x_XK, w_KN), (small_x_XK, small_w_KN) = _factors(torch.float32), _factors(dtype)
    multiply_fp32 = partial(multiply_ours, threads=1) if is_faster() else torch.mm
    # Twice is enough to know: what is emulated can be a thousand times slower.
    small_s, fp32_s = _least_s(lambda: small_x_XK @ small_w_KN, lambda: multiply_fp32(x_XK, w_KN), tries=2)
    return small_s > fp32_s


def _factors(dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.randn(_ROWS, _WIDTH).to(dtype), torch.randn(_WIDTH, _WIDTH).to(dtype).t()


def _least_s(*works: Callable[[], object], tries: int = _TRIES) -> list[float]:
    """Return the least CPU time of each on one thread, in turns, so that a slow moment falls on all of them."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        least = [math.inf] * len(works)
        for _ in range(tries):
            for place, work in enumerate(works):
                began = time.process_time()
                work()
                least[place] = min(least[place], time.process_time() - began)
        return least
    finally:
        torch.set_num_threads(threads)
