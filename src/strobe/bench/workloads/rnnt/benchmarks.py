"""Declarations of RNN-T. The sizes are MLPerf's; names with `-3s` have utterances cut at three seconds."""

from __future__ import annotations

from functools import partial

from strobe.bench.spec import Benchmark, Latency, Tier
from strobe.bench.workloads.changes import KEPT, OWN_PRODUCTS

#: version 2: what balances the weights decodes on any device; 3: training is held to its updates; figures are the same;
#: 4: utterances of unlike length are measured by whole turns; 5: so is decoding, whose time hangs on what is said
_declare = partial(Benchmark, model="RNN-T", version=5, owner="strobe", units="ex/s", max_batch=1024)
_package = "strobe.bench.workloads.rnnt"
_LATENCY = Latency(limit_ms=1000, percentile=99)


def _cut(suffix: str, max_seconds: float, tier: Tier, batch_sizes: tuple[int, ...]) -> tuple[Benchmark, ...]:
    declare = partial(_declare, tier=tier, batch_sizes=batch_sizes)
    training = {"config": "mlperf-training", "max_seconds": max_seconds}
    inference = {"config": "mlperf-inference", "max_seconds": max_seconds}
    return (
        declare(
            implementation="OOTB",
            mode="Training",
            config=f"mlperf-training{suffix}-fp32",
            workload=f"{_package}.ootb:training",
            parameters=training,
            tolerance=1e-2,
        ),
        declare(
            implementation="OOTB",
            mode="Inference",
            config=f"mlperf-inference{suffix}-fp32",
            workload=f"{_package}.ootb:inference",
            parameters=inference,
            latency=_LATENCY,
            tolerance=0.02,
        ),
        declare(
            implementation="Optimized",
            mode="Training",
            config=f"mlperf-training{suffix}-fp32",
            workload=f"{_package}.optimized:training",
            parameters=training,
            tolerance=1e-2,
            changes=(
                "inputs of LSTMs, and gradients of their weights, are one product each over all frames",
                OWN_PRODUCTS,
                "fused optimizer",
                KEPT,
            ),
        ),
        declare(
            implementation="Optimized",
            mode="Inference",
            config=f"mlperf-inference{suffix}-fp32",
            workload=f"{_package}.optimized:inference",
            parameters=inference,
            latency=_LATENCY,
            tolerance=0.02,
            changes=(
                "the batch is decoded together",
                "one product looks at the next frames of all examples and skips their blanks",
                "the predictor runs only after an emission",
                "the joint network's part of the sound is computed for all frames at once",
                KEPT,
            ),
        ),
    )


BENCHMARKS: tuple[Benchmark, ...] = (
    *_cut("", 16.7, "full", (16,)),
    *_cut("-3s", 3.0, "ci", (4,)),
)
