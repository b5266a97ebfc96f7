"""Declarations of ResNeXt3D-101: 16 frames of 112 x 112, and for small machines 4 of 56 x 56.

There are none in 8 bits: through 101 layers of random weights, static quantisation alone errs by two thirds of the
spread between clips, twice what is tolerated.
"""

from __future__ import annotations

from functools import partial

from strobe.bench.spec import Benchmark
from strobe.bench.workloads.family import Family

_family = Family(
    model="ResNeXt3D",
    package="strobe.bench.workloads.resnext3d",
    training=("channels last", "compiled forward and backward", "fused optimizer"),
)
_sizes = partial(
    _family.sizes,
    max_batch=64,
    fp32=("batch norms folded into convolutions", "channels last", "compiled for one shape, with weights frozen"),
)

BENCHMARKS: tuple[Benchmark, ...] = (
    *_sizes("101-32x4d-16x112", {"config": "101-32x4d"}, tier="full", batch_sizes=(4,)),
    *_family.precisions("101-32x4d-16x112", {"config": "101-32x4d"}, batch_size=4, max_batch=64),
    *_sizes("101-32x8d-16x112", {"config": "101-32x8d"}, tier="full", batch_sizes=(4,)),
    *_sizes("101-32x4d-4x56", {"config": "101-32x4d", "frames": 4, "image_size": 56}, tier="ci", batch_sizes=(2,)),
)
