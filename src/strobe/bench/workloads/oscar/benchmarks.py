"""Declarations of OSCAR base: visual questions of at most 128 tokens and 50 regions."""

from __future__ import annotations

from strobe.bench.spec import Benchmark
from strobe.bench.workloads.changes import INT8_LINEAR, OWN_LINEAR, OWN_PRODUCTS
from strobe.bench.workloads.family import Family

_FUSED = (
    "padding is dropped: tokens and regions of all questions in one row",
    "one product for queries, keys and values",
    "fused attention",
)
_family = Family(
    model="OSCAR",
    package="strobe.bench.workloads.oscar",
    training=("padding is dropped", "fused attention", OWN_PRODUCTS, "fused optimizer"),
)

BENCHMARKS: tuple[Benchmark, ...] = (
    *_family.sizes(
        "base-vqa",
        {"config": "base"},
        tier="ci",
        batch_sizes=(4,),
        max_batch=256,
        fp32=(*_FUSED, OWN_LINEAR),
        int8_tolerance=0.16,  # errs by 0.10 to 0.11
        int8=(*_FUSED, INT8_LINEAR),
    ),
    *_family.precisions("base-vqa", {"config": "base"}, batch_size=64, max_batch=256, changes=_FUSED),
)
