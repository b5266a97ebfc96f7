"""What a declaration must not say: it is refused where it is written, not when all has been measured."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import pytest

from strobe.bench.spec import Latency, load_workload
from strobe.errors import Error
from tests.bench.declared import declare


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"implementation": "ootb"}, "implementation must be one of OOTB, Optimized, Micro, got 'ootb'"),
        ({"units": "samples/s"}, "units must be one of ex/s, TF/s, GB/s, got 'samples/s'"),
        ({"tier": "nightly"}, "tier must be one of smoke, ci, full, got 'nightly'"),
        ({"version": 0}, "version must be 1 or more, got 0"),
        ({"devices": 0}, "devices must be 1 or more, got 0"),
        ({"batch_sizes": ()}, "batch_sizes must be numbers from 1 to max_batch, 8, got ()"),
        ({"batch_sizes": (9,)}, "batch_sizes must be numbers from 1 to max_batch, 8, got (9,)"),
        ({"tolerance": math.inf}, "the tolerance must be a finite number, 0 or more, got inf"),
        ({"tolerance": -0.1}, "the tolerance must be a finite number, 0 or more, got -0.1"),
    ],
)
def test_a_benchmark_that_could_not_be_measured_or_reported_is_refused(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(Error, match=f"^own/ootb/inference/a: {re.escape(message)}$"):
        declare(**fields)


def test_an_optimized_benchmark_must_tell_its_changes() -> None:
    with pytest.raises(Error, match="lists its changes"):
        declare(implementation="Optimized")


def test_a_workload_that_is_not_there_is_told() -> None:
    with pytest.raises(Error, match="my-model/ootb/inference/a: no workload 'nowhere:nothing'"):
        load_workload(declare(model="My Model"))


@pytest.mark.parametrize(("missing", "is_torch"), [("torch", True), ("torch.fx", True), ("torchvision", False)])
def test_only_who_lacks_torch_is_told_to_install_it(
    missing: str, is_torch: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "needy.py").write_text(f"raise ModuleNotFoundError('No module named', name={missing!r})\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(Error, match="no workload 'needy:make'") as told:
        load_workload(declare(workload="needy:make"))
    assert ("pip install" in str(told.value)) == is_torch


def test_a_factory_that_is_not_there_has_nothing_to_do_with_torch() -> None:
    with pytest.raises(Error, match="no workload 'math:torch'") as told:
        load_workload(declare(workload="math:torch"))
    assert "pip install" not in str(told.value)


@pytest.mark.parametrize(("limit_ms", "percentile"), [(50, 100), (50, 0), (0, 99), (math.inf, 99), (math.nan, 99)])
def test_a_latency_limit_that_cannot_be_judged_is_refused(limit_ms: float, percentile: float) -> None:
    with pytest.raises(Error, match="latency"):
        Latency(limit_ms, percentile)
