"""OSCAR, no holds barred."""
# ruff: noqa: N806 -- shape suffixes

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from torch import nn

from strobe.bench.workloads.layers.encoder import encoder_flops
from strobe.bench.workloads.layers.fast_encoder import FastEncoder, PackedTrainingEncoder, packed_flops
from strobe.bench.workloads.layers.fp32_linear import pack_linears
from strobe.bench.workloads.layers.fp32_product import learn_linears
from strobe.bench.workloads.layers.int8_linear import quantize_linears
from strobe.bench.workloads.optimized import OptimizedInference, OptimizedTraining
from strobe.bench.workloads.oscar.model import CONFIGS
from strobe.bench.workloads.oscar.ootb import OscarTask
from strobe.bench.workloads.task import Batch, Flops


@dataclass(frozen=True)
class PackedOscarTask(OscarTask):
    """The same without the work on padding."""

    #: whether attention sees no more places than the longest question has
    is_cut: bool = False

    def flops(self, batch: Batch) -> Flops:
        mask_BS, encoder = batch.inputs[3], self.config.encoder
        padded = super().flops(batch)
        attended = int(mask_BS.sum(1).max()) if self.is_cut else mask_BS.shape[1]
        less = encoder_flops(encoder, *mask_BS.shape) - packed_flops(encoder, mask_BS, attended)
        return Flops(padded.forward - less, padded.of_data)


def optimize_fp32(model: nn.Module, examples: Sequence[Batch]) -> Callable[..., Any]:
    """Drop padding, fuse projections and attention, lay weights out beforehand."""
    model.encoder = FastEncoder(model.encoder, is_packing=True)
    fast: Callable[..., Any] = pack_linears(model.eval())
    return fast


def optimize_int8(model: nn.Module, examples: Sequence[Batch]) -> Callable[..., Any]:
    """Fuse as in 32 bits, then quantise the linear layers."""
    model.encoder = FastEncoder(model.encoder, is_packing=True)
    fast: Callable[..., Any] = quantize_linears(model.eval())
    return fast


def optimize_training(model: nn.Module) -> Callable[..., Any]:
    """Drop padding, which the answer does not depend on, and fuse attention."""
    model.encoder = PackedTrainingEncoder(model.encoder)
    fast: Callable[..., Any] = learn_linears(model)
    return fast


def inference(
    config: str, precision: str, text: int = 128, regions: int = 50, tolerance: float = 1e-3
) -> OptimizedInference:
    """Make the workload of a published configuration."""
    optimize = {"fp32": optimize_fp32, "int8": optimize_int8}[precision]
    return OptimizedInference(PackedOscarTask(CONFIGS[config], text, regions), optimize, tolerance)


def training(config: str, text: int = 128, regions: int = 50, tolerance: float = 1e-2) -> OptimizedTraining:
    """Make the workload of a published configuration."""
    task = PackedOscarTask(CONFIGS[config], text, regions, is_cut=True)
    return OptimizedTraining(task, optimize_training, tolerance)
