"""XLM-R, no holds barred."""
# ruff: noqa: N806 -- shape suffixes

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from torch import nn

from strobe.bench.workloads.data.lengths import SHORT_TEXT
from strobe.bench.workloads.layers.compiling import compile_frozen
from strobe.bench.workloads.layers.fast_encoder import FastEncoder, TrainingEncoder, packed_flops
from strobe.bench.workloads.layers.fp32_linear import pack_linears
from strobe.bench.workloads.layers.fp32_product import learn_linears
from strobe.bench.workloads.layers.int8_linear import quantize_linears
from strobe.bench.workloads.optimized import OptimizedInference, OptimizedTraining
from strobe.bench.workloads.task import Batch, Flops
from strobe.bench.workloads.xlmr.model import CONFIGS, PAD
from strobe.bench.workloads.xlmr.ootb import XlmrTask, make_task


@dataclass(frozen=True)
class PackedXlmrTask(XlmrTask):
    """The same without the work on padding, of which there is none if sentences are of one length."""

    def flops(self, batch: Batch) -> Flops:
        (tokens_BS,) = batch.inputs
        return Flops(packed_flops(self.config.encoder, tokens_BS != PAD, attended=tokens_BS.shape[1]))


def optimize_fp32(model: nn.Module, examples: Sequence[Batch], is_varied: bool) -> Callable[..., Any]:
    """Fuse projections and attention, drop padding where there is any, lay weights out beforehand."""
    model.encoder = FastEncoder(model.encoder, is_packing=is_varied)
    # Where there is no such kernel, the compiler fuses; it wants one shape.
    if next(model.parameters()).device.type != "cpu" and not is_varied:
        return compile_frozen(model)
    fast: Callable[..., Any] = pack_linears(model.eval())
    return fast


def optimize_int8(model: nn.Module, examples: Sequence[Batch], is_varied: bool) -> Callable[..., Any]:
    """Fuse as in 32 bits, then quantise the linear layers."""
    model.encoder = FastEncoder(model.encoder, is_packing=is_varied)
    fast: Callable[..., Any] = quantize_linears(model.eval())
    return fast


def optimize_training(model: nn.Module) -> Callable[..., Any]:
    """Fuse attention, and give gradients to those rows of the vocabulary alone that a batch has."""
    model.encoder = TrainingEncoder(model.encoder)
    model.tokens.sparse = True
    fast: Callable[..., Any] = learn_linears(model)
    return fast


def inference(
    config: str, sequence: int, precision: str, is_varied: bool = False, tolerance: float = 1e-3
) -> OptimizedInference:
    """Make the workload of a published configuration."""
    optimize = {"fp32": optimize_fp32, "int8": optimize_int8}[precision]
    task = PackedXlmrTask(CONFIGS[config], sequence, SHORT_TEXT if is_varied else None)
    return OptimizedInference(task, partial(optimize, is_varied=is_varied), tolerance)


def training(config: str, sequence: int, is_varied: bool = False, tolerance: float = 1e-2) -> OptimizedTraining:
    """Make the workload of a published configuration."""
    return OptimizedTraining(make_task(config, sequence, is_varied), optimize_training, tolerance)
