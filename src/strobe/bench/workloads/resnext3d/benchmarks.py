"""Declarations of ResNeXt3D-101: 16 frames of 112 x 112, and for small machines 4 of 56 x 56."""

from __future__ import annotations

from functools import partial

from strobe.bench.spec import Benchmark
from strobe.bench.workloads.changes import COMPILED, CONVOLUTIONS, CONVOLUTIONS_IN_16_BITS, int8_convolutions
from strobe.bench.workloads.family import Family

_family = Family(
    model="ResNeXt3D",
    package="strobe.bench.workloads.resnext3d",
    training=(
        "channels last",
        "on CPUs: 1x1 convolutions are products of matrices, by a kernel of our own where it is faster than torch's",
        "on CPUs: norm, sum and ReLU are one kernel of our own, forward and backward",
        COMPILED,
        "fused optimizer",
    ),
)
_sizes = partial(
    _family.sizes,
    max_batch=64,
    # Small clips err by 0.12 to 0.15 with the weights of seeds 0 and 1. Those of seeds 2 and 3 err by 0.24 to 0.28: so
    # does, with the default seed, a network that lacks a block, which must not pass.
    int8_tolerance=0.22,
    fp32=CONVOLUTIONS,
    int8=int8_convolutions("convolutions"),
)

BENCHMARKS: tuple[Benchmark, ...] = (
    *_sizes("101-32x4d-16x112", {"config": "101-32x4d"}, tier="full", batch_sizes=(4,)),
    *_family.precisions(
        "101-32x4d-16x112", {"config": "101-32x4d"}, batch_size=4, max_batch=64, changes=CONVOLUTIONS_IN_16_BITS
    ),
    *_sizes("101-32x8d-16x112", {"config": "101-32x8d"}, tier="full", batch_sizes=(4,)),
    *_sizes(
        "101-32x4d-4x56",
        {"config": "101-32x4d", "frames": 4, "image_size": 56},
        tier="ci",
        batch_sizes=(2,),
        # Norms over two clips, and losses that first rise: 32 bits err by 0.002 (plain loops) to 0.016 (oneDNN) here.
        training_tolerance=0.05,
        training_version=4,
    ),
)
