"""Optimized in fewer bits: right within the precision's tolerance, with the weights that were asked for."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest
import torch

from strobe.bench import registry
from strobe.bench.spec import Benchmark, load_workload
from strobe.bench.workloads import optimized
from strobe.bench.workloads.cvt.optimized import optimize_training as train_cvt
from strobe.bench.workloads.dlrm.optimized import StoredDlrmTask
from strobe.bench.workloads.dlrm.optimized import optimize as optimize_dlrm
from strobe.bench.workloads.layers.widened import Widened
from strobe.bench.workloads.optimized import OptimizedInference, OptimizedTraining, weight_bytes
from strobe.bench.workloads.oscar.optimized import optimize_training as train_oscar
from strobe.bench.workloads.precision import Precision
from strobe.bench.workloads.reduced import inference
from strobe.bench.workloads.resnext3d.optimized import optimize_training as train_resnext3d
from strobe.bench.workloads.xlmr.model import CONFIGS
from strobe.bench.workloads.xlmr.optimized import optimize_training as train_xlmr
from tests.bench.workloads import tiny
from tests.bench.workloads.optimizations import EXACT

pytestmark = pytest.mark.frameworks


@pytest.fixture(autouse=True)
def emulated(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on processors without instructions for 16 bits."""
    monkeypatch.setattr(optimized, "is_emulated", lambda dtype: True)


FEWER_BITS: list[tuple[Precision, float]] = [("bf16", 0.1), ("fp16", 0.02)]


def _prove(workload: OptimizedInference) -> None:
    workload.setup(4, seed=3, device="cpu", threads=1)
    rounded = next(workload.model.parameters()).dtype
    stored = weight_bytes(workload.model)
    workload.compile()
    assert rounded.itemsize == 2
    assert isinstance(workload.run, Widened)
    # Of weights that are in 32 bits now, twice as much is read.
    assert weight_bytes(workload.run) > 1.5 * stored
    output = workload.step(2)
    verdict = workload.check(output, workload.reference(2))
    assert verdict.is_correct, verdict
    assert verdict.error > 1e-6  # weights and inputs are rounded
    assert not workload.check(output * 1.5, workload.reference(2)).is_correct


@pytest.mark.parametrize(("precision", "tolerance"), FEWER_BITS)
@pytest.mark.parametrize("name", ["regnet", "resnext3d", "cvt", "xlmr", "xlmr, varied", "oscar"])
def test_the_answer_is_right_in_fewer_bits(name: str, precision: Precision, tolerance: float) -> None:
    task, optimize = EXACT[name]
    workload = OptimizedInference(task, optimize, tolerance)
    workload.precision = precision
    _prove(workload)


def test_dlrm_in_sixteen_bits_is_right() -> None:
    task = StoredDlrmTask(replace(tiny.WIDE_DLRM.config, mlp_bits=16, embedding_bits=4, pooling="fixed"), bits=4)
    _prove(OptimizedInference(task, partial(optimize_dlrm, bits=4, is_int8=False), tolerance=0.02))


@pytest.mark.parametrize("name", ["cvt", "xlmr", "xlmr, varied", "oscar"])
def test_what_multiplies_sixteen_bits_fast_does_so(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(optimized, "is_emulated", lambda dtype: False)
    task, optimize = EXACT[name]
    workload = OptimizedInference(task, optimize, tolerance=0.1)
    workload.precision = "bf16"
    workload.setup(4, seed=3, device="cpu", threads=1)
    workload.compile()
    output = workload.step(2)
    assert output.dtype == torch.bfloat16
    verdict = workload.check(output, workload.reference(2))
    assert verdict.is_correct, verdict


@pytest.mark.parametrize(("precision", "tolerance"), FEWER_BITS)
def test_a_factory_is_asked_for_fewer_bits(
    precision: Precision, tolerance: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(CONFIGS, "small", tiny.XLMR_VARIED.config)
    module = "strobe.bench.workloads.xlmr.optimized"
    _prove(inference(f"{module}:inference", precision, tolerance, config="small", sequence=16))


@pytest.mark.parametrize("is_slow", [True, False], ids=["emulated", "fast"])
def test_training_is_right_and_keeps_weights_in_thirty_two_bits(is_slow: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(optimized, "is_emulated", lambda dtype: is_slow)
    for task, optimize in (
        (tiny.XLMR_VARIED, train_xlmr),
        (tiny.OSCAR, train_oscar),
        (tiny.CVT, train_cvt),
        (tiny.RESNEXT3D, train_resnext3d),
    ):
        workload = OptimizedTraining(task, optimize, tolerance=0.1)
        workload.precision = "bf16"
        workload.setup(3, seed=3, device="cpu", threads=1)
        workload.compile()
        loss = [workload.step(index) for index in range(3)][-1]
        assert {parameter.dtype for parameter in workload.model.parameters()} == {torch.float32}
        verdict = workload.check(loss, workload.reference(2))
        assert verdict.is_correct, verdict


def _in_fewer_bits() -> list[Benchmark]:
    found = registry.find(["*/optimized/*"])
    is_fewer = ("-tf32", "-bf16", "-fp16", "fb-1dev-A")
    return [one for one in found if one.config.endswith(is_fewer)]


@pytest.mark.parametrize("fast", _in_fewer_bits(), ids=lambda one: one.key)
def test_rows_do_what_the_ootb_row_does(fast: Benchmark) -> None:
    plain = registry.find_one(fast.key.replace("/optimized/", "/ootb/"))
    assert (plain.batch_sizes, plain.max_batch, plain.units, plain.tier, plain.latency, plain.tolerance) == (
        *(fast.batch_sizes, fast.max_batch, fast.units, fast.tier, fast.latency, fast.tolerance),
    )
    both = [load_workload(one) for one in (plain, fast)]
    assert both[0].precision == both[1].precision  # type: ignore[attr-defined]  # both are of torch
    assert both[0].task.dtype == both[1].task.dtype  # type: ignore[attr-defined]  # DLRM's are of its configuration


def test_every_model_but_rnnt_has_rows_in_fewer_bits() -> None:
    assert {one.model for one in _in_fewer_bits()} == {"DLRM", "XLM-R", "CvT", "OSCAR", "ResNeXt3D", "RegNetY"}
