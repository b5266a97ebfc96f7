"""Declarations of CvT on pictures of 224 x 224."""

from __future__ import annotations

from functools import partial

from strobe.bench.spec import Benchmark
from strobe.bench.workloads.changes import COMPILED, INT8_LINEAR, OWN_LINEAR, OWN_PRODUCTS
from strobe.bench.workloads.family import Family

_family = Family(
    model="CvT",
    package="strobe.bench.workloads.cvt",
    training=("channels last", "fused attention", OWN_PRODUCTS, COMPILED, "fused optimizer"),
)
_FOLDED = ("batch norms folded into convolutions, factors of activations into linear layers", "fused attention")
_sizes = partial(
    _family.sizes,
    max_batch=256,
    batch_sizes=(4,),
    fp32=(*_FOLDED, OWN_LINEAR, COMPILED),
    int8_tolerance=0.16,  # errs by 0.08 to 0.11
    int8=(*_FOLDED, INT8_LINEAR),
)

BENCHMARKS: tuple[Benchmark, ...] = (
    *_sizes("cvt-13-224x224", {"config": "cvt-13"}, tier="ci"),
    *_family.precisions(
        "cvt-13-224x224", {"config": "cvt-13"}, batch_size=32, max_batch=256, changes=(*_FOLDED, COMPILED)
    ),
    *_sizes("cvt-21-224x224", {"config": "cvt-21"}, tier="full"),
)
