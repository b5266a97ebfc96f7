"""Convolutions in 7 bits, a scale per output channel for weights and one per layer, calibrated, for what comes out.

The loop is `int8_conv.c`. A layer is made from a convolution and what it sees on calibration inputs (`Signal`): once as
it should be, once as rounding has it. Rounded weights shift what comes out by the same amount for every input; biases
take the shift back (bias correction, Nagel et al. 2019), or it would add up over a hundred layers.
Shapes: O outputs, X inputs of one output.
"""
# mypy: disallow-subclassing-any=False
# ruff: noqa: N806 -- shape suffixes

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from strobe.bench.workloads.layers.plane import Border, Plane, PlaneConv
from strobe.bench.workloads.layers.residual import Conv

GREATEST = 127
_GREATEST_WEIGHT = 63
#: of pictures, which alone have negative values
PICTURE_ZERO = 64
#: units of the 16-bit sums to one of the 7-bit values
FINER = 64


@dataclass(frozen=True, slots=True)
class Signal:
    """What is between two layers on calibration inputs [B, C, ...]; `scale` is one unit of its 7 bits."""

    exact: torch.Tensor
    rounded: torch.Tensor
    scale: float


class Int8Conv(PlaneConv):
    """Takes the place of a convolution and what follows it; `learned` is what comes out on calibration inputs."""

    kernel_name, channels_per_step, dtype = "int8_conv", 4, torch.uint8

    def __init__(self, conv: Conv, seen: Signal, *, is_relu: bool, residual: Signal | None = None) -> None:
        super().__init__(conv, is_relu=is_relu)
        weight_OX = conv.weight.detach().flatten(1)
        scales_O = weight_OX.abs().amax(1).clamp(min=1e-30) / _GREATEST_WEIGHT
        quantized_OX = (weight_OX / scales_O[:, None]).round()
        exact = conv(seen.exact)
        rounded_weight = (quantized_OX * scales_O[:, None]).view_as(conv.weight)
        rounded = conv._conv_forward(seen.rounded, rounded_weight, conv.bias)
        if residual is not None:
            exact, rounded = exact + residual.exact, rounded + residual.rounded
        correction_O = (exact - rounded).mean([axis for axis in range(exact.dim()) if axis != 1])
        rounded = rounded + correction_O.view(-1, *[1] * (exact.dim() - 2))
        self.learned = round_signal(exact.relu(), rounded.relu()) if is_relu else _unrounded(exact, rounded)
        unit = self.learned.scale
        self.residual_scale = 0.0 if residual is None else residual.scale / FINER / unit
        self.scales = self.pad_outputs(scales_O * seen.scale / unit)
        zero = PICTURE_ZERO if self.is_of_pictures else 0
        bias_O = correction_O - zero * seen.scale * scales_O * quantized_OX.sum(1)
        if conv.bias is not None:
            bias_O = bias_O + conv.bias
        self.lay_out(quantized_OX.to(torch.int8), bias_O / unit)

    def make_room(
        self, shape: Sequence[int], border: Border | None, is_added_to: bool
    ) -> tuple[Plane | None, torch.Tensor | None]:
        """What is added to is kept in 16 bits, because every block would round it again."""
        plane = None if border is None else Plane.filled(shape, border, self.dtype)
        return plane, torch.empty(shape, dtype=torch.int16) if is_added_to else None


def round_signal(exact: torch.Tensor, rounded: torch.Tensor) -> Signal:
    """Scale by the greatest exact value and round; nothing is negative."""
    scale = float(exact.max().clamp(min=1e-30)) / GREATEST
    return Signal(exact, (rounded / scale).round().clamp(0, GREATEST) * scale, scale)


def round_pictures(pictures: torch.Tensor) -> Signal:
    """Scale by the greatest value of either sign."""
    scale = float(pictures.abs().max().clamp(min=1e-30)) / (GREATEST - PICTURE_ZERO)
    limits = (-PICTURE_ZERO, GREATEST - PICTURE_ZERO)
    return Signal(pictures, (pictures / scale).round().clamp(*limits) * scale, scale)


def _unrounded(exact: torch.Tensor, rounded: torch.Tensor) -> Signal:
    """What goes on in 16 bits alone is as good as not rounded."""
    return Signal(exact, rounded, float(exact.abs().max().clamp(min=1e-30)) / GREATEST)
