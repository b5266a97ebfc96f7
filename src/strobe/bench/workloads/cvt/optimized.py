"""CvT, no holds barred."""
# mypy: disallow-subclassing-any=False
# ruff: noqa: N803, N806 -- shape suffixes

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812 -- its name everywhere
from torch import nn

from strobe.bench.workloads.cvt.model import CONFIGS, Attention, Block
from strobe.bench.workloads.cvt.ootb import CvtTask
from strobe.bench.workloads.layers.compiling import compile_frozen, compile_training
from strobe.bench.workloads.layers.fold import fold_batch_norms
from strobe.bench.workloads.layers.fp32_linear import pack_linears
from strobe.bench.workloads.layers.fp32_product import learn_linears
from strobe.bench.workloads.layers.int8_linear import quantize_linears
from strobe.bench.workloads.optimized import OptimizedInference, OptimizedTraining
from strobe.bench.workloads.task import Batch

#: of QuickGELU, as the model has it
_STEEPNESS = 1.702


class FastAttention(nn.Module):
    """The parts of an attention, with the fused product; shapes as in the model."""

    def __init__(self, attention: Attention) -> None:
        super().__init__()
        self.heads, self.scale = attention.heads, attention.scale
        for name, part in attention.named_children():
            self.add_module(name, part)

    def forward(self, x_BSC: torch.Tensor, height: int, width: int) -> torch.Tensor:
        token_B1C, x_BSC = x_BSC.split([x_BSC.shape[1] - height * width, height * width], 1)
        # A sequence of places is a picture with channels last already.
        x_BCHW = x_BSC.transpose(1, 2).unflatten(2, (height, width))
        q_BNSD, k_BNUD, v_BNUD = (
            linear(torch.cat([token_B1C, conv(x_BCHW)], 1)).unflatten(2, (self.heads, -1)).transpose(1, 2)
            for conv, linear in (
                (self.conv_query, self.query),
                (self.conv_key, self.key),
                (self.conv_value, self.value),
            )
        )
        mixed_BNSD = F.scaled_dot_product_attention(q_BNSD, k_BNUD, v_BNUD, scale=self.scale)
        return self.output(mixed_BNSD.transpose(1, 2).flatten(2))


def fold_activations(model: nn.Module) -> nn.Module:
    """Put the factors of QuickGELU into the layers around it, in place: x σ(ax) = SiLU(ax) / a, which is one pass."""
    with torch.no_grad():
        for block in model.modules():
            if isinstance(block, Block):
                widen, _, narrow = block.mlp
                widen.weight.mul_(_STEEPNESS)
                widen.bias.mul_(_STEEPNESS)
                narrow.weight.div_(_STEEPNESS)
                block.mlp[1] = nn.SiLU(inplace=True)
    return model


def fuse_attention(model: nn.Module) -> nn.Module:
    """Give each block the fused attention, in place."""
    for block in model.modules():
        if isinstance(block, Block):
            block.attention = FastAttention(block.attention)
    return model.to(memory_format=torch.channels_last)


def optimize_fp32(model: nn.Module, examples: Sequence[Batch]) -> Callable[..., Any]:
    """Fold what can be folded, fuse attention, lay weights of linear layers out; off the CPU, the compiler does."""
    fused = fuse_attention(fold_activations(fold_batch_norms(model))).eval()
    if next(fused.parameters()).device.type != "cpu":
        return compile_frozen(fused)
    fast: Callable[..., Any] = pack_linears(fused)
    return fast


def optimize_int8(model: nn.Module, examples: Sequence[Batch]) -> Callable[..., Any]:
    """Fold and fuse, then quantise the linear layers."""
    fast: Callable[..., Any] = quantize_linears(fuse_attention(fold_activations(fold_batch_norms(model))).eval())
    return fast


def optimize_training(model: nn.Module) -> Callable[..., Any]:
    """Fuse attention, channels last; off the CPU, compile both passes, too."""
    fused = fuse_attention(model)
    if next(fused.parameters()).device.type != "cpu":
        return compile_training(fused)
    fast: Callable[..., Any] = learn_linears(fused)
    return fast


def inference(config: str, precision: str, image_size: int = 224, tolerance: float = 1e-3) -> OptimizedInference:
    """Make the workload of a published configuration."""
    optimize = {"fp32": optimize_fp32, "int8": optimize_int8}[precision]
    return OptimizedInference(CvtTask(CONFIGS[config], image_size), optimize, tolerance)


def training(config: str, image_size: int = 224, tolerance: float = 1e-2) -> OptimizedTraining:
    """Make the workload of a published configuration."""
    return OptimizedTraining(CvtTask(CONFIGS[config], image_size), optimize_training, tolerance)
