"""Residual networks of convolutions in 7 bits by `int8_conv.c`; sums of blocks are in 16 bits, the head in 32."""
# mypy: disallow-subclassing-any=False
# ruff: noqa: N803 -- shape suffixes

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import nn

from strobe.bench.workloads.layers.fp32_residual import gate_weights
from strobe.bench.workloads.layers.int8_conv import FINER, PICTURE_ZERO, Int8Conv, Signal, round_pictures, round_signal
from strobe.bench.workloads.layers.native import address, load_kernels
from strobe.bench.workloads.layers.plane import Plane
from strobe.bench.workloads.layers.residual import BlockParts, Conv, Parts
from strobe.bench.workloads.layers.residual_plan import BlockLayers, ResidualPlanes, Step
from strobe.bench.workloads.task import Batch


class Int8Gate:
    """Scales channels by what their averages say; values stay in 7 bits."""

    def __init__(self, squeeze: Conv, excite: Conv, seen: Signal) -> None:
        def gate(x: torch.Tensor) -> torch.Tensor:
            mean = x.mean(tuple(range(2, x.dim())), keepdim=True)
            return x * torch.sigmoid(excite(torch.relu(squeeze(mean))))

        self.learned = round_signal(gate(seen.exact), gate(seen.rounded))
        self.scale, self.factor = seen.scale, seen.scale / self.learned.scale
        self.weights = gate_weights(squeeze, excite)
        self.kernel = load_kernels("int8_conv").excite

    def bind(self, plane: Plane) -> Step:
        batch, channels, squeezed = len(plane.values), plane.values.shape[4], len(self.weights[1])
        pixels = plane.num_pixels
        room, whole = torch.empty(batch, channels + squeezed), torch.empty(batch, channels, dtype=torch.int16)

        def run() -> None:
            self.kernel(
                *map(address, (plane.values, *self.weights, room, whole)),
                *map(ctypes.c_long, (batch, pixels, channels, squeezed)),
                *map(ctypes.c_float, (self.scale / pixels, self.factor)),
                torch.get_num_threads(),
            )

        return run


class Int8Residual(ResidualPlanes):
    """A network in 7 bits, calibrated by pictures."""

    def __init__(self, parts: Parts, calibration: Sequence[torch.Tensor]) -> None:
        pictures = round_pictures(torch.cat(list(calibration)))
        stem = Int8Conv(parts.stem, pictures, is_relu=True)
        signal, blocks = _take_learned(stem), []
        for part in parts.blocks:
            block, signal = _quantize(part, signal)
            blocks.append(block)
        super().__init__(stem, blocks, parts.head)
        self.inverse, self.unit = 1 / pictures.scale, signal.scale / FINER

    def make_pictures(self, shape: Sequence[int]) -> Plane:
        return Plane.filled(shape, self.stem.padding, torch.uint8, PICTURE_ZERO)

    def take_pictures(self, x: torch.Tensor, plane: Plane, places: torch.Tensor) -> None:
        self.faults_B1 = torch.empty(len(x), 1)
        load_kernels("int8_conv").take_pictures(
            *map(address, (x, plane.values, places, self.faults_B1)),
            *map(ctypes.c_long, (len(x), plane.num_pixels)),
            ctypes.c_float(self.inverse),
            torch.get_num_threads(),
        )

    def read_mean(self, sums_BXC: torch.Tensor) -> torch.Tensor:
        # What pictures had that 7 bits cannot say, NaN or infinity, is told in the end.
        return sums_BXC.mean(1, dtype=torch.float32) * self.unit + self.faults_B1


def _quantize(parts: BlockParts, seen: Signal) -> tuple[BlockLayers, Signal]:
    reduce = Int8Conv(parts.reduce, seen, is_relu=True)
    grouped = Int8Conv(parts.grouped, reduce.learned, is_relu=True)
    gate = None if parts.gate is None else Int8Gate(*parts.gate, grouped.learned)
    shortcut = None if parts.shortcut is None else Int8Conv(parts.shortcut, seen, is_relu=False)
    expand = Int8Conv(
        parts.expand,
        grouped.learned if gate is None else gate.learned,
        is_relu=True,
        residual=seen if shortcut is None else shortcut.learned,
    )
    layers: tuple[Int8Conv | Int8Gate | None, ...] = (reduce, grouped, gate, shortcut)
    for layer in layers:
        if layer is not None:
            _take_learned(layer)
    block = BlockLayers(reduce=reduce, grouped=grouped, gate=gate, expand=expand, shortcut=shortcut)
    return block, _take_learned(expand)


def _take_learned(layer: Int8Conv | Int8Gate) -> Signal:
    """Take what the next layer is calibrated by away: of a hundred layers kept, it would fill the memory."""
    learned = layer.learned
    del layer.learned
    return learned


def quantize_residual(
    model: nn.Module, examples: Sequence[Batch], *, take_apart: Callable[[Any], Parts]
) -> Callable[..., Any]:
    """Fold batch norms, then quantise all convolutions, calibrated by the examples' pictures."""
    return Int8Residual(take_apart(model), [batch.inputs[0] for batch in examples])
