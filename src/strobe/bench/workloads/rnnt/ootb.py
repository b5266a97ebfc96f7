"""RNN-T out of the box: training with the lattice loss, and greedy decoding.

Decoded symbols are right or wrong and have no spread: they are compared by the share of symbols that must be edited.
"""
# ruff: noqa: N806 -- shape suffixes

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import nn

from strobe.bench.workload import Correctness
from strobe.bench.workloads.ootb import OotbInference, OotbTraining
from strobe.bench.workloads.precision import Precision
from strobe.bench.workloads.rnnt.balance import balance
from strobe.bench.workloads.rnnt.data import draw_utterances
from strobe.bench.workloads.rnnt.decode import decode_greedily
from strobe.bench.workloads.rnnt.loss import rnnt_loss
from strobe.bench.workloads.rnnt.model import CONFIGS, Rnnt, RnntConfig
from strobe.bench.workloads.task import Batch, Flops, Task


@dataclass(frozen=True)
class RnntTask(Task):
    """Transcribe utterances of at most so many seconds."""

    config: RnntConfig
    max_seconds: float = 16.7
    optimizer_states = 2

    def build(self) -> nn.Module:
        return Rnnt(self.config)

    def draw(self, rng: np.random.Generator, batch_size: int) -> Batch:
        return draw_utterances(rng, batch_size, self.config, self.max_seconds)

    def loss(self, output: torch.Tensor, target: tuple[torch.Tensor, ...]) -> torch.Tensor:
        symbols_BU, frames_B, lengths_B = target
        return rnnt_loss(output, symbols_BU, (frames_B + 1) // 2, lengths_B, self.config.blank).mean()

    def optimizer(self, model: nn.Module) -> torch.optim.Optimizer:
        return torch.optim.AdamW(model.parameters(), lr=4e-4, weight_decay=1e-3)

    def infer(self, model: Any, batch: Batch) -> list[list[int]]:
        sound_BTF, _ = batch.inputs
        _, frames_B, _ = batch.target
        return decode_greedily(model, sound_BTF, frames_B)

    def flops(self, batch: Batch) -> Flops:
        """Count encoder, predictor and the whole lattice, as training needs them."""
        config = self.config
        batch_size, frames, _ = batch.inputs[0].shape
        stacked, texts = (frames + 1) // 2, batch.inputs[1].shape[1] + 1
        width, predictor, joint = config.encoder_width, config.predictor_width, config.joint_width
        from_sound = frames * 4 * width * config.features
        lstms = from_sound + frames * 4 * width * width * (2 * config.layers_before_stacking - 1)
        lstms += stacked * 4 * width * width * (2 * config.layers_after_stacking + 1)
        lstms += texts * 8 * predictor**2 * config.predictor_layers
        products = stacked * width * joint + texts * predictor * joint + stacked * texts * joint * config.symbols
        # The state before the first step is zero and takes no gradient.
        layers = config.layers_before_stacking + config.layers_after_stacking
        from_nothing = 4 * (width**2 * layers + predictor**2 * config.predictor_layers)
        return Flops(2.0 * batch_size * (lstms + products), 2.0 * batch_size * (from_sound + from_nothing))

    def embedding_bytes(self, batch: Batch, value_bytes: int) -> int:
        return int(batch.inputs[1].numel()) * self.config.predictor_width * value_bytes


@dataclass(frozen=True)
class DecodingTask(RnntTask):
    """Greedy decoding; its work is counted without the lattice, with one look at every frame."""

    def build(self) -> nn.Module:
        model = Rnnt(self.config)
        balance(model)
        return model

    def flops(self, batch: Batch) -> Flops:
        config = self.config
        batch_size, frames, _ = batch.inputs[0].shape
        stacked, width = (frames + 1) // 2, config.encoder_width
        lstms = frames * 4 * width * (config.features + width * (2 * config.layers_before_stacking - 1))
        lstms += stacked * 4 * width * width * (2 * config.layers_after_stacking + 1)
        look = config.joint_width * (width + config.symbols)
        return Flops(2.0 * batch_size * (lstms + stacked * look))


class Decoding(OotbInference):
    """Inference whose output is text."""

    @property
    def turn(self) -> int:
        return len(self.ring)  # batches of one length still say more or less, and take longer the more they say

    def num_checked(self, batch: Batch) -> int:
        return 1  # texts have no spread that more of them would tell

    def check(self, output: list[list[int]], reference: list[tuple[Batch, list[list[int]]]]) -> Correctness:
        ((_, right),) = reference
        return compare_texts(output, right, self.tolerance, self.reference_name)


def compare_texts(output: list[list[int]], reference: list[list[int]], tolerance: float, name: str) -> Correctness:
    """Compare texts by the share of the reference's symbols that must be inserted, deleted or replaced."""
    pairs = list(zip(output, reference, strict=True))
    shares = [edit_distance(text, expected) / max(1, len(expected)) for text, expected in pairs]
    length = sum(map(len, reference))
    # A reference that says nothing proves nothing.
    total = sum(edit_distance(text, expected) for text, expected in pairs) / length if length else math.inf
    return Correctness(
        is_correct=total <= tolerance, error=total, max_error=max(shares), tolerance=tolerance, reference=name
    )


def edit_distance(one: list[int], other: list[int]) -> int:
    """Count the insertions, deletions and replacements that make one into the other."""
    row = list(range(len(other) + 1))
    for i, symbol in enumerate(one, start=1):
        diagonal, row[0] = row[0], i
        for j, expected in enumerate(other, start=1):
            diagonal, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, diagonal + (symbol != expected))
    return row[-1]


def inference(config: str, max_seconds: float = 16.7, tolerance: float = 0.02) -> Decoding:
    """Make the workload of a published configuration."""
    return Decoding(DecodingTask(CONFIGS[config], max_seconds), tolerance)


def training(
    config: str, max_seconds: float = 16.7, precision: Precision = "fp32", tolerance: float = 1e-2
) -> OotbTraining:
    """Make the workload of a published configuration."""
    return OotbTraining(RnntTask(CONFIGS[config], max_seconds), tolerance, precision)
