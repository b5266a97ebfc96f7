"""Points for tests: small ones drawn by hypothesis, long ones from a seed; and what brute force says of them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from hypothesis import strategies as st

from strobe.store.series import Buckets, Points

I64 = st.integers(-(2**63), 2**63 - 1)
RANK = np.array([2, 0, 1])  # of three writers; their names do not sort by index


def long_points(seed: int, count: int, *, gaps: bool = False, odd: float = 0.0, wild_time: bool = False) -> Points:
    """Return ordered points: some steps left out, some values NaN or inf, times that go back and forth, as asked."""
    rng = np.random.default_rng(seed)
    value = rng.normal(size=count)
    strange = rng.random(count) < odd
    value[strange] = rng.choice([np.nan, np.inf, -np.inf], int(strange.sum()))
    time = 1_700_000_000_000_000_000 + np.cumsum(rng.integers(9_000_000, 11_000_000, count))
    if wild_time:
        time += rng.integers(-(10**9), 10**9, count)
        time[rng.random(count) < 0.01] -= 10**12
    return Points.of(
        step=np.cumsum(rng.integers(1, 5, count)) if gaps else np.arange(count),
        value=value,
        time_ns=time,
        writer=rng.integers(0, 3, count),
        sequence=np.arange(count) * 3,
    )


def rows(points: Points) -> list[tuple[Any, ...]]:
    """Return points as tuples that compare by bits, NaN included."""
    return list(zip(*points.ints.tolist(), points.value.view(np.int64).tolist(), strict=True))


def brute_rows(points: Points) -> dict[int, tuple[Any, ...]]:
    """Return the winner of each step, found one by one. Of equals the first stays."""
    best: dict[int, tuple[Any, ...]] = {}
    for row in rows(points):
        step, time, lag, writer, sequence = row[:5]
        place = (time + lag, int(RANK[writer]), sequence)
        if step not in best or place > best[step][0]:
            best[step] = (place, row)
    return {step: row for step, (_, row) in sorted(best.items())}


def brute_bucket(points: Points) -> dict[str, Any]:
    """Return what one bucket over the (ordered) points must hold, by plain Python."""
    steps, values = points.step.tolist(), points.value.tolist()
    finite = [(value, step) for value, step in zip(values, steps, strict=True) if math.isfinite(value)]
    low = min(finite, default=(math.nan, steps[0]))
    high = max(finite, key=lambda pair: (pair[0], -pair[1]), default=(math.nan, steps[0]))
    return {
        "first_step": steps[0],
        "last_step": steps[-1],
        "min_time": min(points.time_ns.tolist()),
        "max_time": max(points.time_ns.tolist()),
        "min_step": low[1],
        "max_step": high[1],
        "count": len(steps),
        "nan": sum(math.isnan(value) for value in values),
        "posinf": values.count(math.inf),
        "neginf": values.count(-math.inf),
        "min": low[0],
        "max": high[0],
        "first": values[0],
        "last": values[-1],
    }


def assert_bucket(buckets: Buckets, index: int, points: Points) -> None:
    """Compare one bucket with brute force over its points."""
    expected = brute_bucket(points)
    got = {name: getattr(buckets, name)[index].item() for name in expected}
    assert all(_same(got[name], expected[name]) for name in expected), (got, expected)
    finite = points.value[np.isfinite(points.value)]
    assert math.isclose(buckets.sum[index], math.fsum(finite), rel_tol=1e-9, abs_tol=1e-9 * np.abs(finite).sum())


def _same(a: float, b: float) -> bool:
    return a == b or (math.isnan(a) and math.isnan(b))
