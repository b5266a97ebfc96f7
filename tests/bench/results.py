"""Records of rows as a session measures them, for tests of what is made of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from strobe.bench.records import Correct, Environment, Latency, LatencyStatus, Record, make_id

HERE = Environment(hardware={"cpu": "here", "cores": "2"}, software={"torch": "2.1"}, git_commit="c0ffee")
ELSEWHERE = Environment(hardware={"cpu": "elsewhere", "cores": "64"}, software={"torch": "2.1"}, git_commit="c0ffee")


def result(samples: Sequence[float], benchmark: str = "toy/ootb/inference/one-fp32", **fields: Any) -> Record:
    """Return a throughput record of version 1 at batch 8, measured here."""
    model, implementation, mode, config = benchmark.split("/", 3)
    subject = {"ootb": "OOTB", "optimized": "Optimized", "micro": "Micro"}[implementation]
    named = {"model": model, "mode": mode, "config": config, "id": make_id()}
    known = {**named, "unit": "ex/s", "better": "more", "version": 1, "batch_size": 8, "environment": HERE}
    return Record(
        benchmark=benchmark, subject=subject, metric="throughput", samples=tuple(samples), **{**known, **fields}
    )


def right() -> Correct:
    return Correct(is_correct=True, error=0.0, max_error=0.0, tolerance=1e-3, reference="OOTB float64")


def wrong(error: float | None = 0.5) -> Correct:
    return Correct(is_correct=False, error=error, max_error=error, tolerance=1e-3, reference="OOTB float64")


def latency(status: LatencyStatus) -> Latency:
    return Latency(
        limit_ms=100, percentile=95, status=status, n=500, num_over=0, p50_ms=5, p90_ms=6, p95_ms=7, p99_ms=8
    )
