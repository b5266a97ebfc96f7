"""What every model must prove: its weights are counted, its work is counted, its workloads are right."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from strobe.bench.workload import Workload


def count_parameters(build: Callable[[], nn.Module]) -> int:
    """Count without memory: on the meta device."""
    with torch.device("meta"):
        return sum(parameter.numel() for parameter in build().parameters())


def set_up(workload: Workload, batch_size: int = 2) -> Workload:
    workload.setup(batch_size, seed=11, device="cpu", threads=1)
    workload.compile()
    return workload


def _convolution_backward(
    grad_shape: Sequence[int], _x_shape: Any, weight_shape: Sequence[int], *arguments: Any, **_keywords: Any
) -> int:
    """Count as the forward pass, for each gradient asked for; torch's formula forgets the groups of a weight's."""
    asked_for = arguments[-1]
    return int(2 * grad_shape[0] * math.prod(grad_shape[2:]) * math.prod(weight_shape) * sum(asked_for[:2]))


#: formulas for what torch counts otherwise than it is
COUNTED = {torch.ops.aten.convolution_backward: _convolution_backward}


def prove_work(workload: Workload, batch_size: int = 2) -> None:
    """The analytic count equals torch's own, step by step over the ring."""
    set_up(workload, batch_size)
    steps = 4
    with FlopCounterMode(display=False, custom_mapping=COUNTED) as counter:
        for index in range(steps):
            workload.step(index)
    work = workload.work()
    assert work.flops == counter.get_total_flops() / steps
    assert work.bytes > 0
    assert work.examples == batch_size


def prove_correct(workload: Workload, batch_size: int = 2, index: int = 1) -> None:
    """The output is the reference's and differs between examples; the same seed gives the same again."""
    set_up(workload, batch_size)
    outputs = [workload.step(step) for step in range(index + 1)]
    verdict = workload.check(outputs[-1], workload.reference(index))
    assert verdict.is_correct, verdict
    wrong = workload.check(outputs[-1] * 1.5, workload.reference(index))
    assert not wrong.is_correct, wrong
    set_up(workload, batch_size)
    assert torch.equal(workload.step(0), outputs[0])


def prove_optimized(workload: Workload) -> None:
    """Answers to several batches are the reference's, within the workload's own tolerance."""
    set_up(workload, batch_size=6)
    for index in (0, 2):
        verdict = workload.check(workload.step(index), workload.reference(index))
        assert verdict.is_correct, verdict
    assert workload.work().flops > 0


def prove_training(workload: Workload, batch_size: int = 3) -> None:
    """After three steps, the loss and all that has been learned are the reference's."""
    set_up(workload, batch_size)
    loss = [workload.step(index) for index in range(3)][-1]
    verdict = workload.check(loss, workload.reference(2))
    assert verdict.is_correct, verdict
