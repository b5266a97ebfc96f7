"""benchmarks/bench_profile.py: kernels in C are operators of their own, and shares are those of the steps."""

from __future__ import annotations

import importlib.util
import shutil
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

pytest.importorskip("torch")

import torch

from strobe.bench import registry
from strobe.bench.workloads.layers import native
from strobe.bench.workloads.layers.fp32_linear import PackedLinear

pytestmark = pytest.mark.frameworks


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    path = Path(__file__).parents[2] / "benchmarks" / "bench_profile.py"
    spec = importlib.util.spec_from_file_location("bench_profile", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "_WARM_UP_S", 0.0)
    monkeypatch.setattr(module, "_PROFILED_S", 0.0)
    yield module
    native.load_kernels.cache_clear()  # what was marked is forgotten


@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
def test_kernels_in_c_are_seen(script: ModuleType) -> None:
    script.mark_kernels("fp32_linear.c")
    layer, x = torch.nn.Linear(32, 16), torch.randn(3, 32)
    packed = PackedLinear(layer)
    with torch.no_grad(), script.profile(activities=[script.ProfilerActivity.CPU]) as profiler:
        torch.testing.assert_close(packed(x), layer(x))
    assert "fp32_linear.c fp32_linear" in {event.key for event in profiler.key_averages()}


def test_a_row_is_a_product(script: ModuleType) -> None:
    row = registry.find_one("dlrm/micro/gemm/gemm_A-Bx1024x1024-fp32")
    events, num_steps, took_s = script.profile_row(row, 256, 1)
    assert num_steps == 3
    lines = script.describe(events, num_steps, took_s, top=2).splitlines()
    assert "aten::mm" in lines[2]
    assert lines[2].split("|")[4].strip() == "1"
    assert [line.split("|")[1].strip() for line in lines[-2:]] == ["all other operators", "between operators"]
