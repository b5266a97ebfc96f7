"""ResNeXt3D, no holds barred."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import nn

from strobe.bench.workloads.layers.compiling import compile_training
from strobe.bench.workloads.layers.fold import fold_batch_norms
from strobe.bench.workloads.layers.fp32_residual import is_native, optimize_residual
from strobe.bench.workloads.layers.int8_residual import quantize_residual
from strobe.bench.workloads.layers.residual import BlockParts, Parts
from strobe.bench.workloads.optimized import OptimizedInference, OptimizedTraining
from strobe.bench.workloads.resnext3d.fast_training import FastResNext3d
from strobe.bench.workloads.resnext3d.model import CONFIGS, ResNext3d
from strobe.bench.workloads.resnext3d.ootb import ResNext3dTask


def take_apart(model: ResNext3d) -> Parts:
    """Fold batch norms and name the convolutions."""
    fold_batch_norms(model)
    return Parts(
        stem=model.stem,
        blocks=tuple(
            BlockParts(
                reduce=block.reduce,
                grouped=block.conv,
                expand=block.expand,
                shortcut=None if isinstance(block.shortcut, nn.Identity) else block.shortcut[0],
            )
            for block in model.blocks
        ),
        head=model.head,
    )


optimize_fp32 = partial(optimize_residual, take_apart=take_apart, memory_format=torch.channels_last_3d)
optimize_int8 = partial(quantize_residual, take_apart=take_apart)


def optimize_training(model: nn.Module) -> Callable[..., Any]:
    """Make products of 1x1 convolutions, and one pass of norm, sum and ReLU; off the CPU, the compiler does."""
    if not is_native(model):
        return compile_training(model.to(memory_format=torch.channels_last_3d))
    fast: Callable[..., Any] = FastResNext3d(model)
    return fast


def inference(
    config: str, precision: str, frames: int = 16, image_size: int = 112, tolerance: float = 1e-3
) -> OptimizedInference:
    """Make the workload of a configuration."""
    optimize = {"fp32": optimize_fp32, "int8": optimize_int8}[precision]
    return OptimizedInference(ResNext3dTask(CONFIGS[config], frames, image_size), optimize, tolerance)


def training(config: str, frames: int = 16, image_size: int = 112, tolerance: float = 1e-2) -> OptimizedTraining:
    """Make the workload of a configuration."""
    return OptimizedTraining(ResNext3dTask(CONFIGS[config], frames, image_size), optimize_training, tolerance)
