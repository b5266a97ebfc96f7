"""Declared benchmarks are well-formed, published names are there, and declaring needs no framework."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from fnmatch import fnmatch
from importlib.util import find_spec

import pytest

from strobe.bench.spec import Benchmark, load_workload
from strobe.bench.workloads.declared import BENCHMARKS


def test_keys_are_unique() -> None:
    assert [key for key, count in Counter(benchmark.key for benchmark in BENCHMARKS).items() if count > 1] == []


@pytest.mark.parametrize(
    "key",
    [
        "dlrm/ootb/training/A.1dev-embed32-fp32",
        "dlrm/ootb/inference/A.1dev-embed4-fp32",
        "dlrm/ootb/inference/A.1dev-embed4-fp16",
        "dlrm/ootb/training/tiny",
        "xlm-r/ootb/inference/fb-1dev-A",
        "dlrm/ootb/training/A.8dev-embed32-fp32",
        "regnety/ootb/training/400MF.2dev-fp32",
        "cvt/ootb/training/cvt-13-224x224-bf16",
        "dlrm/micro/mlp-linear/mlp_A-1024-fp32",
        "dlrm/micro/mlp-linear/mlp_A-4096-training-fp32",
        "dlrm/micro/gemm/gemm_A-4096x4096xB-fp32",
        "dlrm/micro/embeddingbag/emb_A-14M",
        "dlrm/micro/embeddingbag/emb_A-26M",
        "dlrm/micro/embeddingbag/emb_B-4.8M",
        "dlrm/micro/all_reduce/2dev-22372B",
        "dlrm/micro/all_to_all/2dev-134MB",
        "cvt/micro/convolutions/stage2.patch_embed-training-fp32",
    ],
)
def test_published_configurations_are_there(key: str) -> None:
    assert key in {benchmark.key for benchmark in BENCHMARKS}


def _batch_sizes(pattern: str) -> dict[str, list[int]]:
    found = (benchmark for benchmark in BENCHMARKS if fnmatch(benchmark.config, pattern))
    return {benchmark.config: sorted(benchmark.batch_sizes) for benchmark in found}


def test_published_sets_are_whole() -> None:
    linear = _batch_sizes("mlp_A-*")
    assert len(linear) == 10
    assert all(sizes == [128, 256, 512, 1024, 2048, 4096] for sizes in linear.values())
    # 1024 x 1024 x 1024 is one shape, whichever axis is the batch.
    assert _batch_sizes("gemm_A-*-fp32") == {
        "gemm_A-Bx1024x1024-fp32": [128, 256, 512, 1024],
        "gemm_A-Bx4096x4096-fp32": [128, 256, 512, 1024],
        "gemm_A-1024x1024xB-fp32": [128, 256, 512],
        "gemm_A-4096x4096xB-fp32": [128, 256, 512, 1024],
    }


def test_the_ci_tier_has_every_model_in_every_implementation_and_mode() -> None:
    covered = {(b.model, b.implementation, b.mode) for b in BENCHMARKS if b.tier != "full"}
    micros = {mode for _, implementation, mode in covered if implementation == "Micro"}
    assert micros == {
        "MLP/Linear",
        "GEMM",
        "EmbeddingBag",
        "Convolutions",
        "Attention",
        "Optimizer step",
        "Memory",
        "all_reduce",
        "all_to_all",
    }
    covered = {row for row in covered if row[1] != "Micro"}
    models = {"DLRM", "XLM-R", "CvT", "OSCAR", "RNN-T", "ResNeXt3D", "RegNetY"}
    assert {model for model, *_ in covered} == models
    for model in models:
        for implementation in ("OOTB", "Optimized"):
            assert {(model, implementation, "Training"), (model, implementation, "Inference")} <= covered


def test_published_configurations_look_rows_up_uniformly_and_own_ones_have_a_realistic_variant() -> None:
    skewed = {one.key: one for one in BENCHMARKS if one.parameters.get("alpha")}
    assert all("-zipf" in key for key in skewed)
    assert all(one.parameters["alpha"] == 1.05 for one in skewed.values())
    assert {
        "dlrm/ootb/inference/tiny-100k-zipf",
        "dlrm/ootb/training/tiny-100k-zipf",
        "dlrm/optimized/inference/tiny-100k-zipf-embed8-int8",
        "dlrm/optimized/training/tiny-100k-zipf",
        "dlrm/micro/embeddingbag/emb-1M-d128-l30-zipf",
    } <= set(skewed)
    in_ci = [key for key, one in skewed.items() if one.tier == "ci"]
    assert in_ci == ["dlrm/ootb/inference/tiny-100k-zipf", "dlrm/micro/embeddingbag/emb-1M-d128-l30-zipf"]


def test_the_ci_tier_does_not_grow() -> None:
    """It has twenty minutes on two cores; a row that comes in takes the place of another."""
    assert sum(one.tier != "full" for one in BENCHMARKS) <= 56


@pytest.mark.frameworks
@pytest.mark.skipif(find_spec("torch") is None, reason="needs torch")
def test_zipf_asks_for_few_rows_often() -> None:
    import numpy as np

    def share_of_the_hottest(config: str) -> float:
        (one,) = [one for one in BENCHMARKS if one.key == f"dlrm/ootb/inference/{config}"]
        batch = load_workload(one).task.draw(np.random.default_rng(0), 64)  # type: ignore[attr-defined]  # of ours
        rows = batch.inputs[1][0]
        return float(rows.bincount().max() / len(rows))

    assert share_of_the_hottest("tiny-100k") < 0.01
    assert share_of_the_hottest("tiny-100k-zipf") > 0.05


def test_declaring_imports_no_framework() -> None:
    code = "import sys, strobe.bench.workloads.declared; print([m for m in ('torch', 'numpy') if m in sys.modules])"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


@pytest.mark.frameworks
@pytest.mark.skipif(find_spec("torch") is None, reason="needs torch")
@pytest.mark.parametrize("benchmark_", BENCHMARKS, ids=lambda benchmark: benchmark.key)
def test_every_workload_can_be_made(benchmark_: Benchmark) -> None:
    workload = load_workload(benchmark_)
    assert callable(workload.step)
    assert workload.tolerance == benchmark_.tolerance  # type: ignore[attr-defined]  # of ours, not of the protocol
