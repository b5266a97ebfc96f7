"""Linear layers whose weights are laid out beforehand; the product is `fp32_linear.c`.

Shapes: N outputs, K inputs, X rows.
"""
# mypy: disallow-subclassing-any=False
# ruff: noqa: N806 -- shape suffixes

from __future__ import annotations

import ctypes

import torch
from torch import nn

from strobe.bench.workloads.layers.native import address, load_kernels, replace_linears


class PackedLinear(nn.Module):
    """Takes the place of a linear layer at inference, and of a ReLU behind it if asked."""

    def __init__(self, layer: nn.Linear, is_relu: bool = False) -> None:
        super().__init__()
        self.is_relu = is_relu
        self.outputs, self.inputs = layer.weight.shape
        kernels = load_kernels("fp32_linear")
        self.kernel = kernels.fp32_linear
        self.rows, lanes = (ctypes.c_int.in_dll(kernels, name).value for name in ("rows_of_tile", "columns_of_vector"))
        missing = -self.outputs % lanes
        weight_KN = layer.weight.detach().t()
        self.panels = torch.empty((self.outputs + missing) * self.inputs)
        kernels.fp32_lay_out(
            *(address(weight_KN), *map(ctypes.c_long, (*weight_KN.stride(), self.outputs, self.inputs))),
            *(address(self.panels), torch.get_num_threads()),
        )
        bias_N = torch.zeros(self.outputs) if layer.bias is None else layer.bias.detach()
        self.bias_N = nn.functional.pad(bias_N, (0, missing)).contiguous()
        self.weight_bytes = self.panels.nbytes + self.bias_N.nbytes

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x_XK = x.reshape(-1, self.inputs).contiguous()
        y_XN = x_XK.new_empty(len(x_XK), self.outputs)
        room = torch.empty(len(x_XK) + -len(x_XK) % self.rows, self.inputs)
        self.kernel(
            *map(address, (x_XK, self.panels, self.bias_N, y_XN)),
            *map(ctypes.c_long, (len(x_XK), self.outputs, self.inputs)),
            self.is_relu,
            address(room),
            torch.get_num_threads(),
        )
        return y_XN.view(*x.shape[:-1], self.outputs)


def pack_linears(model: nn.Module) -> nn.Module:
    """Replace all linear layers, in place, of a model in 32 bits on a CPU; elsewhere torch's are as good."""
    weight = next(model.parameters())
    if weight.device.type != "cpu" or weight.dtype != torch.float32:
        return model
    return replace_linears(model, PackedLinear)
