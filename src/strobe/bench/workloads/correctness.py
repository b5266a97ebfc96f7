"""Is an output right? Its error is measured against the spread of the reference *between examples*.

A network with random weights answers nearly the same to every input, so that any answer is close in absolute terms and
in cosine; what the network has to say is in the differences between examples, and an error must be small beside those.
"""
# ruff: noqa: N803, N806 -- shape suffixes

from __future__ import annotations

import math

import torch

from strobe.bench.workload import Correctness


def compare_outputs(output_BX: torch.Tensor, reference_BX: torch.Tensor, tolerance: float, name: str) -> Correctness:
    """Compare outputs whose first axis is the example; with one example, the spread is that of its values."""
    reference_BX = reference_BX.detach().double()
    difference_BX = output_BX.detach().double() - reference_BX
    centred_BX = reference_BX - (reference_BX.mean(0) if len(reference_BX) > 1 else reference_BX.mean())
    return _judge(difference_BX, float(centred_BX.square().mean().sqrt()), tolerance, name)


def compare_losses(loss: torch.Tensor, reference_N: torch.Tensor, tolerance: float, name: str) -> Correctness:
    """Compare a loss with the last of the reference's losses, whose spread is that over the steps."""
    reference_N = reference_N.detach().double()
    spread = float((reference_N - reference_N.mean()).square().mean().sqrt())
    # The first loss knows no gradient and has no spread: then a loss is measured by itself.
    return _judge(loss.detach().double() - reference_N[-1], spread or float(reference_N[-1].abs()), tolerance, name)


def _judge(difference: torch.Tensor, spread: float, tolerance: float, name: str) -> Correctness:
    error = float(difference.square().mean().sqrt()) / spread if spread else math.inf
    max_error = float(difference.abs().max()) / spread if spread else math.inf
    # A NaN is not below any tolerance.
    return Correctness(
        is_correct=error <= tolerance, error=error, max_error=max_error, tolerance=tolerance, reference=name
    )
