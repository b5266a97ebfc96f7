"""Convolutions of CvT: its three patch embeddings and the depthwise projections of its blocks, with their norms.

Shapes: B batch, C channels, H and W height and width.
"""
# mypy: disallow-subclassing-any=False
# ruff: noqa: N803, N806 -- shape suffixes

from __future__ import annotations

import copy
import math

import torch
from torch import nn

from strobe.bench.workload import Correctness, Work
from strobe.bench.workloads.cvt.model import CVT_13, ConvProjection
from strobe.bench.workloads.micro.kernel import Kernel
from strobe.bench.workloads.micro.layers import LAYERS

_RING = 2
#: side of the picture that each stage's blocks see
_SIDES = (56, 28, 14)
#: channels and side of what each patch embedding takes in
_PATCH_INPUTS = ((3, 224), (64, 56), (192, 28))


class PatchEmbedding(nn.Module):
    """A strided convolution, normalised over channels; places in rows come out as a sequence."""

    def __init__(self, stage: int) -> None:
        super().__init__()
        config = CVT_13
        self.conv = nn.Conv2d(
            _PATCH_INPUTS[stage][0],
            config.widths[stage],
            config.patch_kernels[stage],
            config.patch_strides[stage],
            config.patch_paddings[stage],
        )
        self.norm = nn.LayerNorm(config.widths[stage])

    def forward(self, x_BCHW: torch.Tensor) -> torch.Tensor:
        return self.norm(self.conv(x_BCHW).flatten(2).transpose(1, 2))


class Layer:
    """One layer with its inputs; channels last, which is how CvT's sequences lie in memory anyway."""

    def __init__(self, name: str, batch_size: int, device: str) -> None:
        stage, stride = LAYERS[name]
        if stride is None:
            channels, side = _PATCH_INPUTS[stage]
            self.module: nn.Module = PatchEmbedding(stage)
            self.conv = self.module.conv
        else:
            channels, side = CVT_13.widths[stage], _SIDES[stage]
            self.module = ConvProjection(channels, stride)
            self.conv = self.module[0]
        self.module.to(device, memory_format=torch.channels_last).eval()
        # Nobody asks for the gradient of a picture.
        self.has_input_gradient = channels != 3
        shape = (batch_size, channels, side, side)
        self.ring = [torch.randn(shape).to(memory_format=torch.channels_last) for _ in range(_RING)]
        with torch.no_grad():
            self.grad_BSC = torch.randn_like(self.module(self.ring[0]))

    def gradient(self, module: nn.Module, x_BCHW: torch.Tensor) -> torch.Tensor:
        """Compute all gradients for that of the output; give the kernel's."""
        x_BCHW = x_BCHW.detach().requires_grad_(self.has_input_gradient)
        y_BSC = module(x_BCHW)
        y_BSC.backward(self.grad_BSC.to(y_BSC.dtype))
        weight = next(module.parameters())
        gradient = weight.grad
        module.zero_grad(set_to_none=True)
        return gradient

    @property
    def flops(self) -> float:
        """Count one forward pass."""
        conv, x_BCHW = self.conv, self.ring[0]
        side = (x_BCHW.shape[2] + 2 * conv.padding[0] - conv.kernel_size[0]) // conv.stride[0] + 1
        return 2.0 * len(x_BCHW) * int(conv.weight.numel()) * int(side) ** 2

    @property
    def bytes(self) -> float:
        """Count inputs, weights and outputs of one forward pass."""
        outputs = self.flops / 2 / int(self.conv.weight[0].numel())
        weights = sum(int(weight.numel()) for weight in self.module.parameters())
        return int(self.ring[0].nbytes) + 4 * (outputs + weights)


class CvtConvs(Kernel):
    """Layers one after another, forward alone or with their gradients."""

    def __init__(self, layers: tuple[str, ...], is_training: bool, tolerance: float) -> None:
        super().__init__(tolerance)
        self.names, self.needs_gradients = layers, is_training

    def prepare(self, batch_size: int) -> None:
        self.batch_size = batch_size
        self.layers = [Layer(name, batch_size, self.device) for name in self.names]
        for layer in self.layers:
            layer.module.train(self.needs_gradients)

    def run(self, index: int) -> list[torch.Tensor]:
        if self.needs_gradients:
            return [layer.gradient(layer.module, layer.ring[index % _RING]) for layer in self.layers]
        return [layer.module(layer.ring[index % _RING]) for layer in self.layers]

    def work(self) -> Work:
        flops = total = 0.0
        for layer in self.layers:
            passes = (3 if layer.has_input_gradient else 2) if self.needs_gradients else 1
            flops += passes * layer.flops
            total += passes * layer.bytes
        return Work(examples=self.batch_size, flops=flops, bytes=total)

    def reference(self, index: int) -> list[torch.Tensor]:
        """Do the same in 64 bits, which torch computes by unfolding."""
        outputs: list[torch.Tensor] = []
        for layer in self.layers:
            module, x_BCHW = copy.deepcopy(layer.module).double(), layer.ring[index % _RING].double()
            if self.needs_gradients:
                outputs.append(layer.gradient(module, x_BCHW))
            else:
                with torch.inference_mode():
                    outputs.append(module(x_BCHW))
        return outputs

    def check(self, output: list[torch.Tensor], reference: list[torch.Tensor]) -> Correctness:
        """Judge by the layer that is furthest off."""
        verdicts = [super(CvtConvs, self).check(*pair) for pair in zip(output, reference, strict=True)]
        # NaN is further off than any number, and greater than none.
        return max(verdicts, key=lambda verdict: (math.isnan(verdict.error), verdict.error))


def cvt_convs(layers: tuple[str, ...] = tuple(LAYERS), is_training: bool = False, tolerance: float = 1e-3) -> CvtConvs:
    """Make some of the eleven layers."""
    return CvtConvs(layers, is_training, tolerance)
