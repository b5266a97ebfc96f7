"""Optimizations that keep precision answer exactly as OOTB does, so that a part which is lost is noticed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import pytest
from torch import nn

from strobe.bench.workloads.cvt import optimized as cvt
from strobe.bench.workloads.dlrm import optimized as dlrm
from strobe.bench.workloads.dlrm.ootb import DlrmTask
from strobe.bench.workloads.optimized import OptimizedInference
from strobe.bench.workloads.rnnt.ootb import Decoding
from strobe.bench.workloads.rnnt.optimized import FastDecoding
from strobe.bench.workloads.task import Batch
from tests.bench.workloads import tiny
from tests.bench.workloads.optimizations import EXACT
from tests.bench.workloads.proof import prove_optimized, set_up

pytestmark = pytest.mark.frameworks

DLRM = tiny.WIDE_DLRM.config


@pytest.mark.parametrize("name", EXACT)
def test_optimizations_that_keep_precision_are_exact(name: str) -> None:
    task, optimize = EXACT[name]
    prove_optimized(OptimizedInference(task, optimize, tolerance=1e-4))


@pytest.mark.parametrize("pooling", ["sum", "fixed", "learned"])
def test_dlrm_with_merged_tables_is_exact(pooling: str) -> None:
    config = replace(DLRM, pooling=pooling)  # type: ignore[arg-type]  # parametrised text
    prove_optimized(
        OptimizedInference(tiny.WeighedDlrmTask(config), partial(dlrm.optimize, bits=32, is_int8=False), tolerance=1e-4)
    )


def test_dlrm_with_int4_tables_merged_is_exact() -> None:
    config = replace(DLRM, pooling="fixed", embedding_bits=4)
    prove_optimized(OptimizedInference(DlrmTask(config), partial(dlrm.optimize, bits=4, is_int8=False), tolerance=1e-4))


def test_a_lost_table_is_noticed() -> None:
    def lose(model: nn.Module, examples: object) -> nn.Module:
        nn.init.zeros_(model.tables[0].bag.weight)
        return model

    workload = OptimizedInference(tiny.WIDE_DLRM, lose, tolerance=0.3)
    set_up(workload, batch_size=6)
    verdict = workload.check(workload.step(0), workload.reference(0))
    assert not verdict.is_correct, verdict


@pytest.mark.parametrize("stage", [1, 2])
def test_thirty_two_bits_notice_a_lost_attention_of_cvt(stage: int) -> None:
    def optimize_less(model: nn.Module, examples: Sequence[Batch]) -> Callable[..., object]:
        nn.init.zeros_(model.get_parameter(f"stages.{stage}.blocks.0.attention.output.weight"))
        return cvt.optimize_fp32(model, examples)

    workload = OptimizedInference(tiny.CVT, optimize_less, tolerance=1e-3)
    set_up(workload, batch_size=6)
    verdict = workload.check(workload.step(0), workload.reference(0))
    assert not verdict.is_correct, verdict


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_decoding_together_gives_the_same_text(seed: int) -> None:
    task = replace(tiny.DECODING, max_seconds=2.0)
    fast, plain = FastDecoding(task, 0.0), Decoding(task, 0.0)
    for workload in (fast, plain):
        workload.setup(5, seed=seed, device="cpu", threads=1)
    for index in range(4):
        assert fast.step(index) == plain.step(index)
