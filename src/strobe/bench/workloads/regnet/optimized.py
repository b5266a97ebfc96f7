"""RegNetY, no holds barred."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import nn

from strobe.bench.workloads.layers.compiling import compile_frozen, compile_training
from strobe.bench.workloads.layers.fold import fold_batch_norms
from strobe.bench.workloads.layers.int8 import quantize_statically
from strobe.bench.workloads.optimized import OptimizedInference, OptimizedTraining
from strobe.bench.workloads.regnet.model import CONFIGS
from strobe.bench.workloads.regnet.ootb import RegNetTask
from strobe.bench.workloads.task import Batch


def optimize_fp32(model: nn.Module, examples: Sequence[Batch]) -> Callable[..., Any]:
    """Fold batch norms, put channels last, compile with frozen weights."""
    return compile_frozen(fold_batch_norms(model).to(memory_format=torch.channels_last))


def optimize_int8(model: nn.Module, examples: Sequence[Batch]) -> Callable[..., Any]:
    """Quantise all convolutions, calibrated."""
    calibration = [batch.inputs for batch in examples]
    return quantize_statically(model.to(memory_format=torch.channels_last), calibration)


def optimize_training(model: nn.Module) -> Callable[..., Any]:
    """Put channels last, compile both passes."""
    return compile_training(model.to(memory_format=torch.channels_last))


def inference(config: str, precision: str, image_size: int = 224, tolerance: float = 1e-3) -> OptimizedInference:
    """Make the workload of a published configuration."""
    optimize = {"fp32": optimize_fp32, "int8": optimize_int8}[precision]
    return OptimizedInference(RegNetTask(CONFIGS[config], image_size), optimize, tolerance)


def training(config: str, image_size: int = 224, tolerance: float = 1e-2) -> OptimizedTraining:
    """Make the workload of a published configuration."""
    return OptimizedTraining(RegNetTask(CONFIGS[config], image_size), optimize_training, tolerance)
