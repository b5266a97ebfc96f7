"""Declarations of XLM-R. `fb-1dev-A` is published (large, 64 tokens, 96 sentences, 16 bits); the others are not."""

from __future__ import annotations

from functools import partial

from strobe.bench.spec import Benchmark
from strobe.bench.workloads.family import LATENCY, VERSION, Family

_package = "strobe.bench.workloads.xlmr"
_FUSED = ("one product for queries, keys and values", "fused attention")
_PACKED = "padding is dropped: tokens of all sentences in one row"
_OWN = "linear layers by a kernel of our own, weights laid out beforehand"
_INT8 = "linear layers in 7 bits by a kernel of our own, a scale per column and, as they come, per token"

_family = Family(
    model="XLM-R",
    package=_package,
    training=("fused attention", "gradients for those rows of the vocabulary alone that the batch has"),
)
_sizes = partial(_family.sizes, int8_tolerance=0.1)
_even = partial(_sizes, fp32=(*_FUSED, _OWN), int8=(*_FUSED, _INT8))
_varied = partial(_sizes, fp32=(*_FUSED, _PACKED, _OWN), int8=(*_FUSED, _PACKED, _INT8))

#: what accelerators are made for: name, precision, tolerance
_REDUCED = (
    ("fb-1dev-A", "fp16", 0.02),
    ("large-s64-tf32", "tf32", 0.01),
    ("large-s64-bf16", "bf16", 0.1),
    ("large-s64-fp16", "fp16", 0.02),
)

BENCHMARKS: tuple[Benchmark, ...] = (
    *(
        Benchmark(
            model="XLM-R",
            version=VERSION,
            owner="strobe",
            units="ex/s",
            implementation="Optimized",
            mode="Inference",
            config=config,
            workload="strobe.bench.workloads.reduced:inference",
            parameters={
                "factory": f"{_package}.optimized:inference",
                "config": "large",
                "sequence": 64,
                "precision": precision,
            },
            tier="full",
            batch_sizes=(96,),
            max_batch=96,
            latency=LATENCY,
            tolerance=tolerance,
            changes=(*_FUSED, "on CUDA: compiled by torch"),
        )
        for config, precision, tolerance in _REDUCED
    ),
    Benchmark(
        model="XLM-R",
        version=VERSION,
        owner="strobe",
        units="ex/s",
        implementation="OOTB",
        mode="Inference",
        config="fb-1dev-A",
        workload=f"{_package}.ootb:inference",
        parameters={"config": "large", "sequence": 64, "precision": "fp16"},
        tier="full",
        batch_sizes=(96,),
        max_batch=96,
        latency=LATENCY,
        tolerance=0.02,
    ),
    *_even("large-s64", {"config": "large", "sequence": 64}, tier="full", batch_sizes=(96,), max_batch=96),
    *_family.precisions("large-s64", {"config": "large", "sequence": 64}, batch_size=96, max_batch=96),
    _family.distributed(
        "large-s64", {"config": "large", "sequence": 64}, tier="full", devices=8, batch_size=96, max_batch=96
    ),
    *_even("base-s32", {"config": "base", "sequence": 32}, tier="ci", batch_sizes=(4,), max_batch=64),
    *_varied(
        "base-varied",
        {"config": "base", "sequence": 256, "is_varied": True},
        tier="full",
        batch_sizes=(8,),
        max_batch=64,
    ),
)
