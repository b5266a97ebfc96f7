"""Declarations of OSCAR base: visual questions of at most 128 tokens and 50 regions."""

from __future__ import annotations

from functools import partial

from strobe.bench.spec import Benchmark, Latency

_declare = partial(
    Benchmark,
    model="OSCAR",
    version=1,
    owner="strobe",
    units="ex/s",
    batch_sizes=(4,),
    max_batch=256,
    tier="ci",
)
_package = "strobe.bench.workloads.oscar"
_LATENCY = Latency(limit_ms=1000, percentile=99)
_FUSED = (
    "padding is dropped: tokens and regions of all questions in one row",
    "one product for queries, keys and values",
    "fused attention",
)

BENCHMARKS: tuple[Benchmark, ...] = (
    _declare(
        implementation="OOTB",
        mode="Inference",
        config="base-vqa-fp32",
        workload=f"{_package}.ootb:inference",
        parameters={"config": "base"},
        latency=_LATENCY,
    ),
    _declare(
        implementation="OOTB",
        mode="Training",
        config="base-vqa-fp32",
        workload=f"{_package}.ootb:training",
        parameters={"config": "base"},
        tolerance=1e-2,
    ),
    _declare(
        implementation="Optimized",
        mode="Inference",
        config="base-vqa-fp32",
        workload=f"{_package}.optimized:inference",
        parameters={"config": "base", "precision": "fp32"},
        latency=_LATENCY,
        changes=_FUSED,
    ),
    _declare(
        implementation="Optimized",
        mode="Inference",
        config="base-vqa-int8",
        workload=f"{_package}.optimized:inference",
        parameters={"config": "base", "precision": "int8"},
        latency=_LATENCY,
        tolerance=0.3,
        changes=(*_FUSED, "linear layers in 8 bits, activations scaled as they come"),
    ),
    _declare(
        implementation="Optimized",
        mode="Training",
        config="base-vqa-fp32",
        workload=f"{_package}.optimized:training",
        parameters={"config": "base"},
        tolerance=1e-2,
        changes=("fused attention", "compiled forward and backward", "fused optimizer"),
    ),
)
