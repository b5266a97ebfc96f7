"""wide: rows of 10,000 keys."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from strobe.bench.load.worker.bench import Bench

NAME = "wide"
METRICS = {
    "cpu": ("s", "less", "Thread CPU per log(), 10,000 keys"),
    "p50": ("s", "less", "Median wall per log(), 10,000 keys"),
    "p99": ("s", "less", "99th percentile wall per log(), 10,000 keys"),
}
OPTIONS: dict[str, float] = {"calls": 20, "keys": 10_000}
NEEDS: tuple[str, ...] = ()


def measure(bench: Bench) -> dict[str, float]:
    return bench.log_cost(bench.option("keys"), calls=bench.option("calls"), block=1)
