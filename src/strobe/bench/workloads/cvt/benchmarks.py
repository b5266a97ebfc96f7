"""Declarations of CvT on pictures of 224 x 224."""

from __future__ import annotations

from functools import partial
from typing import Any

from strobe.bench.spec import Benchmark, Latency, Tier

_declare = partial(Benchmark, model="CvT", version=1, owner="strobe", units="ex/s")
_package = "strobe.bench.workloads.cvt"
_LATENCY = Latency(limit_ms=1000, percentile=99)


def _size(
    name: str, parameters: dict[str, Any], tier: Tier, batch_sizes: tuple[int, ...], max_batch: int
) -> tuple[Benchmark, ...]:
    """Declare a size out of the box and optimized, inference and training."""
    declare = partial(_declare, tier=tier, batch_sizes=batch_sizes, max_batch=max_batch)
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
        declare(
            implementation="Optimized",
            mode="Inference",
            config=f"{name}-fp32",
            workload=f"{_package}.optimized:inference",
            parameters={**parameters, "precision": "fp32"},
            latency=_LATENCY,
            changes=(
                "batch norms folded into convolutions",
                "fused attention",
                "compiled for one shape, with weights frozen",
            ),
        ),
        declare(
            implementation="Optimized",
            mode="Inference",
            config=f"{name}-int8",
            workload=f"{_package}.optimized:inference",
            parameters={**parameters, "precision": "int8"},
            latency=_LATENCY,
            tolerance=0.3,
            changes=("batch norms folded into convolutions", "fused attention", "linear layers in 8 bits"),
        ),
        declare(
            implementation="Optimized",
            mode="Training",
            config=f"{name}-fp32",
            workload=f"{_package}.optimized:training",
            parameters=parameters,
            tolerance=1e-2,
            changes=("channels last", "compiled forward and backward", "fused optimizer"),
        ),
    )


BENCHMARKS: tuple[Benchmark, ...] = (
    *_size("cvt-13-224x224", {"config": "cvt-13"}, "ci", (4,), 256),
    *_size("cvt-21-224x224", {"config": "cvt-21"}, "full", (4,), 256),
)
