"""ResNeXt3D, no holds barred."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import nn

from strobe.bench.workloads.layers.compiling import compile_frozen, compile_training
from strobe.bench.workloads.layers.fold import fold_batch_norms
from strobe.bench.workloads.layers.int8 import quantize_statically
from strobe.bench.workloads.optimized import OptimizedInference, OptimizedTraining
from strobe.bench.workloads.resnext3d.model import CONFIGS
from strobe.bench.workloads.resnext3d.ootb import ResNext3dTask
from strobe.bench.workloads.task import Batch


def optimize_fp32(model: nn.Module, examples: Sequence[Batch]) -> Callable[..., Any]:
    """Fold batch norms, put channels last, compile with frozen weights."""
    return compile_frozen(fold_batch_norms(model).to(memory_format=torch.channels_last_3d))


def optimize_int8(model: nn.Module, examples: Sequence[Batch]) -> Callable[..., Any]:
    """Quantise all convolutions, calibrated."""
    return quantize_statically(model.eval(), [batch.inputs for batch in examples])


def optimize_training(model: nn.Module) -> Callable[..., Any]:
    """Put channels last, compile both passes."""
    return compile_training(model.to(memory_format=torch.channels_last_3d))


def inference(
    config: str, precision: str, frames: int = 16, image_size: int = 112, tolerance: float = 1e-3
) -> OptimizedInference:
    """Make the workload of a configuration."""
    optimize = {"fp32": optimize_fp32, "int8": optimize_int8}[precision]
    return OptimizedInference(ResNext3dTask(CONFIGS[config], frames, image_size), optimize, tolerance)


def training(config: str, frames: int = 16, image_size: int = 112, tolerance: float = 1e-2) -> OptimizedTraining:
    """Make the workload of a configuration."""
    return OptimizedTraining(ResNext3dTask(CONFIGS[config], frames, image_size), optimize_training, tolerance)
