"""Residual networks of convolutions in 32 bits by `fp32_conv.c`."""
# mypy: disallow-subclassing-any=False
# ruff: noqa: N803 -- shape suffixes

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import nn

from strobe.bench.workloads.layers.compiling import compile_frozen
from strobe.bench.workloads.layers.fold import fold_batch_norms
from strobe.bench.workloads.layers.native import address, load_kernels
from strobe.bench.workloads.layers.plane import Plane, PlaneConv
from strobe.bench.workloads.layers.residual import Conv, Parts
from strobe.bench.workloads.layers.residual_plan import BlockLayers, ResidualPlanes, Step
from strobe.bench.workloads.layers.widened import Widened
from strobe.bench.workloads.task import Batch


class Fp32Conv(PlaneConv):
    """Takes the place of a convolution and what follows it."""

    kernel_name, channels_per_step, dtype = "fp32_conv", 1, torch.float32

    def __init__(self, conv: Conv, *, is_relu: bool) -> None:
        super().__init__(conv, is_relu=is_relu)
        self.lay_out(conv.weight, torch.zeros(self.outputs) if conv.bias is None else conv.bias)

    def most_vectors(self) -> int:
        return ctypes.c_int.in_dll(load_kernels(self.kernel_name), "vectors_of_panel").value


class Fp32Gate:
    """Scales channels by what their averages say."""

    def __init__(self, squeeze: Conv, excite: Conv) -> None:
        self.weights = gate_weights(squeeze, excite)
        self.kernel = load_kernels("fp32_conv").excite

    def bind(self, plane: Plane) -> Step:
        batch, channels, squeezed = len(plane.values), plane.values.shape[4], len(self.weights[1])
        room = torch.empty(batch, 2 * channels + squeezed)

        def run() -> None:
            self.kernel(
                *map(address, (plane.values, *self.weights, room)),
                *map(ctypes.c_long, (batch, plane.num_pixels, channels, squeezed)),
                torch.get_num_threads(),
            )

        return run


def gate_weights(squeeze: Conv, excite: Conv) -> tuple[torch.Tensor, ...]:
    """Give weight and bias of both 1x1 convolutions of a gate, as matrices and vectors."""
    return tuple(
        tensor.detach().view(tensor.shape[:2] if tensor.dim() > 1 else tensor.shape).contiguous()
        for tensor in (squeeze.weight, squeeze.bias, excite.weight, excite.bias)
    )


class Fp32Residual(ResidualPlanes):
    """A network in 32 bits."""

    def __init__(self, parts: Parts) -> None:
        blocks = [
            BlockLayers(
                reduce=Fp32Conv(block.reduce, is_relu=True),
                grouped=Fp32Conv(block.grouped, is_relu=True),
                gate=None if block.gate is None else Fp32Gate(*block.gate),
                expand=Fp32Conv(block.expand, is_relu=True),
                shortcut=None if block.shortcut is None else Fp32Conv(block.shortcut, is_relu=False),
            )
            for block in parts.blocks
        ]
        super().__init__(Fp32Conv(parts.stem, is_relu=True), blocks, parts.head)

    def make_pictures(self, shape: Sequence[int]) -> Plane:
        return Plane.filled(shape, self.stem.padding, torch.float32)

    def take_pictures(self, x: torch.Tensor, plane: Plane, places: torch.Tensor) -> None:
        load_kernels("fp32_conv").take_pictures(
            *map(address, (x, plane.values, places)),
            *map(ctypes.c_long, (len(x), plane.num_pixels)),
            torch.get_num_threads(),
        )

    def read_mean(self, sums_BXC: torch.Tensor) -> torch.Tensor:
        return sums_BXC.mean(1)


def is_native(model: nn.Module) -> bool:
    """Whether our own convolutions can take a model: in 32 bits, on a CPU."""
    weight = next(model.parameters())
    return bool(weight.device.type == "cpu" and weight.dtype == torch.float32)


def optimize_residual(
    model: nn.Module,
    examples: Sequence[Batch],
    *,
    take_apart: Callable[[Any], Parts],
    memory_format: torch.memory_format,
) -> Callable[..., Any]:
    """Fold batch norms, let our own convolutions do what follows them; off the CPU, the compiler does."""
    weight = next(model.parameters())
    if weight.device.type != "cpu":
        return compile_frozen(fold_batch_norms(model).to(memory_format=memory_format))
    fast = Fp32Residual(take_apart(model.float()))
    return fast if weight.dtype == torch.float32 else Widened(fast)
