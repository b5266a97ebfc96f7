"""Declarations of XLM-R. `fb-1dev-A` is published (large, 64 tokens, 96 sentences, 16 bits); the others are not."""

from __future__ import annotations

from functools import partial

from strobe.bench.spec import Benchmark
from strobe.bench.workloads.changes import COMPILED, INT8_LINEAR, KEPT, OWN_LINEAR, OWN_PRODUCTS, WIDENED
from strobe.bench.workloads.family import LATENCY, VERSION, Family

_package = "strobe.bench.workloads.xlmr"
_FUSED = ("one product for queries, keys and values", "fused attention")
_PACKED = "padding is dropped: tokens of all sentences in one row"

_family = Family(
    model="XLM-R",
    package=_package,
    training=("fused attention", "gradients for those rows of the vocabulary alone that the batch has", OWN_PRODUCTS),
)
_sizes = partial(_family.sizes, int8_tolerance=0.1)
_even = partial(_sizes, fp32=(*_FUSED, OWN_LINEAR, COMPILED), int8=(*_FUSED, INT8_LINEAR))
_varied = partial(_sizes, fp32=(*_FUSED, _PACKED, OWN_LINEAR), int8=(*_FUSED, _PACKED, INT8_LINEAR))

_CUDA = (*_FUSED, COMPILED)
#: fb-1dev-A, whichever way it is done
_published = partial(
    Benchmark,
    model="XLM-R",
    version=VERSION,
    owner="strobe",
    units="ex/s",
    mode="Inference",
    config="fb-1dev-A",
    tier="full",
    batch_sizes=(96,),
    max_batch=96,
    latency=LATENCY,
    tolerance=0.02,
)
_LARGE = {"config": "large", "sequence": 64}
_IN_FP16 = {**_LARGE, "precision": "fp16"}

BENCHMARKS: tuple[Benchmark, ...] = (
    _published(implementation="OOTB", workload=f"{_package}.ootb:inference", parameters=_IN_FP16),
    _published(
        implementation="Optimized",
        workload="strobe.bench.workloads.reduced:inference",
        parameters={"factory": f"{_package}.optimized:inference", **_IN_FP16},
        changes=(*_CUDA, WIDENED, KEPT),
    ),
    *_even("large-s64", _LARGE, tier="full", batch_sizes=(96,), max_batch=96),
    *_family.precisions("large-s64", _LARGE, batch_size=96, max_batch=96, changes=_CUDA),
    _family.distributed("large-s64", _LARGE, tier="full", devices=8, batch_size=96, max_batch=96),
    *_even("base-s32", {"config": "base", "sequence": 32}, tier="ci", batch_sizes=(4,), max_batch=64),
    *_varied(
        "base-varied",
        {"config": "base", "sequence": 256, "is_varied": True},
        tier="full",
        batch_sizes=(8,),
        max_batch=64,
    ),
)
