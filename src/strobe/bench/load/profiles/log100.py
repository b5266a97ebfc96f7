"""log100: what one log() call of 100 scalars costs the caller, without building the row."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from strobe.bench.load.worker.bench import Bench

NAME = "log100"
METRICS = {
    "cpu": ("s", "less", "Thread CPU per log(), 100 scalars"),
    "p50": ("s", "less", "Median wall per log(), 100 scalars"),
    "p99": ("s", "less", "99th percentile wall per log(), 100 scalars"),
}
OPTIONS: dict[str, float] = {"calls": 2000}
NEEDS: tuple[str, ...] = ()


def measure(bench: Bench) -> dict[str, float]:
    return bench.log_cost(100, calls=bench.option("calls"))
