"""Optimized in fewer bits: right within the precision's tolerance, in the type that was asked for."""

from __future__ import annotations

import pytest
import torch

from strobe.bench import registry
from strobe.bench.spec import load_workload
from strobe.bench.workloads.precision import Precision
from strobe.bench.workloads.reduced import inference
from strobe.bench.workloads.xlmr.model import CONFIGS
from tests.bench.workloads import test_optimized as tiny

pytestmark = pytest.mark.frameworks


@pytest.mark.parametrize(("precision", "tolerance"), [("bf16", 0.1), ("fp16", 0.02)])
def test_the_answer_is_right_in_fewer_bits(
    precision: Precision, tolerance: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(CONFIGS, "small", tiny.XLMR_VARIED.config)
    workload = inference(
        "strobe.bench.workloads.xlmr.optimized:inference", precision, tolerance, config="small", sequence=16
    )
    workload.setup(4, seed=3, device="cpu", threads=1)
    workload.compile()
    output = workload.step(2)
    assert output.dtype == {"bf16": torch.bfloat16, "fp16": torch.float16}[precision]
    assert workload.check(output, workload.reference(2)).is_correct
    assert not workload.check(output * 1.5, workload.reference(2)).is_correct
    assert workload.work().bytes > 0


@pytest.mark.parametrize("config", ["fb-1dev-A", "large-s64-tf32", "large-s64-bf16", "large-s64-fp16"])
def test_rows_do_what_the_ootb_row_does(config: str) -> None:
    plain, fast = (registry.find_one(f"xlm-r/{kind}/inference/{config}") for kind in ("ootb", "optimized"))
    assert (plain.batch_sizes, plain.max_batch, plain.units, plain.tier, plain.latency, plain.tolerance) == (
        *(fast.batch_sizes, fast.max_batch, fast.units, fast.tier, fast.latency, fast.tolerance),
    )
    assert load_workload(plain).precision == load_workload(fast).precision  # type: ignore[attr-defined]  # both are of torch
