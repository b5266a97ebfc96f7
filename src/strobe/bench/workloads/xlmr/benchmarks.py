"""Declarations of XLM-R. `fb-1dev-A` is published (large, 64 tokens, 96 sentences, 16 bits); the others are not."""

from __future__ import annotations

from functools import partial
from typing import Any

from strobe.bench.spec import Benchmark, Latency, Tier

_declare = partial(Benchmark, model="XLM-R", version=1, owner="strobe", units="ex/s")
_package = "strobe.bench.workloads.xlmr"
_LATENCY = Latency(limit_ms=1000, percentile=99)
_FUSED = ("one product for queries, keys and values", "fused attention")
_COMPILED = "compiled for one shape, with weights frozen"
_PACKED = "padding is dropped: tokens of all sentences in one row"
_INT8 = "linear layers in 8 bits, activations scaled as they come"


def _size(
    name: str, parameters: dict[str, Any], tier: Tier, batch_sizes: tuple[int, ...], max_batch: int
) -> tuple[Benchmark, ...]:
    """Declare a size out of the box and optimized, inference and training."""
    declare = partial(_declare, tier=tier, batch_sizes=batch_sizes, max_batch=max_batch)
    layout = _PACKED if parameters.get("is_varied") else _COMPILED
    quantised = (*_FUSED, _PACKED, _INT8) if parameters.get("is_varied") else (*_FUSED, _INT8)
    inference = partial(
        declare, implementation="Optimized", mode="Inference", workload=f"{_package}.optimized:inference"
    )
    return (
        declare(
            implementation="OOTB",
            mode="Inference",
            config=f"{name}-fp32",
            workload=f"{_package}.ootb:inference",
            parameters=parameters,
            latency=_LATENCY,
        ),
        declare(
            implementation="OOTB",
            mode="Training",
            config=f"{name}-fp32",
            workload=f"{_package}.ootb:training",
            parameters=parameters,
            tolerance=1e-2,
        ),
        inference(
            config=f"{name}-fp32",
            parameters={**parameters, "precision": "fp32"},
            latency=_LATENCY,
            changes=(*_FUSED, layout),
        ),
        inference(
            config=f"{name}-int8",
            parameters={**parameters, "precision": "int8"},
            latency=_LATENCY,
            tolerance=0.1,
            changes=quantised,
        ),
        declare(
            implementation="Optimized",
            mode="Training",
            config=f"{name}-fp32",
            workload=f"{_package}.optimized:training",
            parameters=parameters,
            tolerance=1e-2,
            changes=("fused attention", "compiled forward and backward", "fused optimizer"),
        ),
    )


BENCHMARKS: tuple[Benchmark, ...] = (
    _declare(
        implementation="OOTB",
        mode="Inference",
        config="fb-1dev-A",
        workload=f"{_package}.ootb:inference",
        parameters={"config": "large", "sequence": 64, "dtype": "float16"},
        tier="full",
        batch_sizes=(96,),
        max_batch=96,
        latency=_LATENCY,
        tolerance=0.02,
    ),
    *_size("large-s64", {"config": "large", "sequence": 64}, "full", (96,), 96),
    *_size("base-s32", {"config": "base", "sequence": 32}, "ci", (4,), 64),
    *_size("base-varied", {"config": "base", "sequence": 256, "is_varied": True}, "full", (8,), 64),
)
