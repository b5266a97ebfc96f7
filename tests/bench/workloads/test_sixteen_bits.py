"""Out of the box in 16 bits: near what 32 bits give, and with weights that learn in 32."""

from __future__ import annotations

import pytest
import torch

from strobe.bench.workloads.ootb import OotbInference, OotbTraining
from strobe.bench.workloads.precision import Precision
from tests.bench.workloads import tiny
from tests.bench.workloads.proof import set_up

pytestmark = pytest.mark.frameworks


@pytest.mark.parametrize("precision", ["bf16", "fp16"])
def test_sixteen_bits_are_near_and_not_the_same(precision: Precision) -> None:
    workload = OotbInference(tiny.WIDE_REGNET, tolerance=0.1, precision=precision)
    set_up(workload, batch_size=4)
    output = workload.step(0)
    assert output.dtype.itemsize == 2
    verdict = workload.check(output, workload.reference(0))
    assert verdict.is_correct, verdict
    assert verdict.error > 1e-5


def test_training_in_sixteen_bits_keeps_weights_in_thirty_two() -> None:
    workload = OotbTraining(tiny.XLMR, tolerance=0.1, precision="bf16")
    set_up(workload, batch_size=4)
    loss = [workload.step(index) for index in range(3)][-1]
    assert {parameter.dtype for parameter in workload.model.parameters()} == {torch.float32}
    verdict = workload.check(loss, workload.reference(2))
    assert verdict.is_correct, verdict
    assert verdict.error > 1e-6
