"""Declarations of the microbenchmarks.

`mlp_A`, `gemm_A`, `emb_A` and `emb_B` are public sets of shapes; the sizes of messages in odd bytes or above 100 MB and
the eleven convolutions of CvT are public, too. Any other name says its own shape. Public sets look rows of a table up
uniformly; `-zipf` asks for few of them often and for most hardly ever.
"""

from __future__ import annotations

from functools import partial

from strobe.bench.spec import Benchmark, Tier
from strobe.bench.workloads.micro.layers import LAYERS

_package = "strobe.bench.workloads.micro"
_declare = partial(Benchmark, implementation="Micro", version=1, owner="strobe")
#: for what is measured in one size and has no examples
_once = partial(_declare, batch_sizes=(1,), max_batch=1)
#: precisions beside fp32, with what they may err by; for accelerators, on most CPUs they are slow
_LOWER = {"tf32": 1e-2, "bf16": 0.1, "fp16": 0.02}

#: version 2: its kernels are compiled without -ffast-math; 3: threads wait for each other once a layer; 4: the kernel
#: is sealed, too, and never torch's in its place; 5: all factors of its innermost loop stay in registers; 6: modules
#: that it shares with the models changed, which compile by four batches and check training; work and inputs did not;
#: 7: its vectors are of 512 bits where the processor has them; 8: the kernel lays weights out; its loop is the same;
#: 9: no rows give no outputs, and what cannot be built or loaded says why; 10: a compiler without OpenMP leaves the row
#: out; the product is the same
_mlp = partial(_declare, model="DLRM", mode="MLP/Linear", units="TF/s", version=10)
_forward = partial(_mlp, workload=f"{_package}.linear:forward", max_batch=4096)
_training = partial(_mlp, workload=f"{_package}.linear:training", max_batch=4096, tolerance=1e-2)
_ALL_MLP_A = (128, 256, 512, 1024, 2048, 4096)
_LINEAR = (
    _forward(
        config="mlp_A-1024-fp32",
        parameters={"width": 1024},
        tier="smoke",
        batch_sizes=(1024, 256, 128, 512, 2048, 4096),
    ),
    _training(
        config="mlp_A-1024-training-fp32",
        parameters={"width": 1024},
        tier="ci",
        batch_sizes=(256, 128, 512, 1024, 2048, 4096),
    ),
    _forward(config="mlp_A-4096-fp32", parameters={"width": 4096}, tier="full", batch_sizes=_ALL_MLP_A),
    _training(config="mlp_A-4096-training-fp32", parameters={"width": 4096}, tier="full", batch_sizes=_ALL_MLP_A),
    *(
        _forward(
            config=f"mlp_A-{width}-{precision}",
            parameters={"width": width, "precision": precision},
            tier="full",
            batch_sizes=_ALL_MLP_A,
            tolerance=tolerance,
        )
        for width in (1024, 4096)
        for precision, tolerance in _LOWER.items()
    ),
)

_gemm = partial(_declare, model="DLRM", mode="GEMM", units="TF/s", workload=f"{_package}.gemm:gemm", max_batch=4096)
_GEMM_A = {
    "gemm_A-Bx1024x1024": ("m", 1024, (128, 256, 512, 1024)),
    "gemm_A-Bx4096x4096": ("m", 4096, (128, 256, 512, 1024)),
    "gemm_A-1024x1024xB": ("k", 1024, (128, 256, 512)),
    "gemm_A-4096x4096xB": ("k", 4096, (128, 256, 512, 1024)),
}
_GEMM = (
    *(
        _gemm(config=f"{name}-fp32", parameters={"width": width, "batch_axis": axis}, tier="full", batch_sizes=batches)
        for name, (axis, width, batches) in _GEMM_A.items()
        if name != "gemm_A-Bx1024x1024"
    ),
    _gemm(
        config="gemm_A-Bx1024x1024-fp32",
        parameters={"width": 1024, "batch_axis": "m"},
        tier="ci",
        batch_sizes=(1024, 256, 128, 512),
    ),
    *(
        _gemm(
            config=f"gemm_A-Bx1024x1024-{precision}",
            parameters={"width": 1024, "batch_axis": "m", "precision": precision},
            tier="ci" if precision == "int8" else "full",
            # Without instructions for it, 1024 rows in 8 bits take seconds a step.
            batch_sizes=(128, 1024) if precision == "int8" else (1024,),
            tolerance=tolerance,
        )
        for precision, tolerance in {**_LOWER, "int8": 1e-6}.items()
    ),
)

_bag = partial(
    _declare,
    version=2,  # since then, steps take turns on so many batches that no cache holds their rows
    model="DLRM",
    mode="EmbeddingBag",
    units="GB/s",
    workload=f"{_package}.embedding_bag:embedding_bag",
    max_batch=65_536,
)
_LOWER_BITS: tuple[tuple[int, Tier], ...] = ((8, "ci"), (4, "full"))
_ALL_EMB_A = tuple(512 << doubling for doubling in range(8))
_EMBEDDING_BAG = (
    *(
        _bag(
            config=f"emb_A-{millions}M",
            parameters={"rows": millions * 1_000_000, "width": 128, "lookups": 30},
            tier="full",
            batch_sizes=_ALL_EMB_A,
        )
        for millions in (14, 26)
    ),
    _bag(
        config="emb_B-4.8M",
        parameters={"rows": 4_800_000, "width": 56, "lookups": 34},
        tier="full",
        batch_sizes=_ALL_EMB_A[2:],
    ),
    _bag(
        config="emb-1M-d128-l30",
        parameters={"rows": 1_000_000, "width": 128, "lookups": 30},
        tier="smoke",
        batch_sizes=(2048,),
    ),
    _bag(
        config="emb-1k-d128-l30",  # in the cache
        parameters={"rows": 1_000, "width": 128, "lookups": 30},
        tier="ci",
        batch_sizes=(2048,),
    ),
    *(
        _bag(
            config=f"emb-1M-d128-l30-int{bits}",
            parameters={"rows": 1_000_000, "width": 128, "lookups": 30, "bits": bits},
            tier=tier,
            batch_sizes=(2048,),
        )
        for bits, tier in _LOWER_BITS
    ),
    _bag(
        config="emb-1M-d128-l30-zipf",
        parameters={"rows": 1_000_000, "width": 128, "lookups": 30, "alpha": 1.05},
        tier="ci",
        batch_sizes=(2048,),
    ),
)

_convs = partial(
    _declare,
    version=2,  # since then, an output that is not a number is wrong in every layer
    model="CvT",
    mode="Convolutions",
    units="TF/s",
    workload=f"{_package}.cvt_convs:cvt_convs",
    batch_sizes=(32,),
    max_batch=256,
)
_CVT_CONVS = (
    _convs(config="cvt_convs-fp32", tier="ci"),
    _convs(config="cvt_convs-training-fp32", parameters={"is_training": True}, tier="ci", tolerance=1e-2),
    *(_convs(config=f"{name}-fp32", parameters={"layers": (name,)}, tier="full") for name in LAYERS),
    *(
        _convs(
            config=f"{name}-training-fp32",
            parameters={"layers": (name,), "is_training": True},
            tier="full",
            tolerance=1e-2,
        )
        for name in LAYERS
    ),
)

_attention = partial(
    _declare, mode="Attention", units="TF/s", workload=f"{_package}.attention:attention", max_batch=256
)
_XLMR_LARGE = {"heads": 16, "queries": 64, "keys": 64, "head_width": 64}
_LONG = {"heads": 12, "queries": 1024, "keys": 1024, "head_width": 64}
#: the first stage of CvT: many queries, a quarter as many keys, one head
_CVT_FIRST = {"heads": 1, "queries": 3136, "keys": 784, "head_width": 64}
_ATTENTION = (
    _attention(model="XLM-R", config="h16-s64-fp32", parameters=_XLMR_LARGE, tier="ci", batch_sizes=(32,)),
    _attention(model="XLM-R", config="h12-s1024-fp32", parameters=_LONG, tier="ci", batch_sizes=(1,)),
    _attention(model="CvT", config="h1-s3136x784-fp32", parameters=_CVT_FIRST, tier="full", batch_sizes=(4,)),
    *(
        _attention(
            model="XLM-R",
            config=f"h12-s1024-{precision}",
            parameters={**_LONG, "precision": precision},
            tier="full",
            batch_sizes=(8,),
            tolerance=tolerance,
        )
        for precision, tolerance in _LOWER.items()
    ),
)

_optimizer = partial(
    _once,
    version=2,  # since then, weights are looked at behind the step, not in its time
    model="Machine",
    mode="Optimizer step",
    units="GB/s",
    workload=f"{_package}.optimizer_step:optimizer_step",
    tolerance=5e-3,
)
#: tensors like those of one layer of XLM-R base, 7.1 M weights
_ENCODER_LAYER = (768 * 768,) * 4 + (768 * 3072,) * 2 + (768,) * 9 + (3072,)
_OPTIMIZER = tuple(
    _optimizer(
        config=f"{rule}-{layers * 7}M",
        parameters={"rule": rule, "sizes": _ENCODER_LAYER * layers},
        tier=tier,
    )
    for rule in ("sgd", "momentum", "adamw")
    for layers, tier in ((4, "ci" if rule == "adamw" else "full"), (12, "full"))
)

_memory = partial(_once, model="Machine", mode="Memory", units="GB/s", workload=f"{_package}.memory:memory")
_MEMORY = tuple(
    _memory(
        config=f"{operation}-{megabytes}MB",
        parameters={"operation": operation, "megabytes": megabytes},
        tier=tier,
    )
    for operation, megabytes, tier in (
        ("copy", 256, "smoke"),
        ("triad", 256, "ci"),
        ("read", 256, "ci"),
        ("copy", 4, "full"),
        ("triad", 4, "full"),
    )
)


def _collective(operation: str, size: str, size_bytes: int, devices: int, tier: Tier) -> Benchmark:
    return _once(
        model="DLRM",
        version=2,  # since then, all_reduce has exactly so many bytes
        mode=operation,
        config=f"{devices}dev-{size}",
        units="GB/s",
        workload=f"{_package}.collectives:collective",
        parameters={"operation": operation, "size_bytes": size_bytes},
        tier=tier,
        devices=devices,
    )


#: messages of two processes that the ci tier sends, too
_CI_MESSAGES = {("all_reduce", "22372B"), ("all_reduce", "4MB"), ("all_to_all", "4MB")}
_COLLECTIVES = tuple(
    _collective(
        operation,
        size,
        size_bytes,
        devices,
        "ci" if devices == 2 and (operation, size) in _CI_MESSAGES else "full",
    )
    for devices in (2, 8)
    for operation, size, size_bytes in (
        ("all_reduce", "2200B", 2_200),
        ("all_reduce", "9944B", 9_944),
        ("all_reduce", "22372B", 22_372),
        ("all_reduce", "4MB", 4_000_000),
        ("all_to_all", "4MB", 4_000_000),
        ("all_to_all", "134MB", 134_000_000),
        ("all_to_all", "244MB", 244_000_000),
        ("all_to_all", "544MB", 544_000_000),
    )
)

BENCHMARKS: tuple[Benchmark, ...] = (
    *_LINEAR,
    *_GEMM,
    *_EMBEDDING_BAG,
    *_CVT_CONVS,
    *_ATTENTION,
    *_OPTIMIZER,
    *_MEMORY,
    *_COLLECTIVES,
)
