"""RNN-T, no holds barred."""

from __future__ import annotations

import torch

from strobe.bench.workloads.optimized import OptimizedTraining
from strobe.bench.workloads.rnnt.fast_decode import decode_together
from strobe.bench.workloads.rnnt.fast_lstm import FastRnnt
from strobe.bench.workloads.rnnt.model import CONFIGS
from strobe.bench.workloads.rnnt.ootb import Decoding, DecodingTask, RnntTask
from strobe.bench.workloads.task import Batch


class FastDecoding(Decoding):
    """Inference by decoding the batch together."""

    def answer(self, batch: Batch) -> list[list[int]]:
        with torch.inference_mode():
            return decode_together(self.model, batch.inputs[0], batch.target[1])


def inference(config: str, max_seconds: float = 16.7, tolerance: float = 0.02) -> FastDecoding:
    """Make the workload of a published configuration."""
    return FastDecoding(DecodingTask(CONFIGS[config], max_seconds), tolerance)


def training(config: str, max_seconds: float = 16.7, tolerance: float = 1e-2) -> OptimizedTraining:
    """Make the workload of a published configuration."""
    return OptimizedTraining(RnntTask(CONFIGS[config], max_seconds), FastRnnt, tolerance)
