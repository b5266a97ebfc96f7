"""The parts of a residual network: a stem, blocks of 1x1, grouped and 1x1 convolutions beside a shortcut, a head.

RegNetY and ResNeXt3D are both such networks, so that what makes one of them fast makes the other fast, too. Batch
norms are folded into convolutions; a ReLU follows the stem, the first two convolutions of a block, and its sum.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from torch import nn

Conv: TypeAlias = nn.Conv2d | nn.Conv3d


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockParts:
    """The convolutions of a block in their order; the gate is squeeze-and-excitation, two 1x1 convolutions."""

    reduce: Conv
    grouped: Conv
    gate: tuple[Conv, Conv] | None = None
    expand: Conv
    #: None where what enters is added as it is
    shortcut: Conv | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """A network; its head sees the mean over all pixels."""

    stem: Conv
    blocks: tuple[BlockParts, ...]
    head: nn.Linear
