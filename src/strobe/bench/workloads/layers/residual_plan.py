"""Residual networks from plane to plane: which layer reads and writes what, for each shape of input that comes along.

Knows nothing of the numbers in the planes: `fp32_residual` and `int8_residual` make the layers.
Shapes: B batch, X pixels, C channels.
"""
# mypy: disallow-subclassing-any=False

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Protocol

import torch
from torch import nn

from strobe.bench.workloads.layers.plane import COLOURS, NO_BORDER, Bound, Plane, PlaneConv

#: a layer that has its inputs and outputs
Step = Callable[[], None]


class PlaneGate(Protocol):
    """Squeeze-and-excitation of a plane in place."""

    weights: tuple[torch.Tensor, ...]

    def bind(self, plane: Plane) -> Step: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockLayers:
    """What the parts of a block have become."""

    reduce: PlaneConv
    grouped: PlaneConv
    gate: PlaneGate | None
    expand: PlaneConv
    shortcut: PlaneConv | None

    @property
    def weight_bytes(self) -> int:
        """Size of the weights of all layers."""
        convs = (self.reduce, self.grouped, self.expand, self.shortcut)
        gate = () if self.gate is None else self.gate.weights
        return sum(conv.weight_bytes for conv in convs if conv is not None) + sum(int(part.nbytes) for part in gate)

    def bind(self, seen: Plane, addend: torch.Tensor | None, is_added_to: bool) -> tuple[list[Step], Bound]:
        """Give what is to run, and the last of it; `addend` is what a block without a shortcut's layer adds to."""
        steps: list[Step] = []
        if self.shortcut is not None:
            shortcut = self.shortcut.bind(seen, None, is_added_to=True)
            steps.append(shortcut)
            addend = shortcut.addend
        reduce = self.reduce.bind(seen, self.grouped.padding)
        grouped = self.grouped.bind(reduce.written, NO_BORDER)
        steps += [reduce, grouped]
        if self.gate is not None:
            steps.append(self.gate.bind(grouped.written))
        expand = self.expand.bind(grouped.written, NO_BORDER, residual=addend, is_added_to=is_added_to)
        return [*steps, expand], expand


class ResidualPlanes(nn.Module):
    """Pictures or clips to class scores."""

    def __init__(self, stem: PlaneConv, blocks: Sequence[BlockLayers], head: nn.Linear) -> None:
        super().__init__()
        self.stem, self.blocks, self.head = stem, tuple(blocks), head
        self.plans: dict[torch.Size, _Plan] = {}
        #: of all but the head, which is a layer of torch's
        self.weight_bytes = stem.weight_bytes + sum(block.weight_bytes for block in self.blocks)

    @abstractmethod
    def make_pictures(self, shape: Sequence[int]) -> Plane:
        """Make an empty plane for pictures."""

    @abstractmethod
    def take_pictures(self, x: torch.Tensor, plane: Plane, places: torch.Tensor) -> None:
        """Copy pictures into their plane."""

    @abstractmethod
    def read_mean(self, sums_BXC: torch.Tensor) -> torch.Tensor:  # noqa: N803 -- shape
        """Give the mean over pixels, in 32 bits, of what the last block gave."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if x.shape not in self.plans:
            self.plans[x.shape] = _Plan(self, x.shape)
        return self.head(self.read_mean(self.plans[x.shape].run(x.contiguous())))


class _Plan:
    """All layers of a network bound to planes for one shape of input."""

    def __init__(self, network: ResidualPlanes, shape: torch.Size) -> None:
        self.network, self.batch = network, shape[0]
        size = (1, *shape[2:]) if len(shape) == 4 else tuple(shape[2:])
        self.pictures = network.make_pictures((self.batch, *size, COLOURS + 1))
        self.places = self.pictures.places()
        last = network.stem.bind(self.pictures, NO_BORDER, is_added_to=network.blocks[0].shortcut is None)
        self.steps: list[Step] = [last]
        for block, following in zip_longest(network.blocks, network.blocks[1:]):
            # A shortcut with a layer of its own reads what is written for the next convolution.
            is_added_to = following is None or following.shortcut is None
            addend = last.addend if block.shortcut is None else None
            steps, last = block.bind(last.written, addend, is_added_to)
            self.steps += steps
        self.sums_XC = last.addend.view(-1, network.blocks[-1].expand.outputs)

    def run(self, x: torch.Tensor) -> torch.Tensor:
        """Give the features of every pixel of every example."""
        self.network.take_pictures(x, self.pictures, self.places)
        for step in self.steps:
            step()
        return self.sums_XC.unflatten(0, (self.batch, -1))
