"""Training by other ways than OOTB's learns the same."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch import nn

from strobe.bench.workloads.cvt import optimized as cvt
from strobe.bench.workloads.dlrm.fast_training import LearningDlrm
from strobe.bench.workloads.dlrm.ootb import DlrmTask
from strobe.bench.workloads.layers.fast_encoder import TrainingEncoder
from strobe.bench.workloads.ootb import OotbTraining
from strobe.bench.workloads.optimized import OptimizedTraining
from strobe.bench.workloads.oscar import optimized as oscar
from strobe.bench.workloads.resnext3d import optimized as resnext3d
from strobe.bench.workloads.rnnt.fast_lstm import FastRnnt, run_lstm
from strobe.bench.workloads.xlmr import optimized as xlmr
from strobe.errors import Error
from tests.bench.workloads import tiny
from tests.bench.workloads.proof import prove_training, set_up

pytestmark = pytest.mark.frameworks

DLRM = tiny.WIDE_DLRM.config


def _fuse(model: nn.Module) -> nn.Module:
    model.encoder = TrainingEncoder(model.encoder)
    return model


def test_training_by_other_ways_is_right() -> None:
    for task, optimize in (
        (tiny.XLMR_VARIED, _fuse),
        (tiny.XLMR_VARIED, xlmr.optimize_training),
        (tiny.OSCAR, oscar.optimize_training),
        (tiny.CVT, cvt.optimize_training),
        (tiny.RESNEXT3D, resnext3d.optimize_training),
    ):
        prove_training(OptimizedTraining(task, optimize, tolerance=1e-2))


@pytest.mark.parametrize("is_fixed", [True, False])
def test_tables_that_learn_in_the_backward_pass_learn_the_same(is_fixed: bool) -> None:
    """Losses, and after three steps every row; also rows that are looked up several times."""
    task = DlrmTask(replace(DLRM, is_fixed=is_fixed, num_rows=7, bottom=(32, 64, 40)))
    plain, fast = OotbTraining(task), OptimizedTraining(task, lambda model: LearningDlrm(model, lr=0.01), 1e-4)
    for workload in (plain, fast):
        set_up(workload, 6)
    losses = [(plain.step(index), fast.step(index)) for index in range(3)]
    for expected, loss in losses:
        torch.testing.assert_close(loss, expected)
    for expected_table, table in zip(plain.model.tables, fast.model.tables, strict=True):
        torch.testing.assert_close(table.bag.weight, expected_table.bag.weight)
    verdict = fast.check(losses[-1][1], fast.reference(2))
    assert verdict.is_correct, verdict


def test_weighed_rows_do_not_learn_in_the_backward_pass() -> None:
    model = DlrmTask(replace(DLRM, pooling="learned")).build()
    with pytest.raises(Error, match="only if rows are summed as they are"):
        LearningDlrm(model, lr=0.01)


def test_lstms_have_torchs_outputs_and_gradients() -> None:
    torch.manual_seed(0)
    lstm = nn.LSTM(5, 6, num_layers=2, batch_first=True).double()
    x = torch.randn(3, 7, 5, dtype=torch.float64, requires_grad=True)
    weight = torch.randn(3, 7, 6, dtype=torch.float64)
    wanted = [x, *lstm.parameters()]
    expected = torch.autograd.grad((lstm(x)[0] * weight).sum(), wanted)
    torch.testing.assert_close(run_lstm(lstm, x), lstm(x)[0])
    torch.testing.assert_close(torch.autograd.grad((run_lstm(lstm, x) * weight).sum(), wanted), expected)


def test_rnnt_learns_the_same() -> None:
    prove_training(OptimizedTraining(tiny.RNNT, FastRnnt, 1e-2))
