"""Everything that a step makes is made on the device of its inputs, though there is none here but the CPU.

Torch is told to make tensors elsewhere (`meta`) unless asked otherwise, while weights and inputs are on the CPU: what
forgets to say where then meets the others on another device, which torch refuses, as it would on CUDA. What is written
in C for CPUs is not run here.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
import torch
from torch import nn

from strobe.bench.workloads.cvt import optimized as cvt
from strobe.bench.workloads.dlrm import fast_training, interaction
from strobe.bench.workloads.layers import fp32_linear
from strobe.bench.workloads.layers.fold import fold_batch_norms
from strobe.bench.workloads.ootb import OotbInference, OotbTraining
from strobe.bench.workloads.optimized import OptimizedInference, OptimizedTraining
from strobe.bench.workloads.oscar import optimized as oscar
from strobe.bench.workloads.rnnt import fast_lstm
from strobe.bench.workloads.rnnt.ootb import Decoding
from strobe.bench.workloads.rnnt.optimized import FastDecoding
from strobe.bench.workloads.task import Task
from strobe.bench.workloads.xlmr import optimized as xlmr
from tests.bench.workloads import tiny
from tests.bench.workloads.proof import set_up

pytestmark = pytest.mark.frameworks

TASKS: dict[str, Task] = {
    "dlrm": tiny.WIDE_DLRM,
    "xlmr": tiny.XLMR_VARIED,
    "cvt": tiny.CVT,
    "oscar": tiny.OSCAR,
    "resnext3d": tiny.RESNEXT3D,
    "regnet": tiny.WIDE_REGNET,
}


@pytest.fixture
def off_the_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let optimizations take the way that they take on CUDA, but for the compiler."""
    monkeypatch.setattr(fp32_linear, "replace_linears", lambda model, replace: model)
    monkeypatch.setattr(fast_lstm, "PackedLinear", lambda layer: partial(nn.functional.linear, weight=layer.weight))
    monkeypatch.setattr(fast_training, "load_kernels", lambda name: pytest.fail(f"{name}.c is for CPUs"))


def _step_elsewhere(workload: OotbInference | OotbTraining) -> None:
    set_up(workload, batch_size=4)
    with torch.device("meta"):
        workload.step(0)


@pytest.mark.parametrize("name", TASKS)
def test_out_of_the_box(name: str) -> None:
    _step_elsewhere(OotbInference(TASKS[name]))
    _step_elsewhere(OotbTraining(TASKS[name]))


def test_speech_out_of_the_box() -> None:
    _step_elsewhere(Decoding(tiny.DECODING))
    _step_elsewhere(OotbTraining(tiny.RNNT))


OPTIMIZED: dict[str, Callable[[], OotbInference | OotbTraining]] = {
    "xlmr": lambda: OptimizedInference(tiny.XLMR_VARIED, partial(xlmr.optimize_fp32, is_varied=True), 1e-3),
    "xlmr, training": lambda: OptimizedTraining(tiny.XLMR_VARIED, xlmr.optimize_training, 1e-2),
    "oscar": lambda: OptimizedInference(tiny.OSCAR, oscar.optimize_fp32, 1e-3),
    "oscar, training": lambda: OptimizedTraining(tiny.OSCAR, oscar.optimize_training, 1e-2),
    "cvt": lambda: OptimizedInference(tiny.CVT, cvt.optimize_fp32, 1e-3),
    "cvt, training": lambda: OptimizedTraining(tiny.CVT, cvt.optimize_training, 1e-2),
    "regnet, folded": lambda: OptimizedInference(tiny.WIDE_REGNET, lambda model, _: fold_batch_norms(model), 1e-3),
    "rnnt": lambda: FastDecoding(tiny.DECODING, 0.0),
    "rnnt, training": lambda: OptimizedTraining(tiny.RNNT, fast_lstm.FastRnnt, 1e-2),
}


@pytest.mark.parametrize("name", OPTIMIZED)
def test_optimized(off_the_cpu: None, name: str) -> None:
    _step_elsewhere(OPTIMIZED[name]())


def test_products_of_pairs_are_torchs_where_there_is_no_kernel() -> None:
    dense, pooled = torch.randn(3, 8), torch.randn(5, 3, 8)
    expected = interaction.multiply_pairs(dense, pooled)
    with torch.device("meta"):
        found = interaction.multiply_pairs(dense.double(), pooled.double())
    torch.testing.assert_close(found.float(), expected)
    assert interaction.multiply_pairs(dense.to("meta"), pooled.to("meta")).shape == expected.shape


def test_rows_learn_by_torch_what_they_learn_by_the_kernel() -> None:
    """Rows that come several times, in one bag and in several, and a bag without any."""
    table, grad = torch.randn(6, 8), torch.randn(4, 8)
    rows, offsets = torch.tensor([0, 5, 5, 2, 0, 1, 0]), torch.tensor([0, 3, 3, 5])
    expected = table.clone()
    for place, row in enumerate(rows.tolist()):
        bag = max(bag for bag, start in enumerate(offsets.tolist()) if start <= place)
        expected[row] -= 0.1 * grad[bag]
    with torch.device("meta"):
        fast_training.step_rows(table, rows, offsets, grad, 0.1)
    torch.testing.assert_close(table, expected)


def test_dlrm_learns_by_torch_on_other_devices(off_the_cpu: None) -> None:
    """On the meta device nothing is computed, but every tensor must be there: a pointer into it is refused by C."""
    task = tiny.WIDE_DLRM
    fast = fast_training.LearningDlrm(task.build().to("meta"), lr=0.01)
    output = fast(*task.draw(np.random.default_rng(0), 2).to("meta", torch.float32).inputs)
    output.sum().backward()
    assert output.device.type == fast.tables.learns.device.type == fast.tables.table_RD.device.type == "meta"
