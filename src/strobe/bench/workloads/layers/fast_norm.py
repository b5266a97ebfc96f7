"""Batch norm in training with what is added to it and a ReLU, by `batch_norm.c`, and 1x1 convolutions as products.

Channels are last: pixels of all examples are rows, and a convolution of one pixel is a product of matrices.
Shapes: X pixels, C channels, O outputs.
"""
# mypy: disallow-subclassing-any=False
# ruff: noqa: N803, N806 -- shape suffixes

from __future__ import annotations

import ctypes
from typing import Any, TypeAlias

import torch
from torch import nn

from strobe.bench.workloads.layers.fp32_product import linear
from strobe.bench.workloads.layers.native import load_kernels
from strobe.bench.workloads.layers.residual import Conv

Norm: TypeAlias = nn.BatchNorm2d | nn.BatchNorm3d


class _Arguments(ctypes.Structure):
    """The kernels' arguments, in their order."""

    _fields_ = (
        *((name, ctypes.c_void_p) for name in ("x", "weight", "bias", "residual", "y")),
        *((name, ctypes.c_void_p) for name in ("mean", "inverse", "running_mean", "running_var")),
        *((name, ctypes.c_void_p) for name in ("grad_y", "grad_x", "grad_residual", "grad_weight", "grad_bias")),
        *((name, ctypes.c_void_p) for name in ("room", "parts")),
        *((name, ctypes.c_long) for name in ("rows", "channels")),
        *((name, ctypes.c_float) for name in ("eps", "momentum")),
        ("is_relu", ctypes.c_int),
    )


def _call(name: str, norm: Norm, is_relu: bool, **tensors: torch.Tensor | None) -> None:
    x_XC = tensors["x"]
    assert x_XC is not None
    threads = torch.get_num_threads()
    room = torch.empty(threads, 2, x_XC.shape[1], dtype=torch.float64)
    parts = torch.empty(threads, 2, x_XC.shape[1])
    given = {
        **tensors,
        "running_mean": norm.running_mean,
        "running_var": norm.running_var,
        "room": room,
        "parts": parts,
    }
    arguments = _Arguments(
        **{key: None if tensor is None else tensor.data_ptr() for key, tensor in given.items()},
        rows=len(x_XC),
        channels=x_XC.shape[1],
        eps=norm.eps,
        momentum=norm.momentum,
        is_relu=is_relu,
    )
    getattr(load_kernels("batch_norm"), name)(ctypes.byref(arguments), threads)


class _NormRelu(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        x_XC: torch.Tensor,
        weight_C: torch.Tensor,
        bias_C: torch.Tensor,
        residual_XC: torch.Tensor | None,
        norm: Norm,
        is_relu: bool,
    ) -> torch.Tensor:
        y_XC = torch.empty_like(x_XC)
        mean_C, inverse_C = torch.empty_like(weight_C), torch.empty_like(weight_C)
        residual_XC = None if residual_XC is None else residual_XC.contiguous()
        _call(
            "norm_forward",
            norm,
            is_relu,
            x=x_XC,
            weight=weight_C,
            bias=bias_C,
            residual=residual_XC,
            y=y_XC,
            mean=mean_C,
            inverse=inverse_C,
        )
        norm.num_batches_tracked.add_(1)
        ctx.save_for_backward(x_XC, y_XC, weight_C, mean_C, inverse_C)
        ctx.norm, ctx.is_relu, ctx.has_residual = norm, is_relu, residual_XC is not None
        return y_XC

    @staticmethod
    def backward(ctx: Any, grad_XC: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        x_XC, y_XC, weight_C, mean_C, inverse_C = ctx.saved_tensors
        grad_XC = grad_XC.contiguous()
        grad_x_XC = torch.empty_like(x_XC)
        grad_residual_XC = torch.empty_like(x_XC) if ctx.has_residual else None
        grad_weight_C, grad_bias_C = torch.empty_like(weight_C), torch.empty_like(weight_C)
        _call(
            "norm_backward",
            ctx.norm,
            ctx.is_relu,
            x=x_XC,
            y=y_XC,
            weight=weight_C,
            mean=mean_C,
            inverse=inverse_C,
            grad_y=grad_XC,
            grad_x=grad_x_XC,
            grad_residual=grad_residual_XC,
            grad_weight=grad_weight_C,
            grad_bias=grad_bias_C,
        )
        return grad_x_XC, grad_weight_C, grad_bias_C, grad_residual_XC, None, None


def norm_relu(norm: Norm, x: torch.Tensor, *, is_relu: bool, residual: torch.Tensor | None = None) -> torch.Tensor:
    """Normalise [B, C, ...] with channels last by the batch, add the residual, cut off below zero."""
    x_last = x.float().movedim(1, -1)  # under autocast, convolutions give 16 bits
    rows_XC = x_last.reshape(-1, x.shape[1]).contiguous()
    residual_XC = None if residual is None else residual.movedim(1, -1).reshape(rows_XC.shape)
    y_XC = _NormRelu.apply(rows_XC, norm.weight, norm.bias, residual_XC, norm, is_relu)
    return y_XC.view(x_last.shape).movedim(-1, 1)


def convolve(conv: Conv, x: torch.Tensor) -> torch.Tensor:
    """Convolve with channels last; of one pixel it is a product."""
    if any(length != 1 for length in conv.kernel_size) or conv.groups != 1 or conv.bias is not None:
        return conv(x)
    for axis, stride in enumerate(conv.stride, start=2):
        if stride != 1:
            x = x[(slice(None),) * axis + (slice(None, None, stride),)]
    return linear(x.movedim(1, -1), conv.weight.flatten(1)).movedim(-1, 1)
