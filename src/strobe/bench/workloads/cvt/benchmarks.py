"""Declarations of CvT on pictures of 224 x 224."""

from __future__ import annotations

from functools import partial

from strobe.bench.spec import Benchmark
from strobe.bench.workloads.family import OWN_PRODUCTS, Family

_family = Family(
    model="CvT",
    package="strobe.bench.workloads.cvt",
    training=("channels last", "fused attention", OWN_PRODUCTS, "on CUDA: compiled by torch", "fused optimizer"),
)
_CUDA = (
    "batch norms folded into convolutions, factors of activations into linear layers",
    "fused attention",
    "on CUDA: compiled by torch",
)
_sizes = partial(
    _family.sizes,
    max_batch=256,
    batch_sizes=(4,),
    fp32=(
        "batch norms folded into convolutions, factors of activations into linear layers",
        "fused attention",
        "on CPUs: linear layers by a kernel of our own, weights laid out beforehand",
        "on CUDA: compiled by torch",
    ),
    int8_tolerance=0.16,  # errs by 0.08 to 0.11
    int8=(
        "batch norms folded into convolutions, factors of activations into linear layers",
        "fused attention",
        "linear layers in 7 bits by a kernel of our own, a scale per column and, as they come, per token",
    ),
)

BENCHMARKS: tuple[Benchmark, ...] = (
    *_sizes("cvt-13-224x224", {"config": "cvt-13"}, tier="ci"),
    *_family.precisions("cvt-13-224x224", {"config": "cvt-13"}, batch_size=32, max_batch=256, changes=_CUDA),
    *_sizes("cvt-21-224x224", {"config": "cvt-21"}, tier="full"),
)
