"""A benchmark for tests of what is done with declarations."""

from __future__ import annotations

from typing import Any

from strobe.bench.spec import Benchmark


def declare(workload: str = "nowhere:nothing", **fields: Any) -> Benchmark:
    """Return a benchmark that says the least; fields replace what a test is about."""
    least: dict[str, Any] = {
        "model": "Own",
        "implementation": "OOTB",
        "mode": "Inference",
        "config": "a",
        "version": 1,
        "owner": "me",
        "units": "ex/s",
        "batch_sizes": (1,),
        "max_batch": 8,
        "tier": "smoke",
    }
    return Benchmark(workload=workload, **{**least, **fields})
