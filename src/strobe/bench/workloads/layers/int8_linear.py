"""Linear layers with 7-bit weights, a scale per column, and inputs brought to 7 bits row by row as they come.

The product is `int8_linear.c`. One bit is given up on both sides for sums that fit 16 bits twice as long; a scale per
column and per row make up for it, so that the error is that of torch's own 8 bits with a scale per tensor.

Where all rows have much in common, a layer can be given the mean of its inputs (`mean_inputs`): what it makes of that
is exact and in the bias, and only what is particular to a row is rounded.
Shapes: N outputs, K inputs, X rows.
"""
# mypy: disallow-subclassing-any=False
# ruff: noqa: N803, N806 -- shape suffixes

from __future__ import annotations

import ctypes
from collections import defaultdict
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

import torch
from torch import nn

from strobe.bench.workload import NotHere
from strobe.bench.workloads.layers.native import address, load_kernels, replace_linears

_COLUMNS, _DEPTH, _ROWS = 16, 8, 6
_GREATEST = 63
NO_MEANS: Mapping[nn.Linear, torch.Tensor] = MappingProxyType({})


class Int8Linear(nn.Module):
    """Takes the place of a linear layer, and of a ReLU behind it if asked; `mean_K` is what inputs are on average."""

    def __init__(self, layer: nn.Linear, is_relu: bool = False, mean_K: torch.Tensor | None = None) -> None:
        super().__init__()
        if layer.weight.device.type != "cpu":
            raise NotHere(f"8-bit linear layers are written for CPUs, and the device is {layer.weight.device}")
        self.is_relu = is_relu
        self.outputs, self.inputs = layer.weight.shape
        self.padded_outputs, self.padded_inputs = (
            -(-self.outputs // _COLUMNS) * _COLUMNS,
            -(-self.inputs // _DEPTH) * _DEPTH,
        )
        weight_NK = layer.weight.detach().float()
        scales_N = weight_NK.abs().amax(1).clamp(min=1e-30) / _GREATEST
        quantized_NK = torch.zeros(self.padded_outputs, self.padded_inputs, dtype=torch.int8)
        quantized_NK[: self.outputs, : self.inputs] = (weight_NK / scales_N[:, None]).round()
        self.sums_N = quantized_NK.sum(1, dtype=torch.int32)
        self.scales_N = scales_N.contiguous()
        panels = quantized_NK.view(self.padded_outputs // _COLUMNS, _COLUMNS, self.padded_inputs // 4, 4)
        self.panels = panels.transpose(1, 2).contiguous()
        self.bias_N = torch.zeros(self.outputs) if layer.bias is None else layer.bias.detach().float().contiguous()
        self.mean_K = mean_K
        if mean_K is not None:
            self.bias_N = self.bias_N + weight_NK @ mean_K
        self.weight_bytes = sum(part.nbytes for part in (self.panels, self.scales_N, self.sums_N, self.bias_N))
        self.kernel = load_kernels("int8_linear").int8_linear

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x_XK = x.reshape(-1, self.inputs)
        x_XK = x_XK.contiguous() if self.mean_K is None else x_XK - self.mean_K
        rows = len(x_XK)
        y_XN = x_XK.new_empty(rows, self.outputs)
        # Room for the rows in 7 bits, their scales and their zeros; the kernel reads six rows at a time.
        quantized = torch.empty((rows + _ROWS) * self.padded_inputs, dtype=torch.uint8)
        scales_X, zeros_X = torch.empty(rows), torch.empty(rows, dtype=torch.int32)
        self.kernel(
            *map(address, (x_XK, self.panels, self.scales_N, self.sums_N, self.bias_N, y_XN)),
            *map(ctypes.c_long, (rows, self.outputs, self.padded_outputs, self.inputs, self.padded_inputs)),
            self.is_relu,
            *map(address, (quantized, scales_X, zeros_X)),
            torch.get_num_threads(),
        )
        return y_XN.view(*x.shape[:-1], self.outputs)


def quantize_linears(model: nn.Module, means: Mapping[nn.Linear, torch.Tensor] = NO_MEANS) -> nn.Module:
    """Replace all linear layers, in place, with the means of their inputs where these are known."""
    return replace_linears(model, lambda layer, is_relu: Int8Linear(layer, is_relu, means.get(layer)))


def mean_inputs(model: nn.Module, inputs: Iterable[tuple[Any, ...]]) -> dict[nn.Linear, torch.Tensor]:
    """Give what each linear layer sees on average when the model sees inputs of one size."""
    seen: dict[nn.Linear, list[torch.Tensor]] = defaultdict(list)
    layers = [module for module in model.modules() if isinstance(module, nn.Linear)]
    hooks = [layer.register_forward_pre_hook(lambda layer, x: seen[layer].append(x[0].mean(0))) for layer in layers]
    for one in inputs:
        model(*one)
    for hook in hooks:
        hook.remove()
    return {layer: torch.stack(means).mean(0) for layer, means in seen.items()}
