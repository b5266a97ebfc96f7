"""Work is counted as it is done: weights and rows as they are stored, and no padding that is left out."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel

from strobe.bench.workloads.dlrm import optimized as dlrm
from strobe.bench.workloads.dlrm.fast_tables import Bits
from strobe.bench.workloads.layers import fp32_product
from strobe.bench.workloads.layers.fast_encoder import FastEncoder
from strobe.bench.workloads.ootb import OotbInference
from strobe.bench.workloads.optimized import OptimizedInference, OptimizedTraining, weight_bytes
from strobe.bench.workloads.oscar import optimized as oscar
from strobe.bench.workloads.regnet import optimized as regnet
from strobe.bench.workloads.resnext3d import optimized as resnext3d
from strobe.bench.workloads.xlmr import optimized as xlmr
from tests.bench.workloads import tiny
from tests.bench.workloads.proof import prove_work, set_up

pytestmark = pytest.mark.frameworks

DLRM = tiny.WIDE_DLRM.config


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
def test_convolutions_count_their_weights_as_they_are_stored(name: str) -> None:
    task, module = {"regnet": (tiny.WIDE_REGNET, regnet), "resnext3d": (tiny.RESNEXT3D, resnext3d)}[name]
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
    varied = xlmr.PackedXlmrTask(tiny.XLMR.config, 9, tiny.XLMR_VARIED.percentiles)
    questions = oscar.PackedOscarTask(tiny.OSCAR.config, tiny.OSCAR.text, tiny.OSCAR.regions)
    cut = replace(questions, is_cut=True)
    with sdpa_kernel(SDPBackend.MATH):
        prove_work(OptimizedInference(varied, _fast, 1e-3), batch_size=4)
        prove_work(OptimizedInference(questions, _fast, 1e-3), batch_size=4)
        prove_work(OptimizedTraining(cut, oscar.optimize_training, 1e-2), batch_size=4)
    for task, plain in ((varied, tiny.XLMR_VARIED), (questions, tiny.OSCAR)):
        batch = plain.draw(np.random.default_rng(1), 6)
        assert task.flops(batch).forward < 0.95 * plain.flops(batch).forward


def test_padding_costs_nothing() -> None:
    """The packed encoder hands its layers real tokens alone."""
    seen: list[int] = []
    torch.manual_seed(0)
    model = tiny.XLMR_VARIED.build().eval()
    model.encoder = FastEncoder(model.encoder, is_packing=True)
    model.encoder.layers[0].expand.register_forward_hook(lambda *call: seen.append(len(call[1][0])))
    tokens = torch.tensor([[5, 6, 7, 8], [5, 1, 1, 1]])
    with torch.no_grad():
        model(tokens)
    assert seen == [5]
