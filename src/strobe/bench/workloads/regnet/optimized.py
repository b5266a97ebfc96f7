"""RegNetY, no holds barred."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import nn

from strobe.bench.workloads.layers.compiling import compile_training
from strobe.bench.workloads.layers.fold import fold_batch_norms
from strobe.bench.workloads.layers.fp32_residual import optimize_residual
from strobe.bench.workloads.layers.int8_residual import quantize_residual
from strobe.bench.workloads.layers.residual import BlockParts, Parts
from strobe.bench.workloads.optimized import OptimizedInference, OptimizedTraining
from strobe.bench.workloads.regnet.model import CONFIGS, RegNet
from strobe.bench.workloads.regnet.ootb import RegNetTask


def take_apart(model: RegNet) -> Parts:
    """Fold batch norms and name the convolutions."""
    fold_batch_norms(model)
    return Parts(
        stem=model.stem[0],
        blocks=tuple(
            BlockParts(
                reduce=block.body[0][0],
                grouped=block.body[1][0],
                gate=(block.body[2].squeeze, block.body[2].excite),
                expand=block.body[3][0],
                shortcut=None if isinstance(block.shortcut, nn.Identity) else block.shortcut[0],
            )
            for block in model.blocks
        ),
        head=model.head,
    )


optimize_fp32 = partial(optimize_residual, take_apart=take_apart, memory_format=torch.channels_last)
optimize_int8 = partial(quantize_residual, take_apart=take_apart)


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
