"""What is not a number is heard in the answer, and only where it belongs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
import torch
from torch import nn

from strobe.bench.workloads.optimized import Optimization, OptimizedInference
from strobe.bench.workloads.regnet import optimized as regnet
from strobe.bench.workloads.task import Batch
from tests.bench.workloads import tiny
from tests.bench.workloads.proof import set_up

pytestmark = pytest.mark.frameworks


@pytest.mark.parametrize("optimize", [regnet.optimize_fp32, regnet.optimize_int8])
def test_a_picture_with_nan_is_answered_with_nan_and_no_other(optimize: Optimization) -> None:
    workload = OptimizedInference(tiny.WIDE_REGNET, optimize, 0.3)
    set_up(workload, batch_size=3)
    (pictures,) = workload.batch(0).inputs
    pictures[1, 2, 7, 9] = torch.nan
    assert workload.step(0).isnan().any(1).tolist() == workload.step(0).isnan().all(1).tolist() == [False, True, False]


def test_a_weight_that_is_nan_is_heard_in_eight_bits() -> None:
    def spoil(model: nn.Module, examples: Sequence[Batch]) -> Callable[..., Any]:
        next(module for module in model.modules() if isinstance(module, nn.Conv2d)).weight.data[0, 0, 0, 0] = torch.nan
        return regnet.optimize_int8(model, examples)

    workload = OptimizedInference(tiny.WIDE_REGNET, spoil, 0.3)
    set_up(workload, batch_size=3)
    assert workload.step(0).isnan().all()
