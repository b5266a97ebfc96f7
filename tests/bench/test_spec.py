"""What a declaration must not say: it is refused where it is written, not when all has been measured."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from strobe.bench.spec import Benchmark, Latency
from strobe.errors import Error

BENCHMARK = Benchmark(
    model="Own",
    implementation="Micro",
    mode="Test",
    config="one",
    version=1,
    owner="me",
    units="ex/s",
    batch_sizes=(1,),
    max_batch=1,
    tier="smoke",
    workload="mine.py:One",
)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"units": "samples/s"}, "own/micro/test/one: units must be one of ex/s, TF/s, GB/s, got 'samples/s'"),
        ({"tolerance": math.inf}, "own/micro/test/one: the tolerance must be a finite number, 0 or more, got inf"),
        ({"tolerance": -0.1}, "own/micro/test/one: the tolerance must be a finite number, 0 or more, got -0.1"),
    ],
)
def test_a_benchmark_that_could_not_be_reported_is_refused(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(Error) as raised:
        replace(BENCHMARK, **fields)
    assert str(raised.value) == message


@pytest.mark.parametrize(("limit_ms", "percentile"), [(50, 100), (50, 0), (0, 99), (math.inf, 99), (math.nan, 99)])
def test_a_latency_limit_that_cannot_be_judged_is_refused(limit_ms: float, percentile: float) -> None:
    with pytest.raises(Error, match="latency"):
        Latency(limit_ms, percentile)
