"""benchmarks/bench_timer.py: both ways measure the same steps, and a difference is called one."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

pytest.importorskip("torch")

from strobe.bench import registry

pytestmark = pytest.mark.frameworks


@pytest.fixture(scope="module")
def script() -> ModuleType:
    path = Path(__file__).parents[2] / "benchmarks" / "bench_timer.py"
    spec = importlib.util.spec_from_file_location("bench_timer", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where dataclasses look for it
    spec.loader.exec_module(module)
    return module


def test_a_row_of_each_model_is_measured(script: ModuleType) -> None:
    found = [registry.find_one(key) for key in script.ROWS]
    assert len({one.model for one in found}) == 7
    assert {(one.implementation, one.mode) for one in found} == {("OOTB", "Inference")}


@pytest.mark.parametrize(("factor", "is_agreed"), [(1.0, True), (1.03, False), (0.97, False)])
def test_a_difference_of_three_percent_is_one(script: ModuleType, factor: float, is_agreed: bool) -> None:
    theirs = [1.0, 1.01, 0.99, 1.02, 0.98, 1.0, 1.01, 0.99, 1.0, 1.01]
    ours = [factor * one for one in (1.0, 1.0, 1.0, 1.01, 0.99, 1.01, 1.0, 1.0, 0.99, 1.02)]
    line = script.judge("a/row", ours, theirs, num_rows=7)
    assert line.is_agreed == is_agreed
    assert line.ratio == pytest.approx(factor, abs=0.01)
    assert ("agree" in line.verdict) == is_agreed


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_both_time_the_steps_of_one_row(script: ModuleType) -> None:
    row = registry.find_one("rnn-t/ootb/inference/mlperf-inference-3s-fp32")
    ours, theirs = (take(row, 1, 0.1) for take in (script.time_by_the_runner, script.time_by_torch))
    assert 0.2 < ours / theirs < 5
