"""Training is right only if all of it learns: tables, every layer, statistics of norms; losses would not tell."""
# mypy: disallow-subclassing-any=False

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch
from torch import nn

from strobe.bench.workload import Correctness
from strobe.bench.workloads import learning
from strobe.bench.workloads.cvt import optimized as cvt
from strobe.bench.workloads.dlrm.fast_training import LearningDlrm
from strobe.bench.workloads.learning import Lesson, compare_learning, tensors_of
from strobe.bench.workloads.ootb import OotbTraining
from strobe.bench.workloads.optimized import OptimizedTraining
from strobe.bench.workloads.oscar import optimized as oscar
from strobe.bench.workloads.resnext3d import optimized as resnext3d
from strobe.bench.workloads.rnnt.fast_lstm import FastRnnt
from strobe.bench.workloads.task import Task
from strobe.bench.workloads.xlmr import optimized as xlmr
from tests.bench.workloads import tiny
from tests.bench.workloads.proof import set_up

pytestmark = pytest.mark.frameworks

Train = Callable[[nn.Module], Callable[..., torch.Tensor]]


def judge(workload: OotbTraining) -> Correctness:
    set_up(workload, batch_size=6)
    loss = [workload.step(index) for index in range(3)][-1]
    return workload.check(loss, workload.reference(2))


def _learn_dlrm(model: nn.Module) -> nn.Module:
    return LearningDlrm(model, lr=0.01)


#: a task, how it is trained when optimized, and a small tensor that is to stand still
LAYERS: dict[str, tuple[Task, Train, str]] = {
    "dlrm": (tiny.DLRM, _learn_dlrm, "bottom.0.bias"),
    "xlmr": (tiny.XLMR_VARIED, xlmr.optimize_training, "norm.bias"),
    "oscar": (tiny.OSCAR, oscar.optimize_training, "encoder.layers.0.attention_norm.bias"),
    "cvt": (tiny.CVT, cvt.optimize_training, "stages.0.norm.weight"),
    "resnext3d": (tiny.RESNEXT3D, resnext3d.optimize_training, "blocks.1.reduce.weight"),
    "regnet": (tiny.REGNET, lambda model: model, "blocks.1.body.2.squeeze.bias"),
    "rnnt": (tiny.RNNT, FastRnnt, "joint.text.bias"),
}


@pytest.mark.parametrize("name", LAYERS)
def test_a_layer_that_does_not_learn_is_noticed(name: str) -> None:
    task, optimize, frozen = LAYERS[name]

    def freeze(model: nn.Module) -> Callable[..., torch.Tensor]:
        model.get_parameter(frozen).requires_grad_(False)
        return optimize(model)

    verdict = judge(OptimizedTraining(task, optimize, tolerance=1e-2))
    assert verdict.is_correct, verdict
    verdict = judge(OptimizedTraining(task, freeze, tolerance=1e-2))
    assert not verdict.is_correct, verdict
    assert verdict.reference == f"OOTB float64, update of {frozen}"
    assert verdict.error == pytest.approx(1.0, abs=0.01)


@pytest.mark.parametrize("name", LAYERS)
def test_in_sixteen_bits_updates_have_the_right_length(name: str) -> None:
    task, _, frozen = LAYERS[name]
    workload = OotbTraining(task, 0.1, "bf16")
    set_up(workload, batch_size=6)
    reference = workload.reference(0)
    verdict = workload.check(workload.step(0), reference)
    assert verdict.is_correct, verdict
    workload.model.get_parameter(frozen).requires_grad_(False)
    verdict = workload.check(workload.step(0), reference)
    assert not verdict.is_correct, verdict


def test_tables_that_do_not_learn_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a fresh table a loss knows next to nothing."""
    monkeypatch.setattr("strobe.bench.workloads.dlrm.fast_training.LearningTables.learn", lambda *_: None)
    verdict = judge(OptimizedTraining(tiny.DLRM, _learn_dlrm, tolerance=1e-2))
    assert not verdict.is_correct, verdict
    assert "tables." in verdict.reference


def test_norms_whose_statistics_stand_still_are_noticed() -> None:
    def freeze(model: nn.Module) -> nn.Module:
        model.get_submodule("stages.1.blocks.0.attention.conv_key.1").momentum = 0.0
        return model

    verdict = judge(OptimizedTraining(tiny.CVT, freeze, tolerance=1e-2))
    assert not verdict.is_correct, verdict
    assert "conv_key.1.running_" in verdict.reference


class _Table(nn.Module):
    """A table far too large to be compared whole, of which a step sees some rows."""

    def __init__(self, *, is_sparse: bool) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.table = nn.Embedding(5000, 4, sparse=is_sparse)
        self.head = nn.Linear(4, 1)

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        return self.head(self.table(rows)).square().mean()


def _train(model: _Table, lr: float = 0.1, own: list[str] | None = None) -> tuple[torch.Tensor, learning.Learned]:
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    lesson = Lesson(model, optimizer, own)
    loss = model(torch.arange(40) * 100)
    loss.backward()
    optimizer.step()
    return loss.detach(), lesson.end([loss.detach()])


def _compare(model: nn.Module, loss: torch.Tensor, reference: learning.Learned) -> Correctness:
    return compare_learning(loss, tensors_of(model), reference, tolerance=1e-2, precision="fp32", name="OOTB")


@pytest.mark.parametrize("is_sparse", [False, True])
def test_of_large_tables_rows_that_learn_are_compared(is_sparse: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learning, "_SAMPLE", 64)
    model = _Table(is_sparse=is_sparse)
    start = model.table.weight.detach().clone()
    loss, learned = _train(model)
    rows = learned.updates["table.weight"].rows
    assert 8 <= len(rows) <= 16
    assert set(rows.tolist()) <= {100 * row for row in range(40)}
    assert _compare(model, loss, learned).is_correct
    model.table.weight.data.copy_(start)
    verdict = _compare(model, loss, learned)
    assert verdict.error == pytest.approx(1.0)
    assert not verdict.is_correct


def test_steps_of_a_wrong_length_are_noticed() -> None:
    _, learned = _train(_Table(is_sparse=False), lr=0.1)
    model = _Table(is_sparse=False)
    loss, _ = _train(model, lr=0.13)
    assert not _compare(model, loss, learned).is_correct


def test_a_weight_that_is_not_a_number_is_wrong() -> None:
    model = _Table(is_sparse=False)
    loss, learned = _train(model)
    model.head.bias.data.fill_(math.nan)
    assert not _compare(model, loss, learned).is_correct


def test_a_process_is_asked_for_its_own_tensors_and_for_all_of_them() -> None:
    model = _Table(is_sparse=False)
    loss, learned = _train(model, own=["head.weight", "head.bias"])
    assert set(learned.updates) == {"head.weight", "head.bias"}
    with pytest.raises(KeyError, match="head"):
        compare_learning(loss, {}, learned, tolerance=1e-2, precision="fp32", name="OOTB")


def test_a_gradient_that_is_only_rounding_is_not_judged() -> None:
    """Softmax does not see the bias of keys; Adam makes steps as long as any other's of what rounding leaves there."""
    workload = OotbTraining(tiny.OSCAR)
    set_up(workload, batch_size=3)
    updates = workload.reference(0).updates
    keys = {name for name in workload.tensors() if name.endswith("attention.key.bias")}
    assert keys
    assert set(workload.tensors()) - set(updates) == keys
