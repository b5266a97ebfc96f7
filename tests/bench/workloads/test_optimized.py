"""Every optimization answers as OOTB does: exactly where precision is kept, within its tolerance where it is not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel

from strobe.bench.workload import Workload
from strobe.bench.workloads.cvt import optimized as cvt
from strobe.bench.workloads.cvt.ootb import CvtTask
from strobe.bench.workloads.dlrm import optimized as dlrm
from strobe.bench.workloads.dlrm.fast_tables import Bits
from strobe.bench.workloads.dlrm.fast_training import LearningDlrm
from strobe.bench.workloads.dlrm.model import DlrmConfig
from strobe.bench.workloads.dlrm.ootb import DlrmTask
from strobe.bench.workloads.layers import fp32_product
from strobe.bench.workloads.layers.compiling import compile_frozen
from strobe.bench.workloads.layers.fast_encoder import FastEncoder, TrainingEncoder
from strobe.bench.workloads.layers.fold import fold_batch_norms
from strobe.bench.workloads.layers.int8_linear import Int8Linear, mean_inputs
from strobe.bench.workloads.layers.int8_residual import Int8Residual
from strobe.bench.workloads.ootb import OotbInference, OotbTraining
from strobe.bench.workloads.optimized import Optimization, OptimizedInference, OptimizedTraining, weight_bytes
from strobe.bench.workloads.oscar import optimized as oscar
from strobe.bench.workloads.oscar.ootb import OscarTask
from strobe.bench.workloads.precision import Precision
from strobe.bench.workloads.regnet import optimized as regnet
from strobe.bench.workloads.regnet.ootb import RegNetTask
from strobe.bench.workloads.resnext3d import optimized as resnext3d
from strobe.bench.workloads.resnext3d.ootb import ResNext3dTask
from strobe.bench.workloads.rnnt.fast_lstm import FastRnnt, run_lstm
from strobe.bench.workloads.rnnt.ootb import Decoding, DecodingTask, RnntTask
from strobe.bench.workloads.rnnt.optimized import FastDecoding
from strobe.bench.workloads.task import Batch, Task
from strobe.bench.workloads.xlmr import optimized as xlmr
from strobe.bench.workloads.xlmr.ootb import XlmrTask
from strobe.errors import Error
from tests.bench.workloads import test_cvt, test_dlrm, test_oscar, test_regnet, test_resnext3d, test_rnnt, test_xlmr
from tests.bench.workloads.proof import prove_work, set_up

pytestmark = pytest.mark.frameworks

# Wide enough that eight bits have something to average over.
DLRM = replace(test_dlrm.SMALL, bottom=(32, 64, 32), top=(64, 1), num_rows=100)
REGNET = RegNetTask(replace(test_regnet.TINY, widths=(32, 48), stem_width=16), image_size=33)
XLMR = XlmrTask(test_xlmr.TINY, 9)
XLMR_VARIED = XlmrTask(test_xlmr.TINY, 9, test_xlmr.VARIED)
CVT = CvtTask(test_cvt.TINY, image_size=28)
RESNEXT3D = ResNext3dTask(test_resnext3d.TINY, frames=5, image_size=15)


def prove(workload: Workload) -> None:
    set_up(workload, batch_size=6)
    for index in (0, 2):
        verdict = workload.check(workload.step(index), workload.reference(index))
        assert verdict.is_correct, verdict
    assert workload.work().flops > 0


def _folded(model: nn.Module, _: object) -> nn.Module:
    return fold_batch_norms(model)


EXACT: dict[str, tuple[Task, Optimization]] = {
    "regnet, norms folded": (REGNET, _folded),
    "resnext3d, norms folded": (RESNEXT3D, _folded),
    "regnet": (REGNET, regnet.optimize_fp32),
    "resnext3d": (RESNEXT3D, resnext3d.optimize_fp32),
    "cvt": (CVT, cvt.optimize_fp32),
    "xlmr": (XLMR, partial(xlmr.optimize_fp32, is_varied=False)),
    "xlmr, varied": (XLMR_VARIED, partial(xlmr.optimize_fp32, is_varied=True)),
    "oscar": (test_oscar.TASK, oscar.optimize_fp32),
}


@pytest.mark.parametrize("name", EXACT)
def test_optimizations_that_keep_precision_are_exact(name: str) -> None:
    task, optimize = EXACT[name]
    prove(OptimizedInference(task, optimize, tolerance=1e-4))


def _learned(config: DlrmConfig) -> DlrmTask:
    """Row weights other than one."""

    class Weighed(DlrmTask):
        def build(self) -> nn.Module:
            model = super().build()
            for table in model.tables:
                if table.row_weights is not None:
                    nn.init.uniform_(table.row_weights, 0.5, 2.0)
            return model

    return Weighed(config)


@pytest.mark.parametrize("pooling", ["sum", "fixed", "learned"])
def test_dlrm_with_merged_tables_is_exact(pooling: str) -> None:
    config = replace(DLRM, pooling=pooling)  # type: ignore[arg-type]  # parametrised text
    prove(OptimizedInference(_learned(config), partial(dlrm.optimize, bits=32, is_int8=False), tolerance=1e-4))


def test_dlrm_with_int4_tables_merged_is_exact() -> None:
    config = replace(DLRM, pooling="fixed", embedding_bits=4)
    prove(OptimizedInference(DlrmTask(config), partial(dlrm.optimize, bits=4, is_int8=False), tolerance=1e-4))


@pytest.mark.parametrize("precision", ["bf16", "fp16"])
def test_sixteen_bits_are_near_and_not_the_same(precision: Precision) -> None:
    workload = OotbInference(REGNET, tolerance=0.1, precision=precision)
    set_up(workload, batch_size=4)
    output = workload.step(0)
    assert output.dtype.itemsize == 2
    verdict = workload.check(output, workload.reference(0))
    assert verdict.is_correct, verdict
    assert verdict.error > 1e-5


def test_training_in_sixteen_bits_keeps_weights_in_thirty_two() -> None:
    workload = OotbTraining(XLMR, tolerance=0.1, precision="bf16")
    set_up(workload, batch_size=4)
    loss = [workload.step(index) for index in range(3)][-1]
    assert {parameter.dtype for parameter in workload.model.parameters()} == {torch.float32}
    verdict = workload.check(loss, workload.reference(2))
    assert verdict.is_correct, verdict
    assert verdict.error > 1e-6


def test_a_lost_table_is_noticed() -> None:
    def lose(model: nn.Module, examples: object) -> nn.Module:
        nn.init.zeros_(model.tables[0].bag.weight)
        return model

    workload = OptimizedInference(DlrmTask(DLRM), lose, tolerance=0.3)
    set_up(workload, batch_size=6)
    verdict = workload.check(workload.step(0), workload.reference(0))
    assert not verdict.is_correct, verdict


class _Loud(OscarTask):
    """Weights so large that layers of so few values have a say."""

    def build(self) -> nn.Module:
        model = super().build()
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.mul_(10 if parameter.dim() > 1 else 1)
        return model


OSCAR = _Loud(test_oscar.TASK.config, test_oscar.TASK.text, test_oscar.TASK.regions)

#: tolerances are half as much again as it errs
INT8: dict[str, tuple[Task, Optimization, float]] = {
    "dlrm, 8-bit tables": (_learned(DLRM), partial(dlrm.optimize, bits=8, is_int8=False), 0.005),
    "dlrm, all 8-bit": (_learned(DLRM), partial(dlrm.optimize, bits=8, is_int8=True), 0.07),
    "dlrm, 4-bit tables": (_learned(DLRM), partial(dlrm.optimize, bits=4, is_int8=False), 0.18),
    "regnet": (REGNET, regnet.optimize_int8, 0.1),
    "resnext3d": (RESNEXT3D, resnext3d.optimize_int8, 0.11),
    "xlmr": (XLMR, partial(xlmr.optimize_int8, is_varied=False), 1e-3),
    "xlmr, varied": (XLMR_VARIED, partial(xlmr.optimize_int8, is_varied=True), 1e-3),
    "oscar": (OSCAR, oscar.optimize_int8, 0.12),
    "cvt": (CVT, cvt.optimize_int8, 0.08),
}


@pytest.mark.parametrize("name", INT8)
def test_eight_bits_are_within_their_tolerance(name: str) -> None:
    task, optimize, tolerance = INT8[name]
    prove(OptimizedInference(task, optimize, tolerance))


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


@pytest.mark.parametrize("stage", [1, 2])
def test_thirty_two_bits_notice_a_lost_attention_of_cvt(stage: int) -> None:
    def optimize_less(model: nn.Module, examples: Sequence[Batch]) -> Callable[..., object]:
        nn.init.zeros_(model.get_parameter(f"stages.{stage}.blocks.0.attention.output.weight"))
        return cvt.optimize_fp32(model, examples)

    workload = OptimizedInference(CVT, optimize_less, tolerance=1e-3)
    set_up(workload, batch_size=6)
    verdict = workload.check(workload.step(0), workload.reference(0))
    assert not verdict.is_correct, verdict


@pytest.mark.parametrize("batch_size", [1, 2])
def test_few_examples_are_measured_by_the_spread_of_more(batch_size: int) -> None:
    """One example's own values differ more than examples do, and two may be alike."""
    workload = OotbInference(REGNET)
    set_up(workload, batch_size)
    reference = workload.reference(0)
    assert len(reference) == 4
    spread = (reference - reference.mean(0)).square().mean().sqrt()
    verdict = workload.check(reference[:batch_size] + 0.1 * spread, reference)
    assert verdict.error == pytest.approx(0.1)
    assert workload.check(workload.step(0), reference).is_correct


def test_one_impression_can_be_judged() -> None:
    workload = OotbInference(DlrmTask(DLRM))
    set_up(workload, batch_size=1)
    verdict = workload.check(workload.step(0), workload.reference(0))
    assert verdict.is_correct, verdict


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


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_decoding_together_gives_the_same_text(seed: int) -> None:
    task = DecodingTask(test_rnnt.TINY, max_seconds=2.0)
    fast, plain = FastDecoding(task, 0.0), Decoding(task, 0.0)
    for workload in (fast, plain):
        workload.setup(5, seed=seed, device="cpu", threads=1)
    for index in range(4):
        assert fast.step(index) == plain.step(index)


def _fuse(model: nn.Module) -> nn.Module:
    model.encoder = TrainingEncoder(model.encoder)
    return model


def test_training_by_other_ways_is_right() -> None:
    for task, optimize in (
        (XLMR_VARIED, _fuse),
        (XLMR_VARIED, xlmr.optimize_training),
        (test_oscar.TASK, oscar.optimize_training),
        (CVT, cvt.optimize_training),
        (RESNEXT3D, resnext3d.optimize_training),
    ):
        workload = OptimizedTraining(task, optimize, tolerance=1e-2)
        set_up(workload, 3)
        loss = [workload.step(index) for index in range(3)][-1]
        verdict = workload.check(loss, workload.reference(2))
        assert verdict.is_correct, verdict


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
    workload = OptimizedTraining(RnntTask(test_rnnt.TINY, max_seconds=0.4), FastRnnt, 1e-2)
    set_up(workload, 3)
    loss = [workload.step(index) for index in range(3)][-1]
    verdict = workload.check(loss, workload.reference(2))
    assert verdict.is_correct, verdict


def test_weights_count_as_they_are_stored() -> None:
    """In 8 bits a quarter, but for biases and scales; else a row would seem four times as near to memory's limit."""
    config = replace(DLRM, bottom=(256, 256, 64), top=(256, 256, 1))
    task = dlrm.StoredDlrmTask(config)
    plain = OotbInference(task)
    fp32, int8 = (
        OptimizedInference(task, partial(dlrm.optimize, bits=32, is_int8=is_int8), 0.3) for is_int8 in (False, True)
    )
    for workload in (plain, fp32, int8):
        set_up(workload, batch_size=6)
    weights = weight_bytes(plain.model)
    # Outputs are padded to whole panels, which only the last layer's single one is not.
    assert weights <= plain.work().bytes
    assert fp32.work().bytes == pytest.approx(plain.work().bytes, rel=0.05)
    assert 0.25 * weights < weights - (plain.work().bytes - int8.work().bytes) < 0.35 * weights
    assert int8.work().examples == plain.work().examples


@pytest.mark.parametrize(("bits", "row_bytes"), [(32, 32 * 4), (8, 32 + 8), (4, 16 + 4)])
def test_rows_of_tables_count_as_they_are_stored(bits: Bits, row_bytes: int) -> None:
    task = dlrm.StoredDlrmTask(replace(DLRM, is_fixed=True), bits=bits)
    workload = OptimizedInference(task, partial(dlrm.optimize, bits=bits, is_int8=False), 0.3)
    set_up(workload, batch_size=6)
    assert isinstance(workload.run, dlrm.FastDlrm)
    assert workload.run.tables.stored.nbytes == 3 * 100 * row_bytes
    batch = workload.batch(0)
    assert task.embedding_bytes(batch, 4) == 3 * 6 * 5 * row_bytes


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


@pytest.mark.parametrize("name", ["regnet", "resnext3d"])
def test_convolutions_count_their_weights_as_they_are_stored(name: str) -> None:
    task, module = {"regnet": (REGNET, regnet), "resnext3d": (RESNEXT3D, resnext3d)}[name]
    fp32, int8 = (OptimizedInference(task, optimize, 0.3) for optimize in (module.optimize_fp32, module.optimize_int8))
    for workload in (fp32, int8):
        set_up(workload, batch_size=2)
    assert weight_bytes(int8.run) < weight_bytes(fp32.run)
    assert fp32.work().bytes - int8.work().bytes == weight_bytes(fp32.run) - weight_bytes(int8.run)


def _fast(model: nn.Module, _: object) -> nn.Module:
    """Without kernels of our own, which torch cannot count."""
    model.encoder = FastEncoder(model.encoder, is_packing=True)
    return model.eval()


def test_work_on_padding_that_is_not_done_is_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fp32_product, "is_faster", lambda: False)  # torch counts its own products only
    varied = xlmr.PackedXlmrTask(test_xlmr.TINY, 9, test_xlmr.VARIED)
    questions = oscar.PackedOscarTask(test_oscar.TASK.config, test_oscar.TASK.text, test_oscar.TASK.regions)
    cut = replace(questions, is_cut=True)
    with sdpa_kernel(SDPBackend.MATH):
        prove_work(OptimizedInference(varied, _fast, 1e-3), batch_size=4)
        prove_work(OptimizedInference(questions, _fast, 1e-3), batch_size=4)
        prove_work(OptimizedTraining(cut, oscar.optimize_training, 1e-2), batch_size=4)
    for task, plain in ((varied, XLMR_VARIED), (questions, test_oscar.TASK)):
        batch = plain.draw(np.random.default_rng(1), 6)
        assert task.flops(batch).forward < 0.95 * plain.flops(batch).forward


def test_padding_costs_nothing() -> None:
    """The packed encoder hands its layers real tokens alone."""
    seen: list[int] = []
    torch.manual_seed(0)
    model = XLMR_VARIED.build().eval()
    model.encoder = FastEncoder(model.encoder, is_packing=True)
    model.encoder.layers[0].expand.register_forward_hook(lambda *call: seen.append(len(call[1][0])))
    tokens = torch.tensor([[5, 6, 7, 8], [5, 1, 1, 1]])
    with torch.no_grad():
        model(tokens)
    assert seen == [5]


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_compiled_inference_is_right() -> None:
    """As it is on devices that our own kernels are not written for."""
    prove(OptimizedInference(REGNET, lambda model, _: compile_frozen(fold_batch_norms(model)), tolerance=1e-3))


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_compiled_training_is_right() -> None:
    workload = OptimizedTraining(REGNET, regnet.optimize_training, tolerance=1e-2)
    set_up(workload, 4)
    loss = [workload.step(index) for index in range(3)][-1]
    verdict = workload.check(loss, workload.reference(2))
    assert verdict.is_correct, verdict


@pytest.mark.parametrize("optimize", [regnet.optimize_fp32, regnet.optimize_int8])
def test_a_picture_with_nan_is_answered_with_nan_and_no_other(optimize: Optimization) -> None:
    workload = OptimizedInference(REGNET, optimize, 0.3)
    set_up(workload, batch_size=3)
    (pictures,) = workload.batch(0).inputs
    pictures[1, 2, 7, 9] = torch.nan
    assert workload.step(0).isnan().any(1).tolist() == workload.step(0).isnan().all(1).tolist() == [False, True, False]


def test_a_weight_that_is_nan_is_heard_in_eight_bits() -> None:
    def spoil(model: nn.Module, examples: Sequence[Batch]) -> Callable[..., Any]:
        next(module for module in model.modules() if isinstance(module, nn.Conv2d)).weight.data[0, 0, 0, 0] = torch.nan
        return regnet.optimize_int8(model, examples)

    workload = OptimizedInference(REGNET, spoil, 0.3)
    set_up(workload, batch_size=3)
    assert workload.step(0).isnan().all()
