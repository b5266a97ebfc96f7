"""Declarations of ResNeXt3D-101: 16 frames of 112 x 112, and for small machines 4 of 56 x 56.

There are none in 8 bits: through 101 layers of random weights, static quantisation alone errs by two thirds of the
spread between clips, twice what is tolerated.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from strobe.bench.spec import Benchmark, Latency, Tier

_declare = partial(Benchmark, model="ResNeXt3D", version=1, owner="strobe", units="ex/s")
_package = "strobe.bench.workloads.resnext3d"
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
                "channels last",
                "compiled for one shape, with weights frozen",
            ),
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
    *_size("101-32x4d-16x112", {"config": "101-32x4d"}, "full", (4,), 64),
    *_size("101-32x8d-16x112", {"config": "101-32x8d"}, "full", (4,), 64),
    *_size("101-32x4d-4x56", {"config": "101-32x4d", "frames": 4, "image_size": 56}, "ci", (2,), 64),
)
