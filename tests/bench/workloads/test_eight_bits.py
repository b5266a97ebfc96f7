"""Models in 8 bits, or with tables in 4: within their tolerance, which is no excuse for a part that is lost."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import pytest
import torch
from torch import nn

from strobe.bench.registry import find_one
from strobe.bench.workloads.cvt import optimized as cvt
from strobe.bench.workloads.dlrm import optimized as dlrm
from strobe.bench.workloads.dlrm.ootb import DlrmTask
from strobe.bench.workloads.layers.int8_linear import Int8Linear, mean_inputs
from strobe.bench.workloads.layers.int8_residual import Int8Residual
from strobe.bench.workloads.optimized import Optimization, OptimizedInference
from strobe.bench.workloads.oscar import optimized as oscar
from strobe.bench.workloads.oscar.ootb import OscarTask
from strobe.bench.workloads.regnet import optimized as regnet
from strobe.bench.workloads.resnext3d import optimized as resnext3d
from strobe.bench.workloads.resnext3d.model import CONFIGS
from strobe.bench.workloads.resnext3d.ootb import ResNext3dTask
from strobe.bench.workloads.task import Batch, Task
from strobe.bench.workloads.xlmr import optimized as xlmr
from tests.bench.workloads import tiny
from tests.bench.workloads.proof import prove_optimized, set_up

pytestmark = pytest.mark.frameworks

DLRM = tiny.WIDE_DLRM.config


class _Loud(OscarTask):
    """Weights so large that layers of so few values have a say."""

    def build(self) -> nn.Module:
        model = super().build()
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.mul_(10 if parameter.dim() > 1 else 1)
        return model


OSCAR = _Loud(tiny.OSCAR.config, tiny.OSCAR.text, tiny.OSCAR.regions)

#: tolerances are half as much again as it errs
INT8: dict[str, tuple[Task, Optimization, float]] = {
    "dlrm, 8-bit tables": (tiny.WeighedDlrmTask(DLRM), partial(dlrm.optimize, bits=8, is_int8=False), 0.005),
    "dlrm, all 8-bit": (tiny.WeighedDlrmTask(DLRM), partial(dlrm.optimize, bits=8, is_int8=True), 0.07),
    "dlrm, 4-bit tables": (tiny.WeighedDlrmTask(DLRM), partial(dlrm.optimize, bits=4, is_int8=False), 0.18),
    "regnet": (tiny.WIDE_REGNET, regnet.optimize_int8, 0.1),
    "resnext3d": (tiny.RESNEXT3D, resnext3d.optimize_int8, 0.11),
    "xlmr": (tiny.XLMR, partial(xlmr.optimize_int8, is_varied=False), 1e-3),
    "xlmr, varied": (tiny.XLMR_VARIED, partial(xlmr.optimize_int8, is_varied=True), 1e-3),
    "oscar": (OSCAR, oscar.optimize_int8, 0.12),
    "cvt": (tiny.CVT, cvt.optimize_int8, 0.08),
}


@pytest.mark.parametrize("name", INT8)
def test_eight_bits_are_within_their_tolerance(name: str) -> None:
    task, optimize, tolerance = INT8[name]
    prove_optimized(OptimizedInference(task, optimize, tolerance))


def _silence(*weights: str) -> Callable[[nn.Module], None]:
    """Zero the last weight of a block: what it adds beside its shortcut is gone."""

    def silence(model: nn.Module) -> None:
        for weight in weights:
            nn.init.zeros_(model.get_parameter(weight))

    return silence


LOST: dict[str, tuple[str, Callable[[nn.Module], None]]] = {
    "a table of dlrm": ("dlrm, all 8-bit", _silence("tables.1.bag.weight")),
    "a table of dlrm in 4 bits": ("dlrm, 4-bit tables", _silence("tables.1.bag.weight")),
    "a block of regnet": ("regnet", _silence("blocks.1.body.3.1.weight")),
    "the last block of regnet": ("regnet", _silence("blocks.2.body.3.1.weight")),
    "a block of resnext3d": ("resnext3d", _silence("blocks.1.expand_norm.weight")),
    "an attention of xlmr": ("xlmr", _silence("encoder.layers.0.attention.output.weight")),
    "an mlp of xlmr": ("xlmr, varied", _silence("encoder.layers.1.contract.weight")),
    "an attention of oscar": ("oscar", _silence("encoder.layers.0.attention.output.weight")),
    "an mlp of oscar": ("oscar", _silence("encoder.layers.1.contract.weight")),
    # Of earlier stages' attention, random weights let so little through that 8 bits cannot tell; 32 bits do.
    "an attention of cvt": ("cvt", _silence("stages.2.blocks.1.attention.output.weight")),
    "an mlp of cvt": ("cvt", _silence("stages.2.blocks.0.mlp.2.weight")),
}


@pytest.mark.parametrize("lost", LOST)
def test_eight_bits_are_no_excuse_for_a_lost_block(lost: str) -> None:
    name, lose = LOST[lost]
    task, optimize, tolerance = INT8[name]

    def optimize_less(model: nn.Module, examples: Sequence[Batch]) -> Callable[..., object]:
        lose(model)
        return optimize(model, examples)

    workload = OptimizedInference(task, optimize_less, tolerance)
    set_up(workload, batch_size=6)
    verdict = workload.check(workload.step(0), workload.reference(0))
    assert not verdict.is_correct, verdict


@pytest.mark.slow
def test_a_lost_block_of_resnext3d_as_it_is_measured_is_noticed() -> None:
    """With the default seed: the weights of some others err as much in 7 bits as these do without a block."""
    declared = find_one("resnext3d/optimized/inference/101-32x4d-4x56-int8")
    task = ResNext3dTask(CONFIGS["101-32x4d"], frames=4, image_size=56)
    reference = None
    for lost, is_correct in ((None, True), (26, False)):
        # Of ten blocks that were tried, this one is missed least.
        lose = _silence() if lost is None else _silence(f"blocks.{lost}.expand_norm.weight")

        def optimize(
            model: nn.Module, examples: Sequence[Batch], lose: Callable[[nn.Module], None] = lose
        ) -> Callable[..., object]:
            lose(model)
            return resnext3d.optimize_int8(model, examples)

        workload = OptimizedInference(task, optimize, declared.tolerance)
        workload.setup(declared.batch_sizes[0], seed=0, device="cpu", threads=1)
        workload.compile()
        reference = reference or workload.reference(0)
        verdict = workload.check(workload.step(0), reference)
        assert verdict.is_correct == is_correct, verdict


def test_layers_that_know_their_mean_inputs_round_only_what_differs() -> None:
    torch.manual_seed(0)
    layer, common = nn.Linear(64, 32), 10 * torch.randn(64)
    x = common + 0.1 * torch.randn(50, 64)
    with torch.no_grad():
        means = mean_inputs(layer, [(x[:25],), (x[25:],)])
        torch.testing.assert_close(means[layer], x.mean(0))
        errors = [float((Int8Linear(layer, mean_K=mean)(x) - layer(x)).std()) for mean in (None, means[layer])]
    assert errors[1] < errors[0] / 20


def test_the_first_layers_of_dlrms_top_can_stay_exact() -> None:
    config = replace(DLRM, top=(64, 64, 64, 1))

    def error(num_exact: int) -> float:
        optimize = partial(dlrm.optimize, bits=32, is_int8=True, num_exact=num_exact)
        workload = OptimizedInference(DlrmTask(config), optimize, 0.3)
        set_up(workload, batch_size=32)
        return workload.check(workload.step(0), workload.reference(0)).error

    assert error(3) < 0.8 * error(0)


@pytest.mark.parametrize("name", ["regnet", "resnext3d"])
def test_a_network_in_eight_bits_does_not_keep_what_it_was_calibrated_by(name: str) -> None:
    """16 clips of 16 frames took more than 24 GB before the first step."""
    task, optimize, tolerance = INT8[name]
    workload = OptimizedInference(task, optimize, tolerance)
    set_up(workload, batch_size=2)
    network = workload.run
    assert isinstance(network, Int8Residual)
    parts = [getattr(block, part) for block in network.blocks for part in block.__dataclass_fields__]
    assert [one for one in (network.stem, *parts) if hasattr(one, "learned")] == []
